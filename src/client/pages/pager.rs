//! Where a list stands, and its next page.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use graphql_client::GraphQLQuery;

use super::circle::Circle;
use super::flight::{Ahead, Flight, Leaf, Source, next_of};
use super::in_order::placed;
use super::walk::{EMPTY_PAGES, NOTHING_NEW, Walk};
use super::{Items, Page, Pages};
use crate::client::Client;
use crate::error::{Error, Kind, Result};
use crate::graphql::Outcome;
use crate::model::Position;

/// Reads a list page by page, from [`Account::consignments`](crate::Account::consignments) and
/// [`Account::templates`](crate::Account::templates).
///
/// Nothing is sent before the first page is asked for. While a page is worked on, the next ones are fetched already
/// ([`look_ahead`](Self::look_ahead)). A page is fetched by a task of its own: when the future of
/// [`next_page`](Self::next_page) is dropped, the next call goes on waiting for the same page. Tasks end with the pager.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use envd_sdk::ops::ConsignmentFilter;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// let mut pager = account.consignments(&ConsignmentFilter::default().page_size(5));
/// let (mut seen, mut total) = (0, None);
/// while let Some(page) = pager.next_page().await? {
///     seen += page.records.len();
///     total = page.total;
/// }
/// assert_eq!(Some(seen), total.and_then(|total| total.try_into().ok()));
/// # Ok(()) }
/// ```
#[must_use = "a pager does nothing until a page is asked for"]
pub struct Pager<T> {
    operation: &'static str,
    source: Source<T>,
    look_ahead: usize,
    max_empty_pages: u32,
    position: Position,
    /// The number of the page at the position, from 1.
    number: u64,
    first_total: Option<i64>,
    circle: Circle<String>,
    /// What identifies a record.
    id: fn(&T) -> Option<&str>,
    walk: Walk,
    state: State,
    flight: Option<Flight<T>>,
    ahead: Option<Ahead<T>>,
}

enum State {
    Open,
    /// The page before was the last that can be had; this is why.
    Stalled(&'static str),
    Ended,
}

impl<T: Send + 'static> Pager<T> {
    /// The pages of an operation of ours.
    pub(crate) fn new<Q>(
        client: &Client,
        operation: &'static str,
        variables: impl Fn(Option<String>) -> Q::Variables + Send + Sync + 'static,
        leaf: fn(Q::ResponseData) -> Option<Leaf<T>>,
        id: fn(&T) -> Option<&str>,
    ) -> Self
    where
        Q: GraphQLQuery,
        Q::ResponseData: Send + 'static,
    {
        Self {
            operation,
            source: Source::of::<Q>(client.clone(), operation, variables, leaf),
            // Two, so that a line of long round trips is busy while a page is worked on for as long as one takes.
            look_ahead: 2,
            max_empty_pages: EMPTY_PAGES,
            position: Position::start(),
            number: 1,
            first_total: None,
            circle: Circle::default(),
            id,
            walk: Walk::default(),
            state: State::Open,
            flight: None,
            ahead: None,
        }
    }

    /// How many pages are fetched beyond the one that is worked on; 2 unless set, 0 turns it off.
    ///
    /// However many they are, at most two are on the line at a time, and a page's request goes out when the beginning of
    /// the page before it has arrived.
    pub fn look_ahead(mut self, pages: usize) -> Self {
        self.look_ahead = pages;
        self
    }

    /// How many pages in a row may bring no new record before the list is given up with
    /// [`is_pagination_stalled`](Error::is_pagination_stalled); 20 unless set, and 0 counts as 1. New is a record whose id
    /// did not come before.
    pub fn max_empty_pages(mut self, pages: u32) -> Self {
        self.max_empty_pages = pages;
        self
    }

    /// Starts at a position that was kept, in place of the start of the list.
    pub fn start_at(mut self, position: Position) -> Self {
        self.position = position;
        self
    }

    /// Where the next page starts; after the end, where the last one started.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The next page; `None` after the last one.
    ///
    /// # Errors
    ///
    /// As [`Client::execute`](crate::Client::execute), and
    /// [`is_pagination_stalled`](Error::is_pagination_stalled) when the list does not come to an end. Each error says
    /// where to go on ([`resume_from`](Error::resume_from)), and the next call tries the same page again. A record that
    /// cannot be read is no error here: it is in [`Page::unreadable`].
    pub async fn next_page(&mut self) -> Result<Option<Page<T>>> {
        poll_fn(|context| self.poll_page(context)).await.transpose()
    }

