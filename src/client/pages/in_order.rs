//! Records and the errors of unreadable ones, in the order of the list.

use std::iter::{self, Peekable};
use std::vec;

use crate::error::{Error, Result};
use crate::graphql::Unreadable;

/// Yields records, and between them the errors of those that could not be read.
pub(crate) struct InOrder<I> {
    records: I,
    /// Each with the number of records before it.
    errors: Peekable<iter::Zip<vec::IntoIter<usize>, vec::IntoIter<Error>>>,
    given: usize,
}

impl<I> InOrder<I> {
    pub(crate) fn new(records: I, before: Vec<usize>, errors: Vec<Error>) -> Self {
        Self {
            records,
            errors: iter::zip(before, errors).peekable(),
            given: 0,
        }
    }
}

impl<I: Iterator> Iterator for InOrder<I> {
    type Item = Result<I::Item>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((_, error)) = self.errors.next_if(|(before, _)| *before <= self.given) {
            return Some(Err(error));
        }
        self.given += 1;
        self.records.next().map(Ok)
    }
}

/// How many records there are before each unreadable one, given the places of the list without a record, in order.
pub(crate) fn placed(unreadable: Vec<Unreadable>, gaps: &[usize]) -> (Vec<usize>, Vec<Error>) {
    let placed = unreadable.into_iter().map(|record| {
        let before = gaps.partition_point(|gap| *gap < record.index);
        (record.index - before, record.error)
    });
    placed.unzip()
}
