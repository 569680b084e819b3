//! Reads a list page by page.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::stream;

use super::list_guard::{ListGuard, RecordIdentity};
use super::page_task::{Fetch, LookAhead, PageRequest, PageSource, PageTask, Run, Task};
use super::{Items, ListPosition, Page};
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::AsReceived;
use crate::model::Position;

/// The maximum number of consecutive pages without a new record. A server that filters after paging may send a few.
const EMPTY_PAGES: u32 = 20;

/// Reads a list page by page, from [`AccountClient::consignments`](crate::AccountClient::consignments),
/// [`AccountClient::templates`](crate::AccountClient::templates), [`Register::search`](crate::register::Register::search), or
/// [`Client::pager`](crate::Client::pager) for a document of your own.
///
/// No request is sent until the first page is requested. While the caller processes a page, the next pages are fetched
/// ([`look_ahead`](Self::look_ahead)). Dropping the pager cancels its requests.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::ops::ConsignmentFilter;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// let mut pager = account.consignments(&ConsignmentFilter::default().page_size(5));
/// let mut seen = 0;
/// let mut total = None;
/// while let Some(page) = pager.next_page().await? {
///     seen += page.records.len();
///     total = page.total;
/// }
/// assert_eq!(Some(seen), total.and_then(|total| total.try_into().ok()));
/// # Ok(()) });
/// ```
#[must_use = "a pager does nothing until a page is asked for"]
pub struct Pager<T, P = Position> {
    operation: &'static str,
    source: Arc<PageSource<T, P>>,
    identity: RecordIdentity<T>,
    guard: ListGuard,
    look_ahead: usize,
    /// How to fetch a page without look-ahead.
    run: Run,
    position: P,
    /// The number of the page at `position`, starting at 1.
    number: u64,
    ended: bool,
    /// Why the list could not be read beyond the previous page.
    stalled: Option<&'static str>,
    /// The number of times the previous page was requested.
    attempts: u32,
    current: Option<PageTask<T, P>>,
    ahead: Option<LookAhead<T, P>>,
}

impl<T: Send + 'static, P: ListPosition> Pager<T, P> {
    pub(crate) fn new(
        operation: &'static str,
        look_ahead: usize,
        identity: RecordIdentity<T>,
        fetch: Fetch<T, P>,
    ) -> Self {
        Self {
            operation,
            source: PageSource::new(fetch),
            identity,
            guard: ListGuard::default(),
            look_ahead,
            run: match look_ahead {
                0 => Run::WithCaller,
                _ => Run::InBackground,
            },
            position: P::default(),
            number: 1,
            ended: false,
            stalled: None,
            attempts: 0,
            current: None,
            ahead: None,
        }
    }

    /// The number of pages to fetch in advance; defaults to 2, or 0 for a search of the register. 0 disables it.
    ///
    /// At most two pages are in transfer at a time. With cursors, a page is requested once the beginning of the previous
    /// one has arrived. The register reveals the next position only when the previous page has been decoded.
    pub fn look_ahead(mut self, pages: usize) -> Self {
        self.look_ahead = pages;
        self
    }

    /// Sets how to identify a record in a document of your own. Without it, repeated records are not detected.
    pub fn record_id(mut self, id: fn(&T) -> Option<Cow<'_, str>>) -> Self {
        self.identity.id = Arc::new(id);
        self
    }

    /// Starts at a stored position instead of the start of the list.
    pub fn start_at(mut self, position: P) -> Self {
        self.guard.start_after(position.total_before());
        (self.position, self.number) = (position, 1);
        (self.ended, self.stalled) = (false, None);
        (self.current, self.ahead) = (None, None);
        self
    }

    /// The start of the next page; after the end, the start of the last page.
    pub fn position(&self) -> &P {
        &self.position
    }

    /// The number of pages requested so far, including [look-ahead](Self::look_ahead). Each is one request, not counting
    /// retries.
    pub fn requests(&self) -> u64 {
        self.source.requests()
    }

    /// Returns the next page, or `None` after the last one. An empty list has one page.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no page is lost: a task continues to fetch it, and the next call returns it. A search of the
    /// register without look-ahead uses no task: its request continues at the next call.
    ///
    /// # Errors
    ///
    /// As [`Client::execute`](crate::Client::execute) or [`Register`](crate::register::Register), and
    /// [`Stalled`](crate::ErrorKind::Stalled) if the list does not end. The next call requests the same page again.
    /// [`position`](Self::position) is its start, and for consignments and templates so is [`resume_from`](Error::resume_from)
    /// of the error. A record that cannot be decoded is not an error here: it is in [`Page::unreadable`].
    pub async fn next_page(&mut self) -> Result<Option<Page<T, P>>> {
        poll_fn(|context| self.poll_page(context)).await.transpose()
    }

    /// The pages as a stream, which ends after the last page or a failure. If it continued after failures, a caller that skips
    /// errors would send requests forever.
    ///
    /// # Errors
    ///
    /// As [`next_page`](Self::next_page).
    pub fn pages(self) -> impl Stream<Item = Result<Page<T, P>>> + Send + Unpin {
        Box::pin(stream::try_unfold(self, |mut pager| async move {
            let page = pager.next_page().await?;
            Ok(page.map(|page| (page, pager)))
        }))
    }

    /// The records as a stream.
    pub fn items(self) -> Items<T, P> {
        Items::new(self)
    }

    /// Sets the first page to return.
    pub(crate) fn with_first_page(mut self, page: Page<T, P>) -> Self {
        let page = Task::of_caller(std::future::ready(Ok(Some(page))));
        self.current = Some((self.position.clone(), page));
        self
    }

    pub(super) fn poll_page(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Page<T, P>>>> {
        if let Some(reason) = self.stalled.take() {
            let error = Error::said(ErrorKind::Stalled, reason).with_attempts(self.attempts);
            let error = self.failed(error);
            return Poll::Ready(Some(Err(error)));
        }
        if self.ended {
            return Poll::Ready(None);
        }
        let (position, mut task) = match self.current.take() {
            Some(current) => current,
            None => ready!(self.poll_task(context)),
        };
        let Poll::Ready(result) = Pin::new(&mut task).poll(context) else {
            self.current = Some((position, task));
            return Poll::Pending;
        };
        Poll::Ready(match result {
            Ok(Some(page)) => Some(Ok(self.noted(page))),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => Some(Err(self.failed(error))),
        })
    }

    /// The task for the page at the position: from the look-ahead, or a new one.
    fn poll_task(&mut self, context: &mut Context<'_>) -> Poll<PageTask<T, P>> {
        if let Some((tasks, _)) = &mut self.ahead {
            match ready!(tasks.poll_recv(context)) {
                Some(task) if task.0 == self.position => return Poll::Ready(task),
                // The position found early in the reply differs from that of the decoded page.
                _ => self.ahead = None,
            }
        }
        let run = match self.look_ahead {
            0 => self.run,
            _ => Run::InBackground,
        };
        let position = self.position.clone();
        let (task, next) = self.source.start(position, self.number, run);
        if self.look_ahead > 0 {
            self.ahead = Some(self.source.look_ahead(next, self.number, self.look_ahead));
        }
        Poll::Ready(task)
    }

    fn failed(&mut self, error: Error) -> Error {
        self.ahead = None;
        self.position
            .attach_to(error.with_operation(self.operation))
    }

    fn noted(&mut self, mut page: Page<T, P>) -> Page<T, P> {
        page.number = self.number;
        self.guard.add(&mut page, &self.identity);
        self.stalled = page.stalled;
        self.attempts = page.attempts;
        match &page.next {
            Some(next) => {
                self.position = next.clone();
                self.number += 1;
                if self.guard.has_only_empty_pages(EMPTY_PAGES) {
                    self.stalled =
                        Some("20 pages in a row had no new record, and another is announced");
                }
            }
            None => self.ended = page.stalled.is_none(),
        }
        page
    }
}

