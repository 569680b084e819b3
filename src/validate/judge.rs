//! Whether the answers to the questions in play are right (spec 2.4, 2.6, 7.2).

use super::answers::Given;
use super::node::{Kind, Node};
use super::play::Play;
use super::{Context, Finding, QuestionRef, Report, Rule, Severity, Unchecked};
use crate::model::AnswerInput;

/// Question by question, row by row.
pub(super) fn check(play: &Play<'_>, context: &Context, report: &mut Report) {
    play.walk(|_, node, row| {
        if node.takes_answers() && node.kind != Kind::Unknown {
            of_question(play, node, row, context, &mut report.findings);
        }
    });
    let unchecked = play.prepared.unchecked.iter();
    for (position, reason) in unchecked.filter(|(node, _)| play.applies_somewhere(*node)) {
        report.unchecked.push(Unchecked {
            question: id(play, &play.prepared.nodes[*position]).into(),
            reason: reason.clone(),
        });
    }
}

fn of_question(
    play: &Play<'_>,
    node: &Node,
    row: Option<i64>,
    context: &Context,
    found: &mut Vec<Finding>,
) {
    let given = play.values(node, row);
    // An empty text is no answer.
    let mut answered = false;
    for given in given.iter().filter(|given| !given.value.is_empty()) {
        answered = true;
        of_answer(play, node, given, context, found);
    }
    if !answered && node.is_required() {
        let question = QuestionRef::new(id(play, node), row);
        let message = "Required".to_owned();
        found.push(Finding::answer(
            Severity::Warning,
            Rule::Required,
            question,
            message,
        ));
    }
}

fn of_answer(
    play: &Play<'_>,
    node: &Node,
    given: &Given<'_>,
    context: &Context,
    found: &mut Vec<Finding>,
) {
    let value = given.value;
    let id = id(play, node);
    let question = || QuestionRef::new(id, given.row);
    let choices = &play.prepared.texts[node.choices.clone()];
    if !fits(node.kind, choices, value) {
        let choices = choices.join(", ");
        let message = format!("Answer: {value} is not valid. Acceptable answers are: {choices}");
        found.push(Finding::answer(
            Severity::Error,
            Rule::Acceptable,
            question(),
            message,
        ));
    }
    if node.years.broken_by(value, context.today) {
        let message = format!("Question {id}: {value} is not valid");
        found.push(Finding::answer(
            Severity::Warning,
            Rule::Year,
            question(),
            message,
        ));
    }
}

/// A choice is one of the acceptable answers; for several choices the whole text, or each part between commas. assumed
fn fits(kind: Kind, choices: &[Box<str>], value: &str) -> bool {
    let is_choice = |text: &str| choices.iter().any(|choice| **choice == *text);
    match kind {
        Kind::One | Kind::Several if choices.is_empty() || is_choice(value) => true,
        Kind::One => false,
        Kind::Several => value.split(',').all(|part| is_choice(part.trim())),
        _ => true,
    }
}

/// Answers that nobody asked for, in the order of the input.
pub(super) fn advise(play: &Play<'_>, answers: &[AnswerInput], report: &mut Report) {
    let prepared = play.prepared;
    for (position, answer) in answers.iter().enumerate() {
        let text = answer.question_id.value().map_or("", |id| id.as_str());
        let row = answer.index.value().copied();
        let known = prepared.by_id.get(text).copied();
        let nodes = known.map_or(&[][..], |id| &prepared.id_nodes[id]);
        let mut applying = nodes.iter().filter(|node| play.applies_in(**node, row));
        let (rule, message) = match (known, applying.next()) {
            _ if nodes.is_empty() => (Rule::QuestionKnown, "No question has this id"),
            (_, None) => (Rule::AnswerApplies, "The question does not apply"),
            (Some(id), Some(node))
                if prepared.nodes[*node].kind != Kind::Several
                    && play.answers.at(id, row)[0].position < position =>
            {
                (Rule::AnsweredOnce, "The question was answered before")
            }
            _ => continue,
        };
        let question = QuestionRef::new(text, row);
        let message = message.to_owned();
        report
            .advice
            .push(Finding::answer(Severity::Advice, rule, question, message));
    }
}

fn id<'a>(play: &Play<'a>, node: &Node) -> &'a str {
    &play.prepared.ids[node.id]
}
