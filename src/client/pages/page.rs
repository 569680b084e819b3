//! One page of a list.

use crate::model::{Position, ServerError};

/// One page of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<T> {
    /// The records, in the order of the server.
    pub records: Vec<T>,
    /// How many records the server says there are on all pages.
    pub total: Option<i64>,
    /// By how many records the total has grown (or shrunk, when negative) since the first page: the list changes while
    /// it is read, so a record may be missed or come twice.
    pub total_drift: Option<i64>,
    /// How many places of the page hold no record: the server sent null.
    pub missing: usize,
    /// What the server said beside the records; mostly empty.
    pub problems: Vec<ServerError>,
    /// Where this page starts.
    pub position: Position,
    /// Where the next page starts; `None` on the last page.
    pub next: Option<Position>,
    /// The number of the page, from 1.
    pub number: u64,
    /// The cursors of the records.
    pub(super) cursors: Vec<Option<String>>,
}

impl<T> Page<T> {
    /// The position after a record of this page, by its index; `None` when the server gave it no cursor.
    #[must_use]
    pub fn position_after(&self, record: usize) -> Option<Position> {
        self.cursors.get(record)?.as_deref().map(Position::after)
    }
}
