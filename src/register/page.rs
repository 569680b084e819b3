//! Pages of a search.
//!
//! Whether the first page has the number 0 or 1 is not shown (facts D.2). So the first request names none, and the second
//! names 1: the reply's `Offset` tells whether that was the second page or the first one once more.

use std::fmt;

use super::Register;
use super::envelope::{self, Found};
use super::query::Query;
use crate::error::{Error, Result};
use crate::model::Property;

/// A page of what a search found.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{Register, TextSearch};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> envd_sdk::Result<()> {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let first = register.search_text(&TextSearch::new("QLD").page_size(5)).await?;
/// assert_eq!(first.records().len(), 5);
/// let second = first.next_page().await?;
/// assert_eq!(second.map(|page| page.offset()), Some(5));
/// # Ok(())
/// # }
/// ```
pub struct PropertyPage {
    register: Register,
    query: Query,
    /// The number that the register was asked for; none for a first page.
    index: Option<u32>,
    /// The register's `Offset` of the first page.
    origin: u64,
    offset: u64,
    limit: Option<u64>,
    total: Option<u64>,
    records: Vec<Property>,
}

pub(super) async fn first(register: &Register, query: Query) -> Result<PropertyPage> {
    let index = register.first_page_index();
    let found = fetch(register, &query, index).await?;
    let offset = found.offset.unwrap_or_default();
    Ok(PropertyPage {
        register: register.clone(),
        query,
        index,
        origin: offset,
        offset,
        limit: found.limit,
        total: found.total,
        records: found.records.into_vec(),
    })
}

async fn fetch(register: &Register, query: &Query, index: Option<u32>) -> Result<Found> {
    let url = register.0.address.search(query, index);
    let reply = register.0.sender.get(url).await;
    reply
        .and_then(envelope::read)
        .map_err(|error| error.with_operation("PICRegister"))
}

impl PropertyPage {
    /// The properties of this page.
    #[must_use]
    pub fn records(&self) -> &[Property] {
        &self.records
    }

    /// The properties of this page, to keep.
    #[must_use]
    pub fn into_records(self) -> Vec<Property> {
        self.records
    }

    /// How many properties come before this page.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The largest number of properties of a page, if the register tells.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// How many properties the search found on all pages, if the register tells.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether there may be a next page.
    #[must_use]
    pub fn has_next(&self) -> bool {
        let end = self.end() - self.origin;
        !self.records.is_empty() && self.total.is_none_or(|total| end < total)
    }

    /// The next page; `None` after the last.
    ///
    /// # Errors
    ///
    /// [`is_protocol`](Error::is_protocol) when the register gives another page than the next one, such as the same again;
    /// else as for all calls, see [`Register`].
    pub async fn next_page(&self) -> Result<Option<Self>> {
        if !self.has_next() {
            return Ok(None);
        }
        let (index, found) = match self.index {
            Some(index) => {
                let next = index.saturating_add(1);
                (next, self.fetch(next).await?)
            }
            None => self.second().await?,
        };
        self.follow(index, found)
    }

    /// The page after a first one that was asked for without a number.
    async fn second(&self) -> Result<(u32, Found)> {
        if let Some(first) = self.register.first_page_index() {
            return Ok((first + 1, self.fetch(first + 1).await?));
        }
        let found = self.fetch(1).await?;
        let Some(offset) = found.offset else {
            return Err(Error::protocol(
                "the register does not say which page it gave; set first_page_index",
            ));
        };
        if offset == self.offset {
            self.register.found_first_page_index(1);
            return Ok((2, self.fetch(2).await?));
        }
        if offset >= self.end() && !found.records.is_empty() {
            self.register.found_first_page_index(0);
        }
        Ok((1, found))
    }

    async fn fetch(&self, index: u32) -> Result<Found> {
        fetch(&self.register, &self.query, Some(index)).await
    }

    /// Takes a reply as the next page only if it is that.
    fn follow(&self, index: u32, found: Found) -> Result<Option<Self>> {
        let total = found.total.or(self.total);
        let records = found.records.into_vec();
        if records.is_empty() {
            // Fewer may be found by now than there were before.
            let is_end = total.is_none_or(|total| self.end() - self.origin >= total);
            return if is_end {
                Ok(None)
            } else {
                Err(Error::protocol(
                    "the register gave an empty page before the last",
                ))
            };
        }
        // A page that is not full may be followed by one that starts after its full size.
        let end = self.end();
        let full = self.offset.saturating_add(self.limit.unwrap_or_default());
        let offset = found.offset.unwrap_or(end);
        if !(end..=full.max(end)).contains(&offset) || records == self.records {
            return Err(Error::protocol(
                "the register gave another page than the next",
            ));
        }
        Ok(Some(Self {
            register: self.register.clone(),
            query: self.query.clone(),
            index: Some(index),
            origin: self.origin,
            offset,
            limit: found.limit.or(self.limit),
            total,
            records,
        }))
    }

    /// The offset behind the last record.
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.records.len() as u64)
    }
}

impl fmt::Debug for PropertyPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PropertyPage")
            .field("offset", &self.offset)
            .field("limit", &self.limit)
            .field("total", &self.total)
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}
