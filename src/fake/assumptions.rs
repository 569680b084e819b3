//! What the fake does where the specification leaves a behaviour open.

/// How the fake lists, deletes and dates records, where the specification leaves it open. The default is described in
/// [the documentation of the fake](crate::fake).
///
/// An application that must be right whatever the live service does runs its tests under several of them.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::{Assumptions, Fake, ListOrder, TotalCount};
/// use envd_sdk::ops::ConsignmentFilter;
///
/// let assumptions = Assumptions::default().order(ListOrder::OldestFirst).total_count(TotalCount::Null);
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
    pub(super) compared: ListDate,
    pub(super) order: ListOrder,
    pub(super) total: TotalCount,
    pub(super) deleted: Deleted,
    pub(super) lag: usize,
    pub(super) cursors_by_position: bool,
}

/// The date of a consignment that the arguments `fromDate` and `toDate` of a list are compared with.
///
/// See [`Assumptions`] for an example of the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ListDate {
    /// `updatedAt`, the time of the last change.
    #[default]
    Updated,
    /// The time of the creation, which a record does not show.
    Created,
    /// `movementDate`, at midnight UTC. A record without one is not listed when `fromDate` or `toDate` is given.
    Movement,
}

/// The order of lists. Records with the same date or number are in order of creation, in the same direction.
///
/// See [`Assumptions`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ListOrder {
    /// By creation, descending.
    #[default]
    NewestFirst,
    /// By creation, ascending.
    OldestFirst,
    /// By `updatedAt`, descending: a changed record moves to the front.
    LatestUpdateFirst,
    /// By `updatedAt`, ascending: a changed record moves to the end.
    EarliestUpdateFirst,
    /// By number, ascending.
    Number,
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
        /// The date that `fromDate` and `toDate` are compared with.
        pub fn compared_date(date: ListDate) |it| it.compared = date;

        /// The order of lists.
        pub fn order(order: ListOrder) |it| it.order = order;

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
