//! What the fake does where the specification leaves a behaviour open, and no client needs to know it.

use crate::profile::Lists;

/// How the fake lists, deletes and dates records, where the specification leaves it open. The default is described in
/// [the documentation of the fake](crate::fake).
///
/// An application that must be right whatever the live service does runs its tests under several of them.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::{Assumptions, Fake, TotalCount};
/// use envd_sdk::ops::ConsignmentFilter;
/// use envd_sdk::profile::{ListOrder, Lists};
///
/// let lists = Lists::default().ordered(ListOrder::OldestFirst);
/// let assumptions = Assumptions::default().lists(lists).total_count(TotalCount::Null);
/// let fake = Fake::builder().assume(assumptions).start().await?;
/// let account = fake.client().build()?.account(fake.account_id());
/// let mut pager = account.consignments(&ConsignmentFilter::default());
/// let page = pager.next_page().await?.ok_or("no page")?;
/// assert!(page.records[0].number.as_ref().is_some_and(|number| number.as_str() == "C-900000101"));
/// assert_eq!(page.total, None);
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Assumptions {
    pub(super) lists: Lists,
    pub(super) total: TotalCount,
    pub(super) deleted: Deleted,
    pub(super) lag: usize,
    pub(super) cursors_by_position: bool,
}

/// The field `totalCount` of a list.
///
/// See [`Assumptions`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TotalCount {
    /// The number of records on all pages.
    #[default]
    Exact,
    /// Null.
    Null,
    /// This number, whatever the list holds.
    Fixed(i32),
    /// The number of records on all pages plus this one, at least 0.
    OffBy(i32),
}

impl TotalCount {
    /// The value for a list of this length.
    pub(super) fn of(self, records: usize) -> Option<i32> {
        let exact = i32::try_from(records).unwrap_or(i32::MAX);
        match self {
            Self::Exact => Some(exact),
            Self::Null => None,
            Self::Fixed(number) => Some(number),
            Self::OffBy(difference) => Some(exact.saturating_add(difference).max(0)),
        }
    }
}

/// Where deleted consignments are still found.
///
/// See [`Assumptions`] for an example of the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Deleted {
    /// A read by id returns them, and lists with the filter `status: DELETED`.
    #[default]
    Filtered,
    /// Nowhere: a read fails as for an unknown record, and no list shows them.
    Hidden,
    /// A read by id returns them, and all lists do, with the status `DELETED`.
    Listed,
}

impl Assumptions {
    setters! {
        /// The order of lists, the date that `fromDate` and `toDate` are compared with, and the largest page: those of the
        /// [profile](super::FakeBuilder::profile) unless set. Without either, the newest record comes first, the last change is
        /// compared, and a page has 200 records at most.
        pub fn lists(lists: Lists) |it| it.lists = lists;

        /// Cursors count records: a record that is added or deleted before the cursor shifts the next page. By default a cursor names
        /// the last record of a page; the next page starts after it, wherever it is then, and a cursor of a record that no list shows
        /// any more is refused.
        pub fn cursors_by_position() |it| it.cursors_by_position = true;

        /// The field `totalCount` of lists.
        pub fn total_count(total: TotalCount) |it| it.total = total;

        /// Where deleted consignments are still found.
        pub fn deleted(deleted: Deleted) |it| it.deleted = deleted;

        /// Lists show a change only after this number of further lists of the account; 0 unless set. A read by id shows it at
        /// once.
        pub fn list_lag(lists: usize) |it| it.lag = lists;
    }
}
