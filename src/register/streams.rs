//! A search as a stream of pages or of properties.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, vec};

use futures_core::Stream;

use super::{PagePosition, PropertyPage, Search};
use crate::client::InOrder;
use crate::error::Result;
use crate::model::{ListNotice, Property};

/// The pages of a search as a stream, from [`Search::pages`]. It ends with the last page or with a failure.
#[derive(Debug)]
#[must_use = "a stream does nothing until it is polled"]
pub struct Pages {
    search: Search,
    failed: bool,
}

impl Pages {
    pub(super) fn new(search: Search) -> Self {
        let failed = false;
        Self { search, failed }
    }

    /// The next page, for those who use no stream library.
    pub async fn next(&mut self) -> Option<Result<PropertyPage>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The search, to be asked for its position, or for the same page again after a failure.
    pub fn into_search(self) -> Search {
        self.search
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<PropertyPage>>> {
        if self.failed {
            return Poll::Ready(None);
        }
        let page = ready!(self.search.poll_page(context));
        // A stream that went on after a failure would send requests without end to those who skip errors.
        self.failed = matches!(page, Some(Err(_)));
        Poll::Ready(page)
    }
}

impl Stream for Pages {
    type Item = Result<PropertyPage>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}

/// The properties of a search as a stream, from [`Search::items`]. One page is held at a time.
///
/// A record that cannot be read is an error in its place ([`is_unreadable_record`](crate::Error::is_unreadable_record)),
/// and the stream goes on behind it; after any other error it ends.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{Register, TextSearch};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> envd_sdk::Result<()> {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let mut properties = register.search(TextSearch::new("yards")).items();
/// while let Some(property) = properties.next().await {
///     assert!(property?.pic.is_some());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct Items {
    pages: Pages,
    left: InOrder<vec::IntoIter<Property>>,
    position: PagePosition,
    notices: Vec<ListNotice>,
}

impl Items {
    pub(super) fn new(search: Search) -> Self {
        Self {
            position: search.position().clone(),
            pages: Pages::new(search),
            left: InOrder::new(Vec::new().into_iter(), Vec::new(), Vec::new()),
            notices: Vec::new(),
        }
    }

    /// The next property, for those who use no stream library.
    pub async fn next(&mut self) -> Option<Result<Property>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// Where to go on after the property that came last, also after a failure.
    #[must_use]
    pub fn position(&self) -> &PagePosition {
        &self.position
    }

    /// Whether what was found changed or repeated itself on the pages read so far; mostly empty. It grows with the number
    /// of pages on which that happened and of records that came again.
    #[must_use]
    pub fn notices(&self) -> &[ListNotice] {
        &self.notices
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Property>>> {
        loop {
            if let Some(property) = self.left.next() {
                self.position.skip += 1;
                return Poll::Ready(Some(property));
            }
            match ready!(self.pages.poll(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    // The page that failed, if the one before was handed out.
                    let next = self.pages.search.position();
                    if next.after != self.position.after {
                        self.position = next.clone();
                    }
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Ok(page)) => {
                    let records = page.records.into_iter();
                    self.left = InOrder::new(records, page.before, page.unreadable);
                    self.left.by_ref().take(page.position.skip).for_each(drop);
                    self.position = page.position;
                    self.notices.extend(page.notices);
                }
            }
        }
    }
}

impl Stream for Items {
    type Item = Result<Property>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