    /// The pages as a stream.
    pub fn pages(self) -> Pages<T> {
        Pages::new(self)
    }

    /// The records as a stream.
    pub fn items(self) -> Items<T> {
        Items::new(self)
    }

    pub(super) fn poll_page(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Page<T>>>> {
        match std::mem::replace(&mut self.state, State::Open) {
            State::Open => {}
            State::Ended => {
                self.state = State::Ended;
                return Poll::Ready(None);
            }
            State::Stalled(what) => {
                let error = Error::new(Kind::Stalled(what)).with_operation(self.operation);
                return Poll::Ready(Some(self.failed(error)));
            }
        }
        if self.flight.is_none() {
            self.flight = Some(ready!(self.poll_flight(context)));
        }
        let Some(flight) = &mut self.flight else {
            return Poll::Pending;
        };
        let result = ready!(flight.poll(context));
        self.flight = None;
        Poll::Ready(Some(match result {
            Ok(outcome) => Ok(self.arrived(outcome)),
            Err(error) => self.failed(error),
        }))
    }

    /// The page at the position: one that is on its way, or a new request.
    fn poll_flight(&mut self, context: &mut Context<'_>) -> Poll<Flight<T>> {
        if let Some(ahead) = &mut self.ahead {
            match ready!(ahead.flights.poll_recv(context)) {
                Some(flight) if flight.position == self.position => return Poll::Ready(flight),
                // The beginning of the reply promised another cursor, or none.
                _ => self.ahead = None,
            }
        }
        let (flight, next) = self.source.launch(self.position.clone(), self.number);
        if self.look_ahead > 0 {
            self.ahead = Some(self.source.look_ahead(next, self.number, self.look_ahead));
        }
        Poll::Ready(flight)
    }

    fn failed(&mut self, error: Error) -> Result<Page<T>> {
        self.ahead = None;
        Err(error.with_resume_from(self.position.clone()))
    }

    fn arrived(&mut self, outcome: Outcome<Leaf<T>>) -> Page<T> {
        let Outcome {
            value: leaf,
            problems,
            unreadable,
            ..
        } = outcome;
        let next = self.follow(&leaf);
        let (before, unreadable) = placed(unreadable, &leaf.gaps);
        let ids = leaf.records.iter().map(self.id);
        let notices = self
            .walk
            .page(self.number, leaf.total, ids, !unreadable.is_empty());
        if matches!(self.state, State::Open) && self.walk.stalls(self.max_empty_pages) {
            self.state = State::Stalled(NOTHING_NEW);
        }
        self.first_total = self.first_total.or(leaf.total);
        let drift = |total: i64| Some(total.saturating_sub(self.first_total?));
        let page = Page {
            records: leaf.records,
            total: leaf.total,
            total_drift: leaf.total.and_then(drift),
            missing: leaf.gaps.len() - unreadable.len(),
            unreadable,
            notices,
            problems,
            position: self.position.clone(),
            next: next.clone(),
            number: self.number,
            cursors: leaf.cursors,
            before,
        };
        if let Some(next) = next {
            self.position = next;
            self.number += 1;
        }
        page
    }

    /// Where the next page starts. Without one the list is at its end, or cannot be read to its end.
    fn follow(&mut self, leaf: &Leaf<T>) -> Option<Position> {
        let more = leaf.info.as_ref().and_then(|info| info.has_next_page);
        let next = leaf.info.as_ref().and_then(next_of);
        self.state = match (more, &next) {
            (Some(false), _) => State::Ended,
            (None, _) => State::Stalled("the page does not say whether another one follows"),
            (Some(true), None) => State::Stalled("another page is announced without a cursor"),
            (Some(true), Some(next)) if *next == self.position => {
                State::Stalled("the cursor stands still")
            }
            (Some(true), Some(next)) => match next.cursor() {
                Some(cursor) if self.circle.closes(cursor) => {
                    State::Stalled("the cursors go in a circle")
                }
                _ => State::Open,
            },
        };
        next.filter(|_| matches!(self.state, State::Open))
    }
}

impl<T> fmt::Debug for Pager<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pager")
            .field("position", &self.position)
            .field("look_ahead", &self.look_ahead)
            .finish_non_exhaustive()
    }
}
