//! The answers of a consignment, by question and by row, as positions in its list.

use super::ids::{NONE, at};
use super::node::Prepared;
use crate::model::AnswerInput;

/// Chains of answers, each in the order of the input.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    /// The number of the id of each answer; `NONE` for one that no question has.
    pub(super) ids: Vec<u32>,
    /// By id: the first answer.
    pub(super) first: Vec<u32>,
    /// By answer: the next one to the same question.
    pub(super) next: Vec<u32>,
    /// By answer: the next one to the same question in the same row.
    pub(super) next_in_row: Vec<u32>,
}

impl Chains {
    pub(super) fn set(&mut self, prepared: &Prepared, answers: &[AnswerInput]) {
        self.ids.clear();
        self.ids.extend(answers.iter().map(|answer| {
            let id = answer.question_id.value();
            id.and_then(|id| prepared.ids.find(id.as_str()))
                .unwrap_or(NONE)
        }));
        self.first.clear();
        self.first.resize(prepared.names.len(), NONE);
        self.next.clear();
        self.next.resize(answers.len(), NONE);
        self.next_in_row.clear();
        self.next_in_row.resize(answers.len(), NONE);
        // Backwards, so that the first answer ends up at the front.
        for (position, &id) in self.ids.iter().enumerate().rev() {
            if id != NONE {
                let first = &mut self.first[id as usize];
                self.next[position] = *first;
                *first = at(position);
            }
        }
    }
}

/// Positions of answers along a chain.
#[derive(Clone, Debug)]
pub(super) struct Chain<'a> {
    pub(super) at: u32,
    pub(super) next: &'a [u32],
}

impl Iterator for Chain<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let position = self.at as usize;
        self.at = *self.next.get(position)?;
        Some(position)
    }
}

/// The text of an answer; empty where it is null or absent.
pub(super) fn text(answer: &AnswerInput) -> &str {
    answer.value.value().map_or("", String::as_str)
}

/// The row of an answer; `None` without an index.
pub(super) fn row(answer: &AnswerInput) -> Option<i64> {
    answer.index.value().copied()
}
