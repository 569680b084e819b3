//! The answers of a consignment, by question and row.

use super::node::Prepared;
use crate::model::AnswerInput;

/// An answer to a question of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    id: usize,
    pub(super) row: Option<i64>,
    /// Its position in the input, so that answers in the same place stay in order.
    pub(super) position: usize,
    /// Empty where it is null or absent.
    pub(super) value: &'a str,
}

/// Answers sorted by question, then row.
#[derive(Debug)]
pub(super) struct Answers<'a> {
    given: Vec<Given<'a>>,
    /// Where the answers to each question begin.
    starts: Vec<usize>,
}

impl<'a> Answers<'a> {
    pub(super) fn new(prepared: &Prepared, answers: &'a [AnswerInput]) -> Self {
        let mut given = Vec::with_capacity(answers.len());
        for (position, answer) in answers.iter().enumerate() {
            let id = answer.question_id.value();
            if let Some(id) = id.and_then(|id| prepared.by_id.get(id.as_str())) {
                given.push(Given {
                    id: *id,
                    row: answer.index.value().copied(),
                    position,
                    value: answer.value.value().map_or("", String::as_str),
                });
            }
        }
        given.sort_unstable_by_key(|answer| (answer.id, answer.row, answer.position));
        let mut starts = vec![0; prepared.ids.len() + 1];
        for answer in &given {
            starts[answer.id + 1] += 1;
        }
        for id in 1..starts.len() {
            starts[id] += starts[id - 1];
        }
        Self { given, starts }
    }

    /// All answers to a question.
    pub(super) fn all(&self, id: usize) -> &[Given<'a>] {
        &self.given[self.starts[id]..self.starts[id + 1]]
    }

    /// The answers to a question in a row; `None` is the row of those without an index.
    pub(super) fn at(&self, id: usize, row: Option<i64>) -> &[Given<'a>] {
        let all = self.all(id);
        let start = all.partition_point(|answer| answer.row < row);
        let end = start + all[start..].partition_point(|answer| answer.row == row);
        &all[start..end]
    }
}
