//! A search, read page by page.

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use super::fetch::Fetch;
use super::if_modified::{IfModified, if_modified_since};
use super::mark::mark;
use super::terms::Query;
use super::{Items, OPERATION, PagePosition, Pages, PropertyPage, Register, Terms};
use crate::auth::BoxFuture;
use crate::client::{Circle, EMPTY_PAGES, NOTHING_NEW, Walk};
use crate::error::{Error, Kind, Result};
use crate::model::Property;
use crate::transport::header::HeaderValue;

/// A search and where it stands, from [`Register::search`]. Nothing is sent before the first page is asked for.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{FieldSearch, Register};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> envd_sdk::Result<()> {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let mut search = register.search(FieldSearch::new().state("QLD")).page_size(5);
/// let mut seen = 0;
/// while let Some(page) = search.next_page().await? {
///     seen += page.records.len();
/// }
/// assert_eq!(seen, 14);
/// # Ok(())
/// # }
/// ```
#[must_use = "a search does nothing until a page is asked for"]
pub struct Search {
    register: Register,
    terms: Terms,
    page_size: Option<u32>,
    checked: bool,
    /// Made from the three above when the first page is asked for.
    query: Option<Arc<Query>>,
    position: PagePosition,
    max_empty_pages: u32,
    circle: Circle<u64>,
    walk: Walk,
    /// How many pages were read.
    pages: u64,
    /// Too many pages had no new record: the next call says so.
    stalled: bool,
    ended: bool,
    flight: Option<BoxFuture<'static, Result<Option<PropertyPage>>>>,
}

impl Search {
    pub(super) fn new(register: Register, terms: Terms) -> Self {
        Self {
            register,
            terms,
            page_size: None,
            checked: true,
            query: None,
            position: PagePosition::default(),
            max_empty_pages: EMPTY_PAGES,
            circle: Circle::default(),
            walk: Walk::default(),
            pages: 0,
            stalled: false,
            ended: false,
            flight: None,
        }
    }

