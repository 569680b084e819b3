//! The answers of a consignment by question and row.

use std::iter;

use super::question_tree::{
    AcceptableChoice, ItemKind, MOST_COMPARISONS, QuestionTree, TreeQuestion,
};
use crate::model::AnswerInput;

/// A question, with its row if it is inside a REPEATABLE question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Instance {
    /// Its position in the [`QuestionTree`].
    pub(super) question: usize,
    /// The number of the row; `None` outside rows, and for the row of answers without an index, as in the sample payloads
    /// (spec 2.4).
    pub(super) row: Option<i64>,
}

impl Instance {
    pub(super) fn new(question: usize, row: Option<i64>) -> Self {
        Self { question, row }
    }

    pub(super) fn outside_rows(question: usize) -> Self {
        Self::new(question, None)
    }

    /// Another question in the same row.
    pub(super) fn with(self, question: usize) -> Self {
        Self { question, ..self }
    }
}

/// An answer to a question of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenAnswer<'a> {
    /// The question, with the index of the answer: outside rows as well, where the index does not matter.
    pub(super) instance: Instance,
    /// The position in the input.
    pub(super) position: usize,
    pub(super) text: &'a str,
}

/// The answers to questions of a list, once for each question with the id.
#[derive(Debug, Default)]
pub(super) struct GivenAnswers<'a> {
    /// By question, then by row, then as in the input.
    all: Vec<GivenAnswer<'a>>,
    /// By question: where its answers start; they end where those of the next question start.
    starts: Vec<usize>,
}

impl<'a> GivenAnswers<'a> {
    /// `None` where there is too much to compare.
    pub(super) fn read(tree: &QuestionTree, input: &'a [AnswerInput]) -> Option<Self> {
        let mut given = Vec::with_capacity(input.len());
        let mut comparisons = 0;
        for (position, answer) in input.iter().enumerate() {
            for question in tree.with(answer.question_id.value()) {
                comparisons += tree[*question].cost;
                if comparisons > MOST_COMPARISONS {
                    return None;
                }
                given.push(GivenAnswer {
                    instance: Instance::new(*question, row(answer)),
                    position,
                    text: text(answer),
                });
            }
        }
        given.sort_by_key(|given| given.instance);
        let mut starts = Vec::with_capacity(tree.len() + 1);
        let mut questions = given.iter().map(|given| given.instance.question).peekable();
        let mut start = 0;
        for question in 0..=tree.len() {
            while questions.next_if(|other| *other < question).is_some() {
                start += 1;
            }
            starts.push(start);
        }
        Some(Self { all: given, starts })
    }

    pub(super) fn all(&self) -> &[GivenAnswer<'a>] {
        &self.all
    }

    /// The answers to a question in all rows.
    pub(super) fn of(&self, question: usize) -> &[GivenAnswer<'a>] {
        self.starts
            .get(question)
            .zip(self.starts.get(question + 1))
            .and_then(|(start, end)| self.all.get(*start..*end))
            .unwrap_or_default()
    }

    /// The answers to a question in one row.
    pub(super) fn in_row(&self, instance: Instance) -> &[GivenAnswer<'a>] {
        let given = self.of(instance.question);
        let start = given.partition_point(|given| given.instance < instance);
        let given = given.get(start..).unwrap_or_default();
        let count = given.partition_point(|given| given.instance == instance);
        given.get(..count).unwrap_or_default()
    }
}

impl<'a> GivenAnswer<'a> {
    /// An empty text is no answer.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether this is the value, or a list of several choices that has it.
    pub(super) fn has(&self, value: &str, question: &TreeQuestion) -> bool {
        if value.is_empty() || self.text == value {
            return !value.is_empty();
        }
        question.kind == ItemKind::MultipleChoice
            && self.text.contains(value)
            && self.chosen(&question.choices).any(|part| part == value)
    }

    /// The parts of a list with commas. A choice may have commas itself: of those that stand at one place the longest counts.
    /// assumed
    pub(super) fn chosen(&self, choices: &[AcceptableChoice]) -> impl Iterator<Item = &'a str> {
        let mut rest = Some(self.text);
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
}

/// The text of an answer; empty where it is null or absent.
pub(super) fn text(answer: &AnswerInput) -> &str {
    answer.value.value().map_or("", String::as_str)
}

/// The row of an answer; `None` without an index.
pub(super) fn row(answer: &AnswerInput) -> Option<i64> {
    answer.index.value().copied()
}
