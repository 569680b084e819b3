//! Whether the answers to the questions that apply are right (spec 2.4, 2.6, 7.2).

use std::sync::Arc;

use ecow::EcoString;

use super::answers::Given;
use super::applicability::{Applicability, Row};
use super::fields::DEVICES_QUESTION;
use super::format::excerpt;
use super::prepared::{Kind, Node, Prepared, Presentation};
use super::{
    Context, Expected, Finding, QuestionRef, QuestionRules, Report, Rule, Severity, Unchecked, size,
};
use crate::model::Day;

/// Question by question, row by row.
pub(super) fn check(questions: &Applicability<'_>, context: &Context, report: &mut Report) {
    if questions.too_large {
        report.findings.push(size::finding());
        return;
    }
    report.question_rules = QuestionRules::Checked;
    for finding in &mut report.findings {
        // Question 185 was judged with the fields.
        let question = finding.question.as_ref();
        let position = question.and_then(|q| questions.prepared.nodes_of(q.id.as_str()).next());
        if let Some(position) = position {
            let presentation = &questions.prepared.presentations[position];
            let text = presentation.for_finding(Some(&presentation.required_message));
            Arc::make_mut(finding).question_text = Some(text.into());
        }
    }
    questions.walk(|position, row| {
        check_answers(questions, position, row, context, &mut report.findings);
    });
    let prepared = questions.prepared;
    for (position, reason) in &prepared.unchecked {
        let position = *position as usize;
        if questions.applies_somewhere(position) {
            report.unchecked.push(Unchecked {
                question: prepared.id_of(position),
                reason: reason.clone(),
            });
        }
    }
}

/// The answers to one question that applies, in one row.
fn check_answers(
    questions: &Applicability<'_>,
    position: usize,
    row: Option<&Row>,
    context: &Context,
    found: &mut Vec<Arc<Finding>>,
) {
    let question = QuestionInRow {
        prepared: questions.prepared,
        position,
        index: row.and_then(|row| row.index),
    };
    let node = question.node();
    if !node.takes_answers() {
        return;
    }
    let mut is_answered = false;
    let given = questions.given(position, row).iter();
    for given in given.filter(|given| !given.is_empty()) {
        is_answered = true;
        if !is_acceptable(questions, node, given) {
            let text = questions.answers.text(given);
            found.push(question.not_acceptable(text).into());
        }
        if !node.years.is_none() {
            let text = questions.answers.text(given);
            found.extend(question.outside_years(text, context.today).map(Arc::new));
        }
    }
    if node.required && !is_answered {
        // Question 185 of rangeland goats needs no list of questions, and is reported once.
        let is_reported = questions.has_rangeland_goats
            && question.index.is_none()
            && question.prepared.id_of(position) == DEVICES_QUESTION;
        if !is_reported {
            found.push(question.missing());
        }
    }
}

/// A question that applies, in one row.
struct QuestionInRow<'a> {
    prepared: &'a Prepared,
    position: usize,
    index: Option<i64>,
}

