//! Reads the text, the row and the chosen values of an answer.

use std::iter;

use super::Choice;
use super::question_tree::{ItemKind, TreeQuestion};
use crate::model::AnswerInput;

/// The text of an answer; empty where it is null or absent.
pub(super) fn text(answer: &AnswerInput) -> &str {
    answer.value.value().map_or("", String::as_str)
}

/// The row of an answer; `None` if it has no index.
pub(super) fn row(answer: &AnswerInput) -> Option<i64> {
    answer.index.value().copied()
}

/// Whether an answer is this value, or a list of choices that contains it. An empty text never matches.
pub(super) fn has_value(text: &str, value: &str, question: &TreeQuestion) -> bool {
    if value.is_empty() || text == value {
        return !value.is_empty();
    }
    question.kind == ItemKind::MultipleChoice
        && text.contains(value)
        && chosen(text, &question.choices).any(|part| part == value)
}

/// Splits a comma-separated list. Choices may contain commas themselves; the longest choice at a position wins.
/// assumed
pub(super) fn chosen<'a>(text: &'a str, choices: &[Choice]) -> impl Iterator<Item = &'a str> {
    let mut rest = Some(text);
    iter::from_fn(move || {
        let list = rest?.trim_start();
        let stands_there = |choice: &&str| {
            let after = list.strip_prefix(*choice).map(str::trim_start);
            after.is_some_and(|after| after.is_empty() || after.starts_with(','))
        };
        let choices = choices.iter().map(|choice| choice.value.as_str());
        let choices = choices
            .filter(|choice| choice.contains(','))
            .filter(stands_there);
        let (part, after) = list.split_at(choices.map(str::len).max().unwrap_or_default());
        let (beside, after) = match after.split_once(',') {
            Some((beside, after)) => (beside, Some(after)),
            None => (after, None),
        };
        rest = after;
        Some(if part.is_empty() { beside.trim() } else { part })
    })
}
