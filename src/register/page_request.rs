//! The pages of a search, positions in it, and the checks that pages follow each other.
//!
//! The specification does not say whether the first page has the index 0 or 1. So the first request has no index, and the second
//! has index 1. The `Offset` of that reply shows whether it is the second page or the first page again.

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::get_records::GetRecords;
use super::if_modified::{IfModified, if_modified_since};
use super::replies::Subset;
use super::{OPERATION, PropertySearch, Register};
use crate::error::{Error, Result};
use crate::model::Property;
use crate::send::pages::{ListPosition, Page, PageRequest, Pager, RecordIdentity};
use crate::send::{Call, Settings};

/// A position in a search result, from which to resume: [`Pager::start_at`](crate::Pager::start_at).
///
/// It can be stored with serde. It has only numbers and no search values, and is valid only for the same search with the same
/// page size. If the register adds or removes records meanwhile, the pages shift.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{PagePosition, PropertySearch, Register};
///
/// # test_support::example(async {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let search = PropertySearch::text("QLD").page_size(5);
/// let mut pager = register.search(&search);
/// pager.next_page().await?;
/// let stored = serde_json::to_string(pager.position())?;
///
/// let position: PagePosition = serde_json::from_str(&stored)?;
/// let second = register.search(&search).start_at(position).next_page().await?;
/// assert_eq!(second.and_then(|page| page.offset), Some(5));
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PagePosition {
    /// The `pageindex` to start with, if no page has been read.
    pub(super) start: Option<u32>,
    /// The last page that was read.
    pub(super) after: Option<PageRange>,
    /// The number of records on the page at this position that were already returned, including unreadable ones.
    skip: usize,
}

impl PagePosition {
    /// The page with this `pageindex`, in the register's numbering, which may start from 0 or 1.
    #[doc(alias = "pageindex")]
    pub fn from_index(index: u32) -> Self {
        Self {
            start: Some(index),
            ..Self::default()
        }
    }

    /// The page after this one.
    pub(super) fn after(page: PageRange) -> Self {
        Self {
            after: Some(page),
            ..Self::default()
        }
    }
}

impl ListPosition for PagePosition {
    fn advance(&mut self, _: Option<String>) {
        self.skip += 1;
    }

    fn skip(&self) -> usize {
        self.skip
    }

    fn total_before(&self) -> Option<i64> {
        i64::try_from(self.after.as_ref()?.total?).ok()
    }
}

/// The range of records on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageRange {
    /// The `pageindex` of the request; `None` for a first page requested without it.
    pub(super) index: Option<u32>,
    pub(super) offset: u64,
    count: u64,
    pub(super) limit: Option<u64>,
    pub(super) total: Option<u64>,
    /// The register's `Offset` of the first record; `None` if the search started inside the result and no reply has shown it.
    origin: Option<u64>,
    /// The page size of the request, without which an index is meaningless.
    pub(super) size: Option<u32>,
}

impl PageRange {
    /// The first page that is read; `inside` if it may not be the first page of the result.
    pub(super) fn first(
        index: Option<u32>,
        inside: bool,
        size: Option<u32>,
        subset: &Subset,
    ) -> Result<Self> {
        let offset = subset.offset.unwrap_or_default();
        let origin = match subset.limit {
            // Records may be counted from 0 or 1; the offset of a full page shows which.
            Some(limit) if inside && limit > 1 => Some(u64::from(offset % limit == 1)),
            _ if inside => None,
            _ => Some(offset),
        };
        let first = Self {
            index,
            offset,
            count: subset.length() as u64,
            limit: subset.limit,
            total: subset.total,
            origin,
            size,
        };
        if !inside || subset.offset.is_some() {
            first.check_total(subset.total)?;
        }
        Ok(first)
    }

    /// Rejects a page that contradicts its own `Total`: accepting it would end the search too early.
    fn check_total(&self, total: Option<u64>) -> Result<()> {
        let Some(total) = total else {
            return Ok(());
        };
        let end = self.records_to_end();
        if self.count == 0 && end < total {
            return Err(empty_before(total));
        }
        // If the origin is unknown, 0 is assumed; the end is then one too high if records are counted from 1.
        if self.count > 0 && end > total.saturating_add(u64::from(self.origin.is_none())) {
            return Err(Error::protocol(format!(
                "the register sent records up to number {end} with a Total of {total}"
            )));
        }
        Ok(())
    }

    /// The number of records up to the end of this page.
    fn records_to_end(&self) -> u64 {
        self.end().saturating_sub(self.origin.unwrap_or_default())
    }

