//! The pages of a search.
//!
//! Whether the first page has the index 0 or 1 is not shown. So the first request names none, and the second names 1: the
//! reply's `Offset` shows whether that is the second page or the first one again.

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;
use std::time::SystemTime;

use super::get_records::{GetRecords, Subset};
use super::if_modified::{IfModified, if_modified_since};
use super::page_position::PageRange;
use super::{OPERATION, PagePosition, PropertySearch, Register};
use crate::error::{Error, Result};
use crate::model::Property;
use crate::send::pages::{Page, PageRequest, Pager, RecordIdentity};
use crate::send::{Call, Settings};

type PropertyPage = Page<Property, PagePosition>;

impl Register {
    /// The properties that match, page by page or one by one; nothing is sent yet. A search without a match has one page
    /// without records.
    ///
    /// ```
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::register::{PropertySearch, Register};
    ///
    /// # equipment::example(async {
    /// # let fake = Fake::start().await;
    /// # let register = Register::builder(fake.register_url()).build()?;
    /// let mut pager = register.search(&PropertySearch::new().state("QLD").page_size(5));
    /// let mut seen = 0;
    /// while let Some(page) = pager.next_page().await? {
    ///     seen += page.records.len();
    /// }
    /// assert_eq!(seen, 14);
    ///
    /// let mut properties = register.search(&PropertySearch::text("yards")).items();
    /// while let Some(property) = properties.next().await {
    ///     assert!(property?.pic.is_some());
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Those of its pages: as [`Pager::next_page`], [`Config`](crate::ErrorKind::Config) when a value cannot match anything, and
    /// nothing is sent, and [`Protocol`](crate::ErrorKind::Protocol) when the register sends another page than the next one, or a
    /// `Total` that contradicts the records beside it.
    pub fn search(&self, search: &PropertySearch) -> Pager<Property, PagePosition> {
        let (register, search) = (
            self.clone(),
            search.checked(&self.0.status_codes).map(Arc::new),
        );
        let fetch = move |request: PageRequest<PagePosition>| {
            let (register, search) = (register.clone(), search.clone());
            Box::pin(async move { register.page(&*search?, request.position).await }) as _
        };
        Pager::new(OPERATION, 0, identity(), Box::new(fetch))
    }

    /// The same, if the register changed since a date. The first page is requested at once; the pager returns it first.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search), and [`Config`](crate::ErrorKind::Config) for a date before 1970 or after 9999.
    pub fn search_since(
        &self,
        search: &PropertySearch,
        date: SystemTime,
    ) -> Call<IfModified<Pager<Property, PagePosition>>> {
        let register = self.clone();
        let work = if_modified_since(date).and_then(|since| {
            let (search, index) = (
                search.checked(&self.0.status_codes)?,
                self.first_page_index(),
            );
            let get = GetRecords::new("search", Some(since));
            let request = Box::new(get.request(self.0.address.search(&search, index)));
            let send = move |request, settings: Arc<Settings>| async move {
                let reply = register.0.sender.send(&get, request, &settings).await?;
                reply.try_map(|subset| {
                    let range = PageRange::first(index, false, search.page_size, &subset)?;
                    let page = page(PagePosition::default(), range, subset);
                    Ok(register.search(&search).with_first_page(page))
                })
            };
            Ok((request, send))
        });
        Call::new(&self.0.sender, Arc::default(), work)
    }

    /// The page at a position; `None` after the last.
    async fn page(
        &self,
        search: &PropertySearch,
        position: PagePosition,
    ) -> Result<Option<PropertyPage>> {
        let Some(before) = &position.after else {
            let first = self.first_page_index();
            let (index, start) = (position.start.or(first), position.start);
            let subset = self.get_page(search, index).await?;
            let inside = start.is_some() && start != first;
            let range = PageRange::first(index, inside, search.page_size, &subset)?;
            return Ok(Some(page(position, range, subset)));
        };
        if before.size != search.page_size {
            return Err(Error::config(
                "the position belongs to a search with another page size",
            ));
        }
        if !before.has_next() {
            return Ok(None);
        }
        let (index, subset) = match before.index.or(self.first_page_index()) {
            Some(index) => {
                let next = index.saturating_add(1);
                (next, self.get_page(search, Some(next)).await?)
            }
            None => self.second_page(search, before).await?,
        };
        let range = before.next(index, &subset)?;
        Ok(range.map(|range| page(position, range, subset)))
    }

    /// The page after a first one that was requested without an index, and its index.
    async fn second_page(
        &self,
        search: &PropertySearch,
        first: &PageRange,
    ) -> Result<(u32, Subset)> {
        let subset = self.get_page(search, Some(1)).await?;
        let Some(offset) = subset.offset else {
            return Err(Error::protocol(
                "the register does not state the Offset of a page: name its first page in the profile, register.firstPageIndex",
            ));
        };
        if offset == first.offset {
            self.set_first_page_index(1);
            return Ok((2, self.get_page(search, Some(2)).await?));
        }
        if offset >= first.end() && !subset.records.is_empty() {
            self.set_first_page_index(0);
        }
        Ok((1, subset))
    }

    async fn get_page(&self, search: &PropertySearch, index: Option<u32>) -> Result<Subset> {
        let get = GetRecords::new("search", None);
        let request = Box::new(get.request(self.0.address.search(search, index)));
        let settings = Settings::default();
        let reply = self.0.sender.send(&get, request, &settings).await?;
        // Without a condition, there is always a value.
        Ok(reply.value().unwrap_or_default())
    }
}

/// What identifies a record: the register's number, or the PIC. The content is for a register that sends no `Offset`, which
/// would show that pages repeat.
fn identity() -> RecordIdentity<Property> {
    RecordIdentity {
        id: Arc::new(|record: &Property| match record.register_id {
            Some(id) => Some(id.to_string().into()),
            None => record.pic.as_deref().map(Cow::Borrowed),
        }),
        number: |record| record.register_id,
        content: Some(|record, hasher| {
            let named = (&record.pic, &record.name, &record.town);
            (record.register_id, named).hash(hasher);
        }),
    }
}

fn page(position: PagePosition, range: PageRange, subset: Subset) -> PropertyPage {
    let places = subset.records.iter().enumerate();
    let empty = places.filter(|(_, record)| record.is_none());
    let gaps: Vec<usize> = empty.map(|(place, _)| place).collect();
    let records = subset.records.into_iter().flatten();
    let mut page = Page::new(position, records.collect());
    page.set_gaps(&gaps, subset.unreadable);
    page.total = range.total.and_then(|total| i64::try_from(total).ok());
    (page.offset, page.limit) = (Some(range.offset), range.limit);
    page.last_modified = subset.last_modified;
    page.next = range.has_next().then(|| PagePosition::after(range));
    page
}
