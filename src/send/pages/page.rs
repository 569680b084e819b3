//! One page of a list.

use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::graphql::{AsReceived, Unreadable};
use crate::model::{ListNotice, Position, ServerError};

/// One page of a list, as a [`Pager`](super::Pager) returns it. `Debug` does not show the records.
///
/// From [`Pager::next_page`](super::Pager::next_page). See [`Pager`](super::Pager) for an example.
#[derive(Clone)]
#[non_exhaustive]
pub struct Page<T, P = Position> {
    /// The records, in the order of the server.
    pub records: Vec<T>,
    /// The number of records on all pages, as the server states it.
    pub total: Option<i64>,
    /// By how many records the total has grown (or shrunk, when negative) since the first page: the list changes while
    /// it is read, so a record may be missed or come twice.
    pub total_drift: Option<i64>,
    /// The number of null elements in place of records.
    pub missing: usize,
    /// The records of the page that could not be read, mostly none: each
    /// [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord), with the record as [`raw_data`](Error::raw_data) and the
    /// path at which it does not fit as [`json_path`](Error::json_path).
    pub unreadable: Vec<Error>,
    /// Whether the list changed or repeated itself; mostly empty.
    pub notices: Vec<ListNotice>,
    /// Errors of the server beside the records; mostly empty.
    pub problems: Vec<ServerError>,
    /// Where this page starts.
    pub position: P,
    /// Where the next page starts; `None` on the last page, and on one behind which the list cannot be read further: then the next
    /// call of [`next_page`](super::Pager::next_page) is an error, without a request.
    pub next: Option<P>,
    /// The number of the page, from 1.
    pub number: u64,
    /// How many records come before this page, as the register counts (`Offset`); only of the register.
    pub offset: Option<u64>,
    /// The largest number of records of a page (`Limit`); only of the register.
    pub limit: Option<u64>,
    /// When the list changed last (`Last-Modified`), for [`search_since`](crate::register::Register::search_since); only of
    /// the register.
    pub last_modified: Option<SystemTime>,
    /// The cursors of the records; empty where records have none.
    pub(crate) cursors: Vec<Option<String>>,
    /// The JSON of the records, if it was requested.
    pub(crate) json: Vec<Box<str>>,
    /// How many records come before each place without one, and whether it has an unreadable one.
    pub(super) gaps: Vec<(usize, bool)>,
    /// Equal for two pages only if the list repeats itself.
    pub(crate) fingerprint: Option<u64>,
    /// How often its request was sent.
    pub(crate) attempts: u32,
    /// Why the list cannot be read further although it has not ended.
    pub(crate) stalled: Option<&'static str>,
}

impl<T, P> Page<T, P> {
    /// The page at a position, with nothing but its records.
    pub(crate) fn new(position: P, records: Vec<T>) -> Self {
        Self {
            records,
            total: None,
            total_drift: None,
            missing: 0,
            unreadable: Vec::new(),
            notices: Vec::new(),
            problems: Vec::new(),
            position,
            next: None,
            number: 0,
            offset: None,
            limit: None,
            last_modified: None,
            cursors: Vec::new(),
            json: Vec::new(),
            gaps: Vec::new(),
            fingerprint: None,
            attempts: 0,
            stalled: None,
        }
    }

    /// Sorts the places without a record (`gaps`, in order) into unreadable records and missing ones.
    pub(crate) fn set_gaps(&mut self, gaps: &[usize], unreadable: Vec<Unreadable>) {
        self.missing = gaps.len() - unreadable.len();
        let is_unreadable = |gap: &usize| {
            let found = unreadable.binary_search_by_key(gap, |record| record.index);
            found.is_ok()
        };
        let gaps = gaps.iter().enumerate();
        self.gaps = gaps
            .map(|(nth, gap)| (gap - nth, is_unreadable(gap)))
            .collect();
        self.unreadable = unreadable.into_iter().map(|record| record.error).collect();
    }

    /// The places without a record, in order: how many records come before each, and the error of [`unreadable`](Self::unreadable)
    /// that belongs there; `None` where the element is null.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::ops::ConsignmentFilter;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let mut pager = account.consignments(&ConsignmentFilter::default());
    /// let page = pager.next_page().await?.ok_or("no page")?;
    /// for (before, error) in page.gaps() {
    ///     println!("no record after {before}: {error:?}");
    /// }
    /// # assert_eq!(page.gaps().count(), 0);
    /// # Ok(()) });
    /// ```
    pub fn gaps(&self) -> impl Iterator<Item = (usize, Option<&Error>)> {
        let mut unreadable = self.unreadable.iter();
        let gaps = self.gaps.iter();
        gaps.map(move |(before, is_unreadable)| {
            let error = is_unreadable.then(|| unreadable.next()).flatten();
            (*before, error)
        })
    }
}

impl<T> Page<T> {
    /// The same with the JSON of each record.
    pub(super) fn received(self) -> Result<Page<AsReceived<T>>> {
        if self.json.len() != self.records.len() {
            let what = "a list of a document of your own is not given as received: let its type hold the JSON, as a RawValue of serde_json";
            return Err(Error::config(what));
        }
        let records = self.records.into_iter().zip(self.json);
        Ok(Page {
            records: records
                .map(|(typed, json)| AsReceived::new(typed, json))
                .collect(),
            total: self.total,
            total_drift: self.total_drift,
            missing: self.missing,
            unreadable: self.unreadable,
            notices: self.notices,
            problems: self.problems,
            position: self.position,
            next: self.next,
            number: self.number,
            offset: self.offset,
            limit: self.limit,
            last_modified: self.last_modified,
            cursors: self.cursors,
            json: Vec::new(),
            gaps: self.gaps,
            fingerprint: self.fingerprint,
            attempts: self.attempts,
            stalled: self.stalled,
        })
    }
}

debug_shows!(Page<T, P: std::fmt::Debug>, |it|
    number: it.number,
    records: it.records.len(),
    total: it.total,
    unreadable: it.unreadable,
    notices: it.notices,
    position: it.position,
    next: it.next,
);