    /// The number of records of a page, at least 1 (`pagesize`); the register's choice unless set. It may give fewer.
    #[doc(alias = "pagesize")]
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = Some(records);
        self.query = None;
        self
    }

    /// The page to begin with (`pageindex`), as the register counts: whether from 0 or 1 is not shown.
    #[doc(alias = "pageindex")]
    pub fn page_index(self, index: u32) -> Self {
        self.start_at(PagePosition {
            start: Some(index),
            ..PagePosition::default()
        })
    }

    /// Begins at a position that was kept.
    pub fn start_at(mut self, position: PagePosition) -> Self {
        let before = position.after.as_ref().and_then(|cursor| cursor.total);
        (self.circle, self.walk) = (Circle::default(), Walk::after(before.and_then(count)));
        (self.position, self.pages) = (position, 0);
        (self.stalled, self.ended, self.flight) = (false, false, None);
        self
    }

    /// How many pages in a row may bring no new record before the search is given up with
    /// [`is_pagination_stalled`](Error::is_pagination_stalled); 20 unless set, and 0 counts as 1. New is a record whose
    /// register id, or PIC where it has none, did not come before.
    pub fn max_empty_pages(mut self, pages: u32) -> Self {
        self.max_empty_pages = pages;
        self
    }

    /// Sends all values as they are, also those that the specification does not allow, such as a postcode of three digits.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self.query = None;
        self
    }

    /// Where the next page starts; after the end, where the last one started.
    #[must_use]
    pub fn position(&self) -> &PagePosition {
        &self.position
    }

    /// The next page; `None` after the last one. A search that finds nothing has one page without records.
    ///
    /// When the future is dropped, the next call goes on waiting for the same page. After a failure the next call asks for
    /// the same page again.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when a value cannot be searched for, and nothing was sent;
    /// [`is_protocol`](Error::is_protocol) when the register gives another page than the next one, such as the same again,
    /// or a `Total` that contradicts the records beside it; [`is_pagination_stalled`](Error::is_pagination_stalled) after
    /// [`max_empty_pages`](Self::max_empty_pages); else as for all calls, see [`Register`]. A record that cannot be read is
    /// no error here: it is in [`PropertyPage::unreadable`].
    pub async fn next_page(&mut self) -> Result<Option<PropertyPage>> {
        poll_fn(|context| self.poll_page(context)).await.transpose()
    }

    /// The next page, usually the first, if the register changed since a date. The search stays where it is if not.
    ///
    /// # Errors
    ///
    /// As [`next_page`](Self::next_page), and [`is_config`](Error::is_config) for a date before 1970 or after 9999.
    pub async fn next_page_since(
        &mut self,
        date: SystemTime,
    ) -> Result<IfModified<Option<PropertyPage>>> {
        let since = if_modified_since(date)?;
        let outcome = self.page_since(since).await;
        outcome.map_err(|error| error.with_operation(OPERATION))
    }

    async fn page_since(&mut self, since: HeaderValue) -> Result<IfModified<Option<PropertyPage>>> {
        if self.ended {
            return Ok(IfModified::changed(None, None));
        }
        self.flight = None;
        let fetch = self.fetch(Some(since))?;
        match fetch.page(self.position.clone()).await? {
            IfModified::Unchanged => Ok(IfModified::Unchanged),
            IfModified::Changed {
                value,
                last_modified,
            } => {
                let page = self.arrived(value).transpose()?;
                Ok(IfModified::changed(page, last_modified))
            }
        }
    }

    /// The pages as a stream.
    pub fn pages(self) -> Pages {
        Pages::new(self)
    }

    /// The properties as a stream.
    pub fn items(self) -> Items {
        Items::new(self)
    }

    pub(super) fn poll_page(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<PropertyPage>>> {
        let page = ready!(self.poll_next(context));
        Poll::Ready(page.map(|page| page.map_err(|error| error.with_operation(OPERATION))))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<PropertyPage>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.flight.is_none() {
            match self.fetch(None) {
                Ok(fetch) => {
                    let position = self.position.clone();
                    let page = async move { Ok(fetch.page(position).await?.value().flatten()) };
                    self.flight = Some(Box::pin(page));
                }
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        let Some(flight) = &mut self.flight else {
            return Poll::Pending;
        };
        let outcome = ready!(flight.as_mut().poll(context));
        self.flight = None;
        Poll::Ready(match outcome {
            Ok(page) => self.arrived(page),
            Err(error) => Some(Err(error)),
        })
    }

    fn fetch(&mut self, since: Option<HeaderValue>) -> Result<Fetch> {
        if std::mem::take(&mut self.stalled) {
            return Err(Error::new(Kind::Stalled(NOTHING_NEW)));
        }
        let query = if let Some(query) = &self.query {
            Arc::clone(query)
        } else {
            let query = self.terms.query(self.page_size);
            let query = if self.checked {
                query.checked()?
            } else {
                query
            };
            Arc::clone(self.query.insert(Arc::new(query)))
        };
        Ok(Fetch {
            register: self.register.clone(),
            query,
            since,
        })
    }

    fn arrived(&mut self, page: Option<PropertyPage>) -> Option<Result<PropertyPage>> {
        let Some(mut page) = page else {
            self.ended = true;
            return None;
        };
        if !page.records.is_empty() && self.circle.closes(&mark(&page.records)) {
            return Some(Err(Error::protocol(
                "the register gave a page that was there before",
            )));
        }
        self.pages += 1;
        let (total, other) = (page.total.and_then(count), !page.unreadable.is_empty());
        let ids = page.records.iter().map(id);
        page.notices = self.walk.page(self.pages, total, ids, other);
        match &page.next {
            Some(next) => {
                self.position = next.clone();
                self.stalled = self.walk.stalls(self.max_empty_pages);
            }
            None => self.ended = true,
        }
        Some(Ok(page))
    }
}

fn count(total: u64) -> Option<i64> {
    i64::try_from(total).ok()
}

/// What identifies a record.
fn id(record: &Property) -> Option<Cow<'_, str>> {
    match record.register_id {
        Some(id) => Some(id.to_string().into()),
        None => record.pic.as_deref().map(Cow::Borrowed),
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("terms", &self.terms)
            .field("page_size", &self.page_size)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
