//! Pages of a search.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::cursor::Cursor;
use crate::error::Error;
use crate::model::{ListNotice, Property};

/// A page of what a search found. `Debug` does not show the records.
#[derive(Clone)]
#[non_exhaustive]
pub struct PropertyPage {
    /// The properties, in the order of the register.
    pub records: Vec<Property>,
    /// How many properties come before this page, as the register counts (`Offset`).
    pub offset: u64,
    /// The largest number of properties of a page, if the register tells.
    pub limit: Option<u64>,
    /// How many properties the search found on all pages, if the register tells.
    pub total: Option<u64>,
    /// How many places of the page hold no record: the register sent null.
    pub missing: usize,
    /// The records of the page that could not be read, mostly none: each
    /// [`is_unreadable_record`](Error::is_unreadable_record), with the record as [`raw_data`](Error::raw_data) and the
    /// place where it does not fit as [`json_path`](Error::json_path).
    pub unreadable: Vec<Error>,
    /// Whether what was found changed or repeated itself meanwhile; mostly empty.
    pub notices: Vec<ListNotice>,
    /// When the register says that it changed last (`Last-Modified`); for
    /// [`next_page_since`](super::Search::next_page_since).
    pub last_modified: Option<SystemTime>,
    /// Where this page starts.
    pub position: PagePosition,
    /// Where the next page starts; `None` on the last page.
    pub next: Option<PagePosition>,
    /// How many records come before each unreadable one.
    pub(super) before: Vec<usize>,
}

/// A place in what a search found, to go on from later: [`Search::start_at`](super::Search::start_at).
///
/// It can be stored with serde. It holds numbers only, nothing of what was searched for, and means something only for the
/// same search with the same page size. What the register adds or takes away meanwhile moves the pages.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{PagePosition, Register, TextSearch};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let words = TextSearch::new("QLD");
/// let mut search = register.search(&words).page_size(5);
/// search.next_page().await?;
/// let kept = serde_json::to_string(search.position())?;
///
/// let position: PagePosition = serde_json::from_str(&kept)?;
/// let mut later = register.search(&words).page_size(5).start_at(position);
/// let second = later.next_page().await?;
/// assert_eq!(second.map(|page| page.offset), Some(5));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PagePosition {
    /// The number of the page to begin with, where nothing was read yet.
    pub(super) start: Option<u32>,
    pub(super) after: Option<Cursor>,
    /// How many records of the page were handed out already, unreadable ones included.
    pub(super) skip: usize,
}

impl PagePosition {
    pub(super) fn behind(cursor: Cursor) -> Self {
        Self {
            start: None,
            after: Some(cursor),
            skip: 0,
        }
    }
}

impl fmt::Debug for PropertyPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PropertyPage")
            .field("records", &self.records.len())
            .field("offset", &self.offset)
            .field("limit", &self.limit)
            .field("total", &self.total)
            .field("unreadable", &self.unreadable)
            .field("notices", &self.notices)
            .finish_non_exhaustive()
    }
}
