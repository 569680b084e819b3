//! The records of a list as a stream.

use std::future::poll_fn;
use std::iter::{self, Peekable};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;

use super::{ListPosition, Page, Pager};
use crate::error::{Error, Result};
use crate::model::{ListNotice, Position, ServerError};

/// The records of a list as a stream, from [`Pager::items`]. Only the current page and the look-ahead are in memory.
///
/// A record that cannot be decoded yields an error in its place ([`UnreadableRecord`](crate::ErrorKind::UnreadableRecord)), and
/// the stream continues after it. Any other error ends the stream.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::ops::ConsignmentFilter;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// let mut consignments = account.consignments(&ConsignmentFilter::default()).items();
/// while let Some(consignment) = consignments.next().await {
///     assert!(consignment?.number.is_some());
/// }
/// # Ok(()) });
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct Items<T, P = Position> {
    pager: Pager<T, P>,
    failed: bool,
    records: vec::IntoIter<T>,
    /// The cursors of the records; empty if records have none.
    cursors: vec::IntoIter<Option<String>>,
    /// The errors of unreadable records, each with the number of records before it.
    errors: Peekable<iter::Zip<vec::IntoIter<usize>, vec::IntoIter<Error>>>,
    /// The number of records of the page returned so far.
    returned: usize,
    position: P,
    /// The start of the following page.
    next: Option<P>,
    problems: Vec<ServerError>,
    notices: Vec<ListNotice>,
}

impl<T: Send + 'static, P: ListPosition> Items<T, P> {
    pub(super) fn new(pager: Pager<T, P>) -> Self {
        Self {
            position: pager.position().clone(),
            pager,
            failed: false,
            records: Vec::new().into_iter(),
            cursors: Vec::new().into_iter(),
            errors: iter::zip(Vec::new(), Vec::new()).peekable(),
            returned: 0,
            next: None,
            problems: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Returns the next record without a stream library.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no record is lost: the next call returns it.
    ///
    /// # Errors
    ///
    /// As [`Pager::next_page`], and [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord) for a record that cannot be read.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The position after the last returned record; after a failure, the start of the page that failed. If the server sends no
    /// cursor for a record, this is the start of its page, so a restart repeats the records of that page.
    pub fn position(&self) -> &P {
        &self.position
    }

    /// The server's errors in addition to the records of the current page; usually empty.
    pub fn problems(&self) -> &[ServerError] {
        &self.problems
    }

    /// Notices of changes and repetitions on the pages read so far; usually empty. Grows with the number of affected pages and
    /// repeated records.
    pub fn notices(&self) -> &[ListNotice] {
        &self.notices
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        loop {
            if let Some((cursor, record)) = self.next_of_page() {
                self.position.advance(cursor);
                let position = &self.position;
                return Poll::Ready(Some(record.map_err(|error| position.attach_to(error))));
            }
            if self.failed {
                return Poll::Ready(None);
            }
            match ready!(self.pager.poll_page(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    self.failed = true;
                    if let Some(next) = self.next.take() {
                        self.position = next;
                    }
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Ok(page)) => self.begin(page),
            }
        }
    }

    fn begin(&mut self, page: Page<T, P>) {
        self.records = page.records.into_iter();
        self.cursors = page.cursors.into_iter();
        let unreadable = page.gaps.iter().filter(|(_, is_unreadable)| *is_unreadable);
        let before: Vec<usize> = unreadable.map(|(before, _)| *before).collect();
        self.errors = iter::zip(before, page.unreadable).peekable();
        self.returned = 0;
        for _ in 0..page.position.skip() {
            self.next_of_page();
        }
        (self.position, self.next) = (page.position, page.next);
        self.problems = page.problems;
        self.notices.extend(page.notices);
    }

    /// The next record or error of the page, with the cursor of the record.
    fn next_of_page(&mut self) -> Option<(Option<String>, Result<T>)> {
        let returned = self.returned;
        if let Some((_, error)) = self.errors.next_if(|(before, _)| *before <= returned) {
            let behind = error.resume_from().and_then(Position::cursor);
            return Some((behind.map(str::to_owned), Err(error)));
        }
        self.returned += 1;
        let record = self.records.next()?;
        Some((self.cursors.next().flatten(), Ok(record)))
    }
}

impl<T: Send + Unpin + 'static, P: ListPosition> Stream for Items<T, P> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}

debug_shows!(Items<T, P: std::fmt::Debug>, |it| position: it.position);
