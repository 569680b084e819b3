//! What to ask.

use super::QuestionRef;
use super::node::{Kind, Node};
use super::play::Play;
use crate::model::QuestionType;

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
    /// Whether an answer must be given, filled or not.
    pub required: bool,
    /// Whether there is an answer; for a REPEATABLE question, whether there is a row.
    pub answered: bool,
    /// Whether the user can answer it: not a heading, and not only shown.
    pub answerable: bool,
}

/// All questions that apply, in display order.
pub(super) fn list(play: &Play<'_>) -> Vec<AppliedQuestion> {
    let mut applied = Vec::new();
    play.walk(|position, node, row| {
        applied.push(AppliedQuestion {
            question: QuestionRef::new(&play.prepared.ids[node.id], row),
            text: node.text.to_string(),
            order: node.order,
            question_type: node.question_type.clone(),
            required: node.is_required(),
            answered: is_filled(play, position, node, row),
            answerable: node.kind != Kind::Display && !node.read_only,
        });
    });
    applied
}

fn is_filled(play: &Play<'_>, position: usize, node: &Node, row: Option<i64>) -> bool {
    match node.kind {
        Kind::Rows => play.has_answers_below(position, node, row),
        _ => play
            .values(node, row)
            .iter()
            .any(|given| !given.value.is_empty()),
    }
}