impl QuestionInRow<'_> {
    fn node(&self) -> &Node {
        &self.prepared.nodes[self.position]
    }

    fn presentation(&self) -> &Presentation {
        &self.prepared.presentations[self.position]
    }

    fn finding(
        &self,
        severity: Severity,
        rule: Rule,
        message: String,
        error_message: Option<&EcoString>,
    ) -> Finding {
        let question = QuestionRef::new(self.prepared.id_of(self.position), self.index);
        Finding {
            question_text: Some(self.presentation().for_finding(error_message).into()),
            ..Finding::answer(severity, rule, question, message)
        }
    }

    fn not_acceptable(&self, text: &str) -> Finding {
        let values = acceptable(self.prepared, self.node());
        let message = format!(
            "Answer: {} is not valid. Acceptable answers are: {}",
            excerpt(text),
            values.join(", ")
        );
        let names = names(self.prepared, self.node(), &values);
        self.finding(Severity::Error, Rule::Acceptable, message, None)
            .of_value(text)
            .expecting(Expected::OneOf { values, names })
    }

    fn outside_years(&self, text: &str, today: Day) -> Option<Finding> {
        let years = &self.node().years;
        if !years.broken_by(text, today) {
            return None;
        }
        let id = self.prepared.id_of(self.position);
        let message = format!("Question {id}: {} is not valid", excerpt(text));
        let mut messages = self.presentation().year_messages.iter();
        let failed = messages.find(|(years, _)| years.broken_by(text, today));
        let error_message = failed.map(|(_, message)| message);
        let finding = self.finding(Severity::Warning, Rule::Year, message, error_message);
        Some(finding.of_value(text).expecting(years.expected(today)))
    }

    fn missing(&self) -> Arc<Finding> {
        let missing = || {
            let error_message = Some(&self.presentation().required_message);
            let message = "Required".to_owned();
            self.finding(Severity::Warning, Rule::Required, message, error_message)
                .into()
        };
        match self.index {
            Some(_) => missing(),
            // Lists of what is still missing are long and are made again and again.
            None => Arc::clone(self.prepared.missing[self.position].get_or_init(missing)),
        }
    }
}

/// A choice is one of the acceptable answers; for several choices the whole text, or each part between commas. A question
/// of an unknown type may be a choice of several. assumed
fn is_acceptable(questions: &Applicability<'_>, node: &Node, given: &Given) -> bool {
    let choices = questions.prepared.choices(node);
    match node.kind {
        Kind::Text => true,
        _ if choices.is_empty() || choices.contains(&given.value) => true,
        Kind::One => false,
        _ => {
            let parts = questions.answers.parts(given);
            !parts.is_empty() && parts.iter().all(|part| choices.contains(part))
        }
    }
}

fn acceptable(prepared: &Prepared, node: &Node) -> Vec<String> {
    let choices = prepared.choices(node).iter();
    let texts = choices.map(|choice| prepared.values.text(*choice).to_owned());
    texts.collect()
}

/// What people see of the acceptable answers; empty where that is the same.
fn names(prepared: &Prepared, node: &Node, values: &[String]) -> Vec<String> {
    let names = &prepared.choice_names[node.choices.range()];
    let names = names
        .iter()
        .zip(values)
        .map(|(name, value)| match name.as_str() {
            "" => value.clone(),
            name => name.to_owned(),
        });
    let names: Vec<String> = names.collect();
    if names == values { Vec::new() } else { names }
}

/// Answers that count for nothing, in the order of the input.
pub(super) fn advise(questions: &Applicability<'_>, report: &mut Report) {
    if questions.too_large {
        return;
    }
    let prepared = questions.prepared;
    let mut answers = questions.answers.all().to_vec();
    answers.sort_unstable_by_key(|given| given.position);
    for given in &answers {
        let index = given.row;
        let mut nodes = prepared.nodes_of_number(given.id).peekable();
        let first = nodes.peek().copied();
        let applying = nodes.find(|node| questions.applies_in(*node, index));
        let (rule, message) = match applying {
            _ if first.is_none() => (Rule::QuestionKnown, "No question has this id"),
            None => (Rule::AnswerApplies, "The question does not apply"),
            Some(node) if prepared.nodes[node].kind != Kind::Several => {
                let others = questions.given(node, questions.row(node, index)).iter();
                if others.map(|other| other.position).min() == Some(given.position) {
                    continue;
                }
                (Rule::AnsweredOnce, "The question was answered before")
            }
            Some(_) => continue,
        };
        let question = QuestionRef::new(questions.answers.id(given), index);
        let message = message.to_owned();
        let mut finding = Finding::answer(Severity::Advice, rule, question, message);
        let node = applying.or(first);
        finding.question_text =
            node.map(|node| prepared.presentations[node].for_finding(None).into());
        report.advice.push(finding.into());
    }
}
