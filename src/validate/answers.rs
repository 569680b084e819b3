//! The answers of a consignment by question and row, each looked up once.

use super::prepared::{EMPTY, NONE, Prepared, Span, at};
use crate::model::{AnswerInput, QuestionId};

/// An answer to a question of the list, or to an unknown one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// The number of the question's id; `NONE` where no question has it.
    pub(super) id: u32,
    /// The row; `None` without an index.
    pub(super) row: Option<i64>,
    /// The position in the input.
    pub(super) position: u32,
    /// The number of the text; `NONE` where no acceptable answer and no trigger has it.
    pub(super) value: u32,
    /// The parts of a list with commas, in `Answers::parts`; empty where the text is no list.
    parts: Span,
}

impl Given {
    /// An empty text is no answer.
    pub(super) fn is_empty(&self) -> bool {
        self.value == EMPTY
    }
}

/// The answers of a consignment.
#[derive(Debug)]
pub(super) struct Answers<'a> {
    input: &'a [AnswerInput],
    /// By id, then by row, then as in the input.
    given: Vec<Given>,
    /// By id: its answers in `given`.
    of_id: Vec<Span>,
    /// Numbers of texts.
    parts: Vec<u32>,
}

impl<'a> Answers<'a> {
    pub(super) fn new(prepared: &Prepared, input: &'a [AnswerInput]) -> Self {
        let mut answers = Self {
            input,
            given: Vec::with_capacity(input.len()),
            of_id: vec![Span::default(); prepared.ids.len()],
            parts: Vec::new(),
        };
        let (mut id, mut value, mut parts) = (NONE, NONE, Span::default());
        for (position, answer) in input.iter().enumerate() {
            let text = text(answer);
            id = match answer.question_id.value() {
                Some(name) => prepared
                    .ids
                    .number_guessed(name.as_str(), id.wrapping_add(1)),
                None => NONE,
            };
            let before = value;
            value = prepared.values.number_guessed(text, before);
            if value != before || value == NONE {
                parts = answers.split(prepared, text);
            }
            answers.given.push(Given {
                id,
                row: row(answer),
                position: at(position),
                value,
                parts,
            });
        }
        answers.given.sort_by_key(|given| (given.id, given.row));
        let mut start = 0;
        for same in answers.given.chunk_by(|one, other| one.id == other.id) {
            let end = start + at(same.len());
            if let Some(span) = answers.of_id.get_mut(same[0].id as usize) {
                *span = Span { start, end };
            }
            start = end;
        }
        answers
    }

    #[inline]
    fn split(&mut self, prepared: &Prepared, text: &str) -> Span {
        let start = at(self.parts.len());
        if text.contains(',') || text.trim().len() < text.len() {
            let parts = text.split(',').map(str::trim);
            let number = |part: &str| prepared.values.number(part);
            self.parts.extend(parts.map(number));
        }
        let end = at(self.parts.len());
        Span { start, end }
    }

    /// All answers.
    pub(super) fn all(&self) -> &[Given] {
        &self.given
    }

    /// The answers to an id.
    #[inline]
    pub(super) fn of(&self, id: u32) -> &[Given] {
        let span = self.of_id.get(id as usize);
        span.map_or(&[], |span| &self.given[span.range()])
    }

    /// The answers to an id in a row.
    pub(super) fn in_row(&self, id: u32, row: Option<i64>) -> &[Given] {
        let given = self.of(id);
        let start = given.partition_point(|given| given.row < row);
        let count = given[start..].partition_point(|given| given.row == row);
        &given[start..start + count]
    }

    /// The parts of a list with commas.
    #[inline]
    pub(super) fn parts(&self, given: &Given) -> &[u32] {
        &self.parts[given.parts.range()]
    }

    /// The text of the question's id.
    pub(super) fn id(&self, given: &Given) -> &'a str {
        let answer = &self.input[given.position as usize];
        answer.question_id.value().map_or("", QuestionId::as_str)
    }

    #[inline]
    pub(super) fn text(&self, given: &Given) -> &'a str {
        text(&self.input[given.position as usize])
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