    /// The offset after the last record.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.count)
    }

    pub(super) fn has_next(&self) -> bool {
        self.count > 0 && self.total.is_none_or(|total| self.records_to_end() < total)
    }

    /// The range of the next page, checked against this one. `None` if the page is empty and no record is missing.
    pub(super) fn next(&self, index: u32, subset: &Subset) -> Result<Option<Self>> {
        let total = subset.total.or(self.total);
        let end = self.end();
        if subset.length() == 0 {
            // The result may have shrunk.
            return match total {
                Some(total) if self.records_to_end() < total => Err(empty_before(total)),
                _ => Ok(None),
            };
        }
        // After a partly filled page, the next page may start after the full page size.
        let full = self.offset.saturating_add(self.limit.unwrap_or_default());
        let offset = subset.offset.unwrap_or(end);
        if !(end..=full.max(end)).contains(&offset) {
            return Err(Error::protocol(
                "the register sent another page than the next",
            ));
        }
        let next = Self {
            index: Some(index),
            offset,
            count: subset.length() as u64,
            limit: subset.limit.or(self.limit),
            total,
            ..*self
        };
        next.check_total(subset.total)?;
        Ok(Some(next))
    }
}

fn empty_before(total: u64) -> Error {
    Error::protocol(format!(
        "the register sent an empty page before the last, with a Total of {total}"
    ))
}

type PropertyPage = Page<Property, PagePosition>;

impl Register {
    /// The matching properties, page by page or one by one. Nothing is sent until the first page is requested. A search without
    /// matches has one empty page.
    ///
    /// ```
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::register::{PropertySearch, Register};
    ///
    /// # test_support::example(async {
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
    /// Those of its pages: as [`Pager::next_page`]; [`Config`](crate::ErrorKind::Config), with nothing sent, if a value cannot
    /// match anything; and [`Protocol`](crate::ErrorKind::Protocol) if the register skips or repeats a page, or sends a `Total`
    /// that contradicts the records in the same reply.
    pub fn search(&self, search: &PropertySearch) -> Pager<Property, PagePosition> {
        let register = self.clone();
        let search = search.checked(&self.0.status_codes).map(Arc::new);
        let fetch = move |request: PageRequest<PagePosition>| {
            let register = register.clone();
            let search = search.clone();
            Box::pin(async move { register.page(&*search?, request.position).await }) as _
        };
        Pager::new(OPERATION, 0, identity(), Box::new(fetch))
    }

    /// As [`search`](Self::search), but only if the register changed since a date. The first page is requested at once; the pager
    /// returns it first.
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
            let search = search.checked(&self.0.status_codes)?;
            let index = self.first_page_index();
            let get = GetRecords::search(Some(since), Arc::clone(&self.0.known));
            let request = Box::new(get.request(self.0.address.search(&search, index)));
            let send = move |request, settings: Arc<Settings>| async move {
                let exchanged = get.send(&register.0.sender, request, &settings).await?;
                exchanged.try_map(|reply| {
                    reply.try_map(|subset| {
                        let range = PageRange::first(index, false, search.page_size, &subset)?;
                        let page = page(PagePosition::default(), range, subset);
                        Ok(register.search(&search).with_first_page(page))
                    })
                })
            };
            Ok((request, send))
        });
        Call::new(&self.0.sender, Arc::default(), work)
    }

    /// The page at a position; `None` after the last page.
    async fn page(
        &self,
        search: &PropertySearch,
        position: PagePosition,
    ) -> Result<Option<PropertyPage>> {
        let Some(before) = &position.after else {
            let first = self.first_page_index();
            let index = position.start.or(first);
            let start = position.start;
            let subset = self.get_page(search, index).await?;
            let inside = start.is_some() && start != first;
            let range = PageRange::first(index, inside, search.page_size, &subset);
            let range = range.map_err(|error| error.with_attempts(subset.attempts))?;
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
        let range = before.next(index, &subset);
        let range = range.map_err(|error| error.with_attempts(subset.attempts))?;
        Ok(range.map(|range| page(position, range, subset)))
    }

    /// The page after a first page that was requested without an index, with the index of that page.
    // profile: register.firstPageIndex
    async fn second_page(
        &self,
        search: &PropertySearch,
        first: &PageRange,
    ) -> Result<(u32, Subset)> {
        let subset = self.get_page(search, Some(1)).await?;
        let Some(offset) = subset.offset else {
            let what = "the register does not state the Offset of a page: name its first page in the profile, register.firstPageIndex";
            return Err(Error::protocol(what).with_attempts(subset.attempts));
        };
        if offset == first.offset {
            self.set_first_page_index(1);
            return Ok((2, self.get_page(search, Some(2)).await?));
        }
        if offset >= first.end() && subset.length() > 0 {
            self.set_first_page_index(0);
        }
        Ok((1, subset))
    }

    async fn get_page(&self, search: &PropertySearch, index: Option<u32>) -> Result<Subset> {
        let get = GetRecords::search(None, Arc::clone(&self.0.known));
        let request = Box::new(get.request(self.0.address.search(search, index)));
        let settings = Settings::default();
        let exchanged = get.send(&self.0.sender, request, &settings).await?;
        // An unconditional request always has a value.
        Ok(exchanged.value.value().unwrap_or_default())
    }
}

