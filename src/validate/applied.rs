//! What to ask, and how far the answers have come.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::QuestionRef;
use super::node::{Group, Kind, Node, Span};
use super::play::Row;
use super::view::View;
use crate::model::{QuestionId, QuestionType};

/// A question that applies, in a row where it stands inside a REPEATABLE question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppliedQuestion {
    /// The question and its row.
    pub question: QuestionRef,
    /// The text of the question.
    pub text: String,
    /// The position on display.
    pub order: Option<i64>,
    /// What kind of answer is wanted.
    pub question_type: Option<QuestionType>,
    /// The answers to choose from; empty where the question is no choice.
    pub choices: Vec<Choice>,
    /// The answers by which it applies; empty for a question that stands under no other and has no trigger.
    pub because: Vec<Because>,
    /// Whether an answer must be given, filled or not.
    pub required: bool,
    /// Whether there is an answer; for a REPEATABLE question, whether there is a row.
    pub answered: bool,
    /// Whether the user can answer it: not a heading, and not only shown.
    pub answerable: bool,
}

/// An answer to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// What is sent as the answer.
    pub value: String,
    /// What people see; the value where the server gives no name.
    pub name: String,
}

/// An answer by which a question applies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Because {
    /// The question that was answered, or that stands above.
    pub question: QuestionId,
    /// The value that was wanted and found; `None` where any answer will do.
    pub value: Option<String>,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "question {} is answered {value}", self.question),
            None => write!(f, "it stands under question {}", self.question),
        }
    }
}

/// How far the answers have come, counted in questions that apply and can be answered, row by row.
///
/// A REPEATABLE question is none of them: what is counted stands in its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Questions that can be answered.
    pub questions: usize,
    /// Those of them that are answered.
    pub answered: usize,
    /// Questions that must be answered.
    pub required: usize,
    /// Those of them that are answered.
    pub required_answered: usize,
}

/// All questions that apply, in display order.
pub(super) fn list(view: View<'_>) -> Vec<AppliedQuestion> {
    let mut applied = Vec::new();
    view.walk(|position, _, row| applied.push(describe(view, position, row)));
    applied
}

fn describe(view: View<'_>, position: usize, row: Option<Row>) -> AppliedQuestion {
    let prepared = view.prepared;
    let (node, shown) = (&prepared.nodes[position], &prepared.shown[position]);
    let text = |span: Span| prepared.shown_text(span).to_owned();
    let names = prepared.choice_names[node.choices.range()].iter();
    AppliedQuestion {
        question: QuestionRef::new(prepared.id_of(position), row.and_then(|row| row.index)),
        text: text(shown.text),
        order: shown.order,
        question_type: shown.question_type.clone(),
        choices: prepared
            .values(node.choices)
            .zip(names)
            .map(|(value, name)| Choice {
                value: value.to_owned(),
                name: if name.is_empty() {
                    value.to_owned()
                } else {
                    text(*name)
                },
            })
            .collect(),
        because: because(view, node, row),
        required: node.required,
        answered: match node.kind {
            Kind::Rows => view.has_rows(position, row),
            _ => view.is_filled(position, row),
        },
        answerable: node.kind != Kind::Display && !node.read_only,
    }
}

fn because(view: View<'_>, node: &Node, row: Option<Row>) -> Vec<Because> {
    let prepared = view.prepared;
    if node.groups.is_empty() {
        let above = prepared.nodes.get(node.parent as usize);
        let above = above.map(|above| prepared.name(above.id).into());
        let because = above.map(|question| Because {
            question,
            value: None,
        });
        return because.into_iter().collect();
    }
    let groups = prepared.groups[node.groups.range()].iter();
    let met = groups.filter_map(|group| {
        // One wanted value at a time tells which was found.
        let mut values = (group.wanted.start..group.wanted.end).map(|start| Span {
            start,
            end: start + 1,
        });
        let found = values.find(|wanted| {
            let group = Group {
                wanted: *wanted,
                ..*group
            };
            view.is_met(&group, node, row)
        })?;
        let value = prepared.values(found).next().map(str::to_owned);
        let question = prepared.name(group.source).into();
        Some(Because { question, value })
    });
    met.collect()
}

/// Counts without describing.
pub(super) fn progress(view: View<'_>) -> Progress {
    let mut progress = Progress::default();
    view.walk(|position, node, row| {
        if node.takes_answers() && !node.read_only {
            let answered = usize::from(view.is_filled(position, row));
            progress.questions += 1;
            progress.answered += answered;
            if node.required {
                progress.required += 1;
                progress.required_answered += answered;
            }
        }
    });
    progress
}
