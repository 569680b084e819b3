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
    /// The records, in server order.
    pub records: Vec<T>,
    /// The total number of records on all pages, as stated by the server.
    pub total: Option<i64>,
    /// How much the total has grown (or shrunk, if negative) since the first page. If the list changes while it is read, a
    /// record may be missed or returned twice.
    pub total_drift: Option<i64>,
    /// The number of null elements where records were expected.
    pub missing: usize,
    /// The records of the page that could not be decoded; usually empty. Each is an
    /// [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord) error with the record as [`raw_data`](Error::raw_data) and the
    /// path of the mismatch as [`json_path`](Error::json_path).
    pub unreadable: Vec<Error>,
    /// Notices that the list changed or repeated itself; usually empty.
    pub notices: Vec<ListNotice>,
    /// The server's errors in addition to the records; usually empty.
    pub problems: Vec<ServerError>,
    /// The start of this page.
    pub position: P,
    /// The start of the next page. `None` on the last page, and if the list cannot be read any further: in that case, the next
    /// call of [`next_page`](super::Pager::next_page) fails without a request.
    pub next: Option<P>,
    /// The page number, starting at 1.
    pub number: u64,
    /// The number of records before this page, as the register counts them (`Offset`). Register only.
    pub offset: Option<u64>,
    /// The maximum number of records per page (`Limit`). Register only.
    pub limit: Option<u64>,
    /// When the list last changed (`Last-Modified`), for [`search_since`](crate::register::Register::search_since). Register
    /// only.
    pub last_modified: Option<SystemTime>,
    /// The cursors of the records; empty if records have none.
    pub(crate) cursors: Vec<Option<String>>,
    /// The JSON of the records, if it was requested.
    pub(crate) json: Vec<Box<str>>,
    /// For each gap, the number of records before it and whether it is an unreadable record.
    pub(super) gaps: Vec<(usize, bool)>,
    /// Equal for two pages only if the list repeats itself.
    pub(crate) fingerprint: Option<u64>,
    /// The number of times the page was requested.
    pub(crate) attempts: u32,
    /// Why the list cannot be read any further although it has not ended.
    pub(crate) stalled: Option<&'static str>,
}

impl<T, P> Page<T, P> {
    /// A page with records only.
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

    /// Classifies gaps (in order) as unreadable records or nulls.
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

    /// The gaps of the page, in order: the number of records before each, with the error from [`unreadable`](Self::unreadable),
    /// or `None` if the element is null.
    ///
    /// ```
    /// # test_support::example(async {
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
    /// This page with the JSON of each record.
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