/// Identifies a record by the register's number, or by PIC. The content is for registers that send no `Offset`, which would
/// otherwise reveal repeated pages.
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
    let mut page = Page::new(position, subset.records);
    page.set_gaps(&subset.gaps, subset.unreadable);
    page.total = range.total.and_then(|total| i64::try_from(total).ok());
    (page.offset, page.limit) = (Some(range.offset), range.limit);
    page.last_modified = subset.last_modified;
    page.attempts = subset.attempts;
    page.next = range.has_next().then(|| PagePosition::after(range));
    page
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};
    use test_support::script::rows;
    use test_support::seeded::cases;

    use super::*;
    use crate::model::Property;

    fn subset(offset: Option<u64>, limit: Option<u64>, total: Option<u64>, count: usize) -> Subset {
        Subset {
            offset,
            limit,
            total,
            records: vec![Property::default(); count],
            ..Subset::default()
        }
    }

    #[test]
    fn the_last_page_is_known_whether_records_are_counted_from_0_or_1() {
        for origin in [0, 1] {
            let page =
                |number: u64, count| subset(Some(origin + number * 3), Some(3), Some(7), count);
            let first = PageRange::first(None, false, None, &page(0, 3)).unwrap();
            let second = first.next(1, &page(1, 3)).unwrap().unwrap();
            assert!(first.has_next() && second.has_next());
            assert!(!second.next(2, &page(2, 1)).unwrap().unwrap().has_next());
            // The same, starting from the second page.
            let inside = PageRange::first(Some(1), true, None, &page(1, 3)).unwrap();
            assert!(inside.has_next());
            assert!(!inside.next(2, &page(2, 1)).unwrap().unwrap().has_next());
        }
    }

    /// A reply from four words: Offset, Limit and Total, or "-" if absent, and the number of records.
    fn reply(text: &str) -> Subset {
        let mut numbers = text.split(' ').map(|number| number.parse().ok());
        let [offset, limit, total, count] = [(); 4].map(|()| numbers.next().unwrap());
        subset(
            offset,
            limit,
            total,
            usize::try_from(count.unwrap()).unwrap(),
        )
    }

    /// Spec 2.10. A page is an error if it contradicts its Total, is empty before the last page, or is not the next page.
    const PAGES: &str = "
        # a first page
        -    -   5    0  | error
        0    50  1    0  | error
        0    50  0    50 | error
        1    50  49   50 | error
        -    -   -    0  | last
        -    -   0    0  | last
        1    50  50   50 | last
        -    -   1    1  | last
        0    3   9    2  | more
        # begun inside: a page beyond the end is empty whatever the Total
        inside 500 50 120 0 | last
        inside 50  50 120 0 | error
        # the next page after `0 3 9 2`
        next 0 3 9 3     | error
        next 1 3 9 3     | error
        next 2 3 9 3     | more
        next 3 3 9 3     | more
        next 4 3 9 3     | error
        next 6 3 9 3     | error
        next 2 3 0 2     | error
        next 3 3 9 0     | error
        next 3 3 2 0     | none
        next - - 2 0     | none
    ";

    #[test]
    fn pages_follow_each_other_and_fit_their_totals() {
        for row in rows(PAGES) {
            let words: Vec<&str> = row[0].split_whitespace().collect();
            let (place, numbers) = match words.len() {
                5 => (words[0], words[1..].join(" ")),
                _ => ("first", words.join(" ")),
            };
            let page = match place {
                "next" => PageRange::first(None, false, None, &reply("0 3 9 2"))
                    .and_then(|first| first.next(1, &reply(&numbers))),
                _ => PageRange::first(Some(1), place == "inside", None, &reply(&numbers)).map(Some),
            };
            let seen = match page {
                Ok(Some(page)) if page.has_next() => "more",
                Ok(Some(_)) => "last",
                Ok(None) => "none",
                Err(_) => "error",
            };
            assert_eq!(seen, row[1], "{row:?}");
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn each_page_starts_after_the_previous_page(
            pages in proptest::collection::vec((any::<Option<u64>>(), any::<Option<u64>>(), any::<Option<u64>>(), 0..4usize), 2..8)
        ) {
            let mut pages = pages.into_iter().map(|(offset, limit, total, count)| subset(offset, limit, total, count));
            let Ok(mut range) = PageRange::first(Some(0), true, None, &pages.next().unwrap()) else {
                return Ok(());
            };
            for next in pages {
                match range.next(1, &next) {
                    Ok(Some(following)) => {
                        prop_assert!(following.offset >= range.end());
                        range = following;
                    }
                    _ => break,
                }
            }
        }
    }
}
