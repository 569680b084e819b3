//! Whether the answers to the questions that apply are right (spec 2.4, 2.6, 7.2).

use std::sync::Arc;

use super::answers::{GivenAnswer, Instance};
use super::applicability::{self, Applicability};
use super::fields::DEVICES_QUESTION;
use super::format::excerpt;
use super::question_tree::{Choice, ItemKind, TreeQuestion};
use super::{Context, Expected, Finding, QuestionRules, Report, Rule, Severity, Unchecked};
use crate::model::Day;

/// Question by question, row by row.
pub(super) fn check(questions: &Applicability<'_>, context: &Context, report: &mut Report) {
    if questions.is_too_large {
        report.push(applicability::too_large());
        return;
    }
    report.question_rules = QuestionRules::Checked;
    let tree = questions.tree;
    for finding in &mut report.findings {
        // Question 185 was judged with the fields.
        let id = finding.question.as_ref().map(|question| &question.id);
        if let Some(position) = tree.with(id).first() {
            let question = &tree[*position];
            let text = question.for_finding(question.required_message.as_ref());
            Arc::make_mut(finding).question_text = Some(text.into());
        }
    }
    for instance in &questions.applied {
        check_answers(questions, *instance, context, &mut report.findings);
    }
    let unchecked = tree
        .iter()
        .filter(|(_, question)| !question.unchecked.is_empty());
    for (_, question) in unchecked.filter(|(position, _)| questions.applies_somewhere(*position)) {
        let reasons = question.unchecked.iter().cloned();
        report.unchecked.extend(reasons.map(|reason| Unchecked {
            question: question.id.clone(),
            reason,
        }));
    }
}

/// The answers to one question that applies, in one row.
fn check_answers(
    questions: &Applicability<'_>,
    instance: Instance,
    context: &Context,
    found: &mut Vec<Arc<Finding>>,
) {
    let asked = AskedQuestion {
        question: &questions.tree[instance.question],
        questions,
        instance,
    };
    if !asked.question.takes_answers() {
        return;
    }
    let mut is_answered = false;
    let given = questions.given(instance).iter();
    for given in given.filter(|given| !given.is_empty()) {
        is_answered = true;
        if !is_acceptable(asked.question, given) {
            found.push(asked.not_acceptable(given.text).into());
        }
        found.extend(asked.outside_years(given.text, context.today).map(Arc::new));
    }
    // Question 185 of rangeland goats needs no list of questions, and is reported once.
    let is_reported = || {
        questions.has_rangeland_goats
            && instance.row.is_none()
            && asked.question.id == DEVICES_QUESTION
    };
    if asked.question.required && !is_answered && !is_reported() {
        found.push(asked.missing());
    }
}

/// A choice is one of the acceptable answers; for several choices the whole text, or each part between commas. A question
/// of an unknown type may be a choice of several. assumed
fn is_acceptable(question: &TreeQuestion, given: &GivenAnswer<'_>) -> bool {
    let is_choice = |text: &str| question.choices.iter().any(|choice| choice.value == text);
    match question.kind {
        _ if question.choices.is_empty() => true,
        ItemKind::Choice => is_choice(given.text),
        ItemKind::MultipleChoice | ItemKind::Unknown => {
            is_choice(given.text) || given.chosen(&question.choices).all(is_choice)
        }
        _ => true,
    }
}

/// A question that applies, in one row.
struct AskedQuestion<'a> {
    question: &'a TreeQuestion,
    questions: &'a Applicability<'a>,
    instance: Instance,
}

impl AskedQuestion<'_> {
    fn finding(
        &self,
        severity: Severity,
        rule: Rule,
        message: String,
        error_message: Option<&String>,
    ) -> Finding {
        let question = self.questions.reference(self.instance);
        Finding {
            row_number: self.questions.row_number(self.instance),
            question_text: Some(self.question.for_finding(error_message).into()),
            ..Finding::answer(severity, rule, question, message)
        }
    }

    fn not_acceptable(&self, text: &str) -> Finding {
        let choices = self.question.choices.iter().map(Choice::from);
        let (mut names, values): (Vec<_>, Vec<_>) =
            choices.map(|choice| (choice.name, choice.value)).unzip();
        if names == values {
            names.clear();
        }
        let (shown, all) = (excerpt(text), values.join(", "));
        let message = format!("Answer: {shown} is not valid. Acceptable answers are: {all}");
        self.finding(Severity::Error, Rule::Acceptable, message, None)
            .of_value(text)
            .expecting(Expected::OneOf { values, names })
    }

    fn outside_years(&self, text: &str, today: Day) -> Option<Finding> {
        let years = self.question.years;
        if !years.broken_by(text, today) {
            return None;
        }
        let (id, shown) = (&self.question.id, excerpt(text));
        let message = format!("Question {id}: {shown} is not valid");
        let mut messages = self.question.year_messages.iter();
        let failed = messages.find(|(years, _)| years.broken_by(text, today));
        let error_message = failed.and_then(|(_, message)| message.as_ref());
        let finding = self.finding(Severity::Warning, Rule::Year, message, error_message);
        Some(finding.of_value(text).expecting(years.expected(today)))
    }

    fn missing(&self) -> Arc<Finding> {
        let missing = || {
            let error_message = self.question.required_message.as_ref();
            let message = "Required".to_owned();
            self.finding(Severity::Warning, Rule::Required, message, error_message)
                .into()
        };
        match self.instance.row {
            Some(_) => missing(),
            None => Arc::clone(self.question.missing.get_or_init(missing)),
        }
    }
}