impl<T: Send + 'static> Pager<T> {
    /// The same list with each record as received: typed, and as JSON with the fields that this crate does not know.
    ///
    /// Pages, checks and errors are the same as without this: [`Page::unreadable`] has the records that cannot be decoded, and
    /// a list that does not end fails. Configure the pager, especially [`record_id`](Self::record_id), before or after. The
    /// count of [`requests`](Self::requests) starts again.
    ///
    /// ```
    /// # test_support::example(async {
    /// use std::collections::BTreeMap;
    /// use envd_sdk::ops::ConsignmentFilter;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let filter = ConsignmentFilter::default().page_size(5);
    /// let mut pager = account.consignments(&filter).received();
    /// let mut archive = BTreeMap::new();
    /// while let Some(page) = pager.next_page().await? {
    ///     for record in page.records {
    ///         let (record, json) = record.into_parts();
    ///         archive.insert(record.id.ok_or("no id")?, json);
    ///     }
    /// }
    /// assert!(pager.requests() > 1);
    /// assert!(archive.values().all(|json| json.starts_with('{')));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`next_page`](Self::next_page) fails as without this, and with [`Config`](crate::ErrorKind::Config) for a list of a
    /// [document of your own](crate::Client::pager): its type can include the JSON itself.
    #[doc(alias("raw", "json", "unknown fields"))]
    pub fn received(self) -> Pager<AsReceived<T>> {
        let source = self.source;
        let fetch = move |request| {
            let page = (source.fetch)(PageRequest {
                keeps_json: true,
                ..request
            });
            Box::pin(async move { page.await?.map(Page::received).transpose() }) as _
        };
        Pager {
            operation: self.operation,
            source: PageSource::new(Box::new(fetch)),
            identity: self.identity.received(),
            guard: self.guard,
            look_ahead: self.look_ahead,
            run: self.run,
            position: self.position,
            number: self.number,
            ended: self.ended,
            stalled: self.stalled,
            attempts: self.attempts,
            current: None,
            ahead: None,
        }
    }
}

debug_shows!(Pager<T, P: std::fmt::Debug>, |it|
    operation: it.operation,
    position: it.position,
    look_ahead: it.look_ahead,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_may_be_sent_and_shared_between_threads() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<Pager<u8>>();
    }
}
