//! Whether the answers to the questions in play are right (spec 2.4, 2.6, 7.2).

use std::sync::Arc;

use super::answers;
use super::excerpt::excerpt;
use super::fields::DEVICES_QUESTION;
use super::node::{Kind, Span};
use super::play::Row;
use super::size;
use super::view::View;
use super::{
    Context, Expected, Finding, QuestionRef, QuestionRules, Report, Rule, Severity, Unchecked,
};

/// Question by question, row by row.
pub(super) fn check(view: View<'_>, context: &Context, report: &mut Report) {
    if view.play.too_large {
        report.findings.push(size::finding());
        return;
    }
    report.question_rules = QuestionRules::Checked;
    view.walk(|position, _, row| {
        of_question(view, position, row, context, &mut report.findings);
    });
    let unchecked = view.prepared.unchecked.iter();
    for (position, reason) in unchecked {
        let position = *position as usize;
        if view.applies_somewhere(position) {
            report.unchecked.push(Unchecked {
                question: view.prepared.id_of(position).into(),
                reason: reason.clone(),
            });
        }
    }
}

/// The answers to one question that applies, in one row.
pub(super) fn of_question(
    view: View<'_>,
    position: usize,
    row: Option<Row>,
    context: &Context,
    found: &mut Vec<Arc<Finding>>,
) {
    let node = &view.prepared.nodes[position];
    if !node.takes_answers() {
        return;
    }
    // An empty text is no answer.
    let mut answered = false;
    for value in view.values(position, row).filter(|value| !value.is_empty()) {
        answered = true;
        if !fits(view, node.kind, node.choices, value) {
            found.push(outside(view, position, row, value).into());
        }
        if node.years.broken_by(value, context.today) {
            let id = view.prepared.id_of(position);
            let value = excerpt(value);
            let finding = Finding::answer(
                Severity::Warning,
                Rule::Year,
                question(view, position, row),
                format!("Question {id}: {value} is not valid"),
            );
            let expected = node.years.expected(context.today);
            found.push(finding.expecting(expected).into());
        }
    }
    if node.required && !answered && !is_judged_with_fields(view, position, row) {
        found.push(missing(view, position, row));
    }
}

/// Question 185 of rangeland goats needs no list of questions, and is reported once.
fn is_judged_with_fields(view: View<'_>, position: usize, row: Option<Row>) -> bool {
    view.play.has_rangeland_goats
        && row.is_none_or(|row| row.index.is_none())
        && *view.prepared.id_of(position) == DEVICES_QUESTION
}

/// Lists of what is still missing are long and asked for again and again, so each such finding is made once.
fn missing(view: View<'_>, position: usize, row: Option<Row>) -> Arc<Finding> {
    let question = question(view, position, row);
    let (severity, rule) = (Severity::Warning, Rule::Required);
    if question.row.is_some() {
        return Finding::answer(severity, rule, question, "Required".to_owned()).into();
    }
    let made = view.prepared.missing[position]
        .get_or_init(|| Finding::answer(severity, rule, question, "Required".to_owned()).into());
    Arc::clone(made)
}

fn question(view: View<'_>, position: usize, row: Option<Row>) -> QuestionRef {
    QuestionRef::new(view.prepared.id_of(position), row.and_then(|row| row.index))
}

/// A choice is one of the acceptable answers; for several choices the whole text, or each part between commas. A question
/// of an unknown type may be a choice of several. assumed
fn fits(view: View<'_>, kind: Kind, choices: Span, value: &str) -> bool {
    let is_choice = |text: &str| view.prepared.values(choices).any(|choice| choice == text);
    match kind {
        Kind::Text => true,
        _ if choices.is_empty() || is_choice(value) => true,
        Kind::One => false,
        _ => value.split(',').all(|part| is_choice(part.trim())),
    }
}

fn outside(view: View<'_>, position: usize, row: Option<Row>, value: &str) -> Finding {
    let value = excerpt(value);
    let mut message = format!("Answer: {value} is not valid. Acceptable answers are: ");
    let choices = view.prepared.nodes[position].choices;
    for (nth, choice) in view.prepared.values(choices).enumerate() {
        if nth > 0 {
            message.push_str(", ");
        }
        message.push_str(choice);
    }
    Finding::answer(
        Severity::Error,
        Rule::Acceptable,
        question(view, position, row),
        message,
    )
    .expecting(Expected::OneOf {
        values: view.prepared.values(choices).map(str::to_owned).collect(),
    })
}

/// Answers that nobody asked for, in the order of the input.
pub(super) fn advise(view: View<'_>, report: &mut Report) {
    if view.play.too_large {
        return;
    }
    let prepared = view.prepared;
    for (position, answer) in view.answers.iter().enumerate() {
        let id = answer.question_id.value().map_or("", |id| id.as_str());
        let index = answers::row(answer);
        let nodes = prepared.nodes_of(id);
        let mut applying = nodes.iter().map(|node| *node as usize);
        let applying = applying.find(|node| view.applies_in(*node, index));
        let (rule, message) = match applying {
            _ if nodes.is_empty() => (Rule::QuestionKnown, "No question has this id"),
            None => (Rule::AnswerApplies, "The question does not apply"),
            Some(node) if prepared.nodes[node].kind != Kind::Several => {
                let row = view.row(prepared.nodes[node].scope, index);
                let first = view.given(node, row).next();
                if first.is_none_or(|first| first >= position) {
                    continue;
                }
                (Rule::AnsweredOnce, "The question was answered before")
            }
            Some(_) => continue,
        };
        let question = QuestionRef::new(id, index);
        let message = message.to_owned();
        let finding = Finding::answer(Severity::Advice, rule, question, message);
        report.advice.push(finding.into());
    }
}
