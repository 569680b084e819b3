//! Checks the answers to the questions that apply (spec 2.4, 2.6, 7.2).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::answers::chosen;
use super::format::excerpt;
use super::question_tree::{ItemKind, TreeQuestion};
use super::walk::{self, Instance, Walk};
use super::{
    Context, Expected, Finding, QuestionRules, Report, Rule, Severity, Unchecked, devices,
};
use crate::model::Day;

/// Checks each question in each row. A row that a form opened is checked once it has an answer.
pub(super) fn check(walk: &Walk<'_>, context: &Context, report: &mut Report) {
    if walk.found.is_too_large {
        report.push(walk::too_large());
        return;
    }
    report.question_rules = QuestionRules::Checked;
    let tree = walk.tree;
    let is_devices_reported = devices::name_question(tree, report);
    let mut unchecked = BTreeSet::new();
    for instance in walk.found.instances.iter().copied() {
        let question = &tree[instance.question];
        if !walk.is_sent(instance) {
            continue;
        }
        if !question.unchecked.is_empty() {
            unchecked.insert(instance.question);
        }
        let is_reported =
            is_devices_reported && instance.row.is_none() && devices::is_devices(&question.id);
        let asked = AskedQuestion {
            question,
            walk,
            instance,
        };
        asked.check(context, is_reported, &mut report.findings);
    }
    for question in unchecked.into_iter().map(|position| &tree[position]) {
        let reasons = question.unchecked.iter().cloned();
        report.unchecked.extend(reasons.map(|reason| Unchecked {
            question: question.id.clone(),
            reason,
        }));
    }
}

/// A choice must be one of the acceptable answers. For multiple choices, either the full text or each comma-separated part must
/// be; questions of an unknown type may be multiple choices too. assumed
fn is_acceptable(question: &TreeQuestion, text: &str) -> bool {
    let is_choice = |text: &str| question.choices.iter().any(|choice| choice.value == text);
    match question.kind {
        _ if question.choices.is_empty() => true,
        ItemKind::Choice => is_choice(text),
        ItemKind::MultipleChoice | ItemKind::Unknown => {
            is_choice(text) || chosen(text, &question.choices).all(is_choice)
        }
        _ => true,
    }
}

/// A question that applies, in one row.
struct AskedQuestion<'a> {
    question: &'a TreeQuestion,
    walk: &'a Walk<'a>,
    instance: Instance,
}

impl AskedQuestion<'_> {
    /// Checks the answers to the question in this row.
    fn check(&self, context: &Context, is_reported: bool, found: &mut Vec<Arc<Finding>>) {
        if !self.question.takes_answers() {
            return;
        }
        let mut is_answered = is_reported;
        for text in self.walk.texts(self.instance) {
            is_answered = true;
            if !is_acceptable(self.question, text) {
                found.push(self.not_acceptable(text).into());
            }
            found.extend(self.outside_years(text, context.today).map(Arc::new));
        }
        if self.question.required && !is_answered {
            found.push(self.missing());
        }
    }

    fn not_acceptable(&self, text: &str) -> Finding {
        let choices = self.question.choices.iter().cloned();
        let (mut names, values): (Vec<_>, Vec<_>) =
            choices.map(|choice| (choice.name, choice.value)).unzip();
        if names == values {
            names.clear();
        }
        let shown = excerpt(text);
        let all = values.join(", ");
        let message = format!("Answer: {shown} is not valid. Acceptable answers are: {all}");
        let severity = Severity::Error;
        let rule = Rule::Acceptable;
        self.walk
            .finding(self.instance, severity, rule, message, None)
            .of_value(text)
            .expecting(Expected::OneOf { values, names })
    }

    fn outside_years(&self, text: &str, today: Day) -> Option<Finding> {
        let years = self.question.years;
        if !years.broken_by(text, today) {
            return None;
        }
        let id = &self.question.id;
        let shown = excerpt(text);
        let message = format!("Question {id}: {shown} is not valid");
        let mut messages = self.question.year_messages.iter();
        let failed = messages.find(|(years, _)| years.broken_by(text, today));
        let error_message = failed.and_then(|(_, message)| message.as_ref());
        let severity = Severity::Warning;
        let rule = Rule::Year;
        let walk = self.walk;
        let finding = walk.finding(self.instance, severity, rule, message, error_message);
        Some(finding.of_value(text).expecting(years.expected(today)))
    }

    fn missing(&self) -> Arc<Finding> {
        let missing = || {
            let error_message = self.question.required_message.as_ref();
            let severity = Severity::Warning;
            let rule = Rule::Required;
            let message = "Required".to_owned();
            let walk = self.walk;
            Arc::new(walk.finding(self.instance, severity, rule, message, error_message))
        };
        match self.instance.row {
            Some(_) => missing(),
            None => Arc::clone(self.question.missing.get_or_init(missing)),
        }
    }
}
