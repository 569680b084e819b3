//! A list as a stream of pages or of records.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, iter, vec};

use futures_core::Stream;

use super::in_order::InOrder;
use super::{Page, Pager};
use crate::error::Result;
use crate::model::{ListNotice, Position, ServerError};

/// The pages of a list as a stream, from [`Pager::pages`].
///
/// It ends with the last page or with a failure, whose error says where to go on
/// ([`resume_from`](crate::Error::resume_from)).
#[must_use = "a stream does nothing until it is polled"]
pub struct Pages<T> {
    pager: Pager<T>,
    failed: bool,
}

impl<T: Send + 'static> Pages<T> {
    pub(super) fn new(pager: Pager<T>) -> Self {
        let failed = false;
        Self { pager, failed }
    }

    /// The next page, for those who use no stream library.
    pub async fn next(&mut self) -> Option<Result<Page<T>>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The pager, to be asked for its position, or for the same page again after a failure.
    pub fn into_pager(self) -> Pager<T> {
        self.pager
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Page<T>>>> {
        if self.failed {
            return Poll::Ready(None);
        }
        let page = ready!(self.pager.poll_page(context));
        // A stream that went on after a failure would send requests without end to those who skip errors.
        self.failed = matches!(page, Some(Err(_)));
        Poll::Ready(page)
    }
}

impl<T: Send + 'static> Stream for Pages<T> {
    type Item = Result<Page<T>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}

// The records are not pinned.
impl<T> Unpin for Pages<T> {}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pages").field(&self.pager).finish()
    }
}

/// The records of a list as a stream, from [`Pager::items`]. One page is held at a time, and what the look-ahead brings.
///
/// A record that cannot be read is an error in its place ([`is_unreadable_record`](crate::Error::is_unreadable_record)),
/// and the stream goes on behind it; after any other error it ends.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use envd_sdk::ops::ConsignmentFilter;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// let mut consignments = account.consignments(&ConsignmentFilter::default()).items();
/// while let Some(consignment) = consignments.next().await {
///     assert!(consignment?.number.is_some());
/// }
/// # Ok(()) }
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct Items<T> {
    pages: Pages<T>,
    left: InOrder<iter::Zip<vec::IntoIter<Option<String>>, vec::IntoIter<T>>>,
    position: Position,
    problems: Vec<ServerError>,
    notices: Vec<ListNotice>,
}

impl<T: Send + 'static> Items<T> {
    pub(super) fn new(pager: Pager<T>) -> Self {
        Self {
            position: pager.position().clone(),
            pages: Pages::new(pager),
            left: InOrder::new(iter::zip(Vec::new(), Vec::new()), Vec::new(), Vec::new()),
            problems: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The next record, for those who use no stream library.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// Adds records to a list until it has so many or there are no more; tells whether there may be more. What was read
    /// before a failure stays in the list.
    ///
    /// # Errors
    ///
    /// As [`Pager::next_page`], and [`is_unreadable_record`](crate::Error::is_unreadable_record) for a record that cannot
    /// be read; the next call goes on behind it.
    pub async fn collect_up_to(&mut self, limit: usize, records: &mut Vec<T>) -> Result<bool> {
        while records.len() < limit {
            match self.next().await {
                Some(record) => records.push(record?),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Where to go on after the record that came last. Where the server gave it no cursor, this is the start of its
    /// page, whose records then come again.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// What the server said beside the records of the current page; mostly empty.
    #[must_use]
    pub fn problems(&self) -> &[ServerError] {
        &self.problems
    }

    /// Whether the list changed or repeated itself on the pages read so far; mostly empty. It grows with the number of
    /// pages on which that happened and of records that came again.
    #[must_use]
    pub fn notices(&self) -> &[ListNotice] {
        &self.notices
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        loop {
            match self.left.next() {
                Some(Ok((cursor, record))) => {
                    if let Some(cursor) = cursor {
                        self.position = Position::after(cursor);
                    }
                    return Poll::Ready(Some(Ok(record)));
                }
                Some(Err(error)) => {
                    if let Some(behind) = error.resume_from() {
                        self.position = behind.clone();
                    }
                    let error = error.with_resume_from(self.position.clone());
                    return Poll::Ready(Some(Err(error)));
                }
                None => {}
            }
            match ready!(self.pages.poll(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(page)) => {
                    self.position = page.position;
                    self.problems = page.problems;
                    self.notices.extend(page.notices);
                    let records = iter::zip(page.cursors, page.records);
                    self.left = InOrder::new(records, page.before, page.unreadable);
                }
            }
        }
    }
}

impl<T: Send + 'static> Stream for Items<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}

// The records are not pinned.
impl<T> Unpin for Items<T> {}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
