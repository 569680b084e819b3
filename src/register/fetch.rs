//! Fetches the page at a position.
//!
//! Whether the first page has the number 0 or 1 is not shown. So the first request names none, and the second
//! names 1: the reply's `Offset` tells whether that was the second page or the first one once more.

use std::sync::Arc;
use std::time::SystemTime;

use super::cursor::Cursor;
use super::envelope::Found;
use super::if_modified::IfModified;
use super::operation::Get;
use super::terms::Query;
use super::{PagePosition, PropertyPage, Register};
use crate::client::placed;
use crate::error::{Error, Result};
use crate::send::Settings;
use crate::transport::header::HeaderValue;

/// A request for a page.
pub(super) struct Fetch {
    pub(super) register: Register,
    pub(super) query: Arc<Query>,
    pub(super) since: Option<HeaderValue>,
}

type Dated = (Found, Option<SystemTime>);

impl Fetch {
    /// The page at a position; `Changed(None)` after the last.
    pub(super) async fn page(self, at: PagePosition) -> Result<IfModified<Option<PropertyPage>>> {
        let size = self.query.page_size;
        let Some(before) = &at.after else {
            let first = self.register.first_page_index();
            let index = at.start.or(first);
            let Some(dated) = self.get(index).await? else {
                return Ok(IfModified::Unchanged);
            };
            let inside = at.start.is_some() && at.start != first;
            let cursor = Cursor::first(index, inside, size, &dated.0)?;
            return Ok(page(at, cursor, dated));
        };
        if before.size != size {
            return Err(Error::config(
                "the position belongs to a search with another page size",
            ));
        }
        if !before.has_next() {
            return Ok(IfModified::changed(None, None));
        }
        let next = match before.index {
            Some(index) => {
                let next = index.saturating_add(1);
                self.get(Some(next)).await?.map(|dated| (next, dated))
            }
            None => self.second(before).await?,
        };
        let Some((index, dated)) = next else {
            return Ok(IfModified::Unchanged);
        };
        Ok(match before.follow(index, &dated.0)? {
            Some(cursor) => page(at, cursor, dated),
            None => IfModified::changed(None, dated.1),
        })
    }

    /// The page after a first one that was asked for without a number, and its number.
    async fn second(&self, first: &Cursor) -> Result<Option<(u32, Dated)>> {
        if let Some(index) = self.register.first_page_index() {
            return Ok(self
                .get(Some(index + 1))
                .await?
                .map(|dated| (index + 1, dated)));
        }
        let Some(dated) = self.get(Some(1)).await? else {
            return Ok(None);
        };
        let Some(offset) = dated.0.offset else {
            return Err(Error::protocol(
                "the register does not say which page it gave; set first_page_index",
            ));
        };
        if offset == first.offset {
            self.register.found_first_page_index(1);
            return Ok(self.get(Some(2)).await?.map(|dated| (2, dated)));
        }
        if offset >= first.end() && dated.0.count() > 0 {
            self.register.found_first_page_index(0);
        }
        Ok(Some((1, dated)))
    }

    /// The page of this number; `None` when it did not change.
    async fn get(&self, index: Option<u32>) -> Result<Option<Dated>> {
        let inner = &self.register.0;
        let get = Get {
            kind: "search",
            since: self.since.clone(),
        };
        let request = get.request(inner.address.search(&self.query, index));
        let settings = Settings::default();
        Ok(match inner.sender.send(&get, request, &settings).await? {
            IfModified::Unchanged => None,
            IfModified::Changed {
                value,
                last_modified,
            } => Some((value, last_modified)),
        })
    }
}

fn page(position: PagePosition, cursor: Cursor, dated: Dated) -> IfModified<Option<PropertyPage>> {
    let (found, last_modified) = dated;
    let gaps = found.records.null_positions();
    let missing = gaps.len() - found.unreadable.len();
    let (before, unreadable) = placed(found.unreadable, gaps);
    let page = PropertyPage {
        offset: cursor.offset,
        limit: cursor.limit,
        total: cursor.total,
        missing,
        unreadable,
        // A page does not know what came before it.
        notices: Vec::new(),
        records: found.records.into_vec(),
        last_modified,
        position,
        next: cursor.has_next().then(|| PagePosition::behind(cursor)),
        before,
    };
    IfModified::changed(Some(page), last_modified)
}
