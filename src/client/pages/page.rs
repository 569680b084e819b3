//! One page of a list.

use crate::error::Error;
use crate::model::{ListNotice, Position, ServerError};

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
    /// The records of the page that could not be read, mostly none: each
    /// [`is_unreadable_record`](Error::is_unreadable_record), with the record as [`raw_data`](Error::raw_data) and the
    /// place where it does not fit as [`json_path`](Error::json_path).
    pub unreadable: Vec<Error>,
    /// Whether the list changed or repeated itself; mostly empty.
    pub notices: Vec<ListNotice>,
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
    /// How many records come before each unreadable one.
    pub(super) before: Vec<usize>,
}

impl<T> Page<T> {
    /// The position after a record of this page, by its index; `None` when the server gave it no cursor.
    #[must_use]
    pub fn position_after(&self, record: usize) -> Option<Position> {
        self.cursors.get(record)?.as_deref().map(Position::after)
    }
}
