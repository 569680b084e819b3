//! Levers of the fake for tests that need more than a service that works: other readings of the specification
//! ([`Assumptions`]), and what happens at a service at the wrong moment ([`Levers`]).

use super::website::{Edit, ScheduledEdit};
use super::{Fake, WebsiteEdit};
use crate::profile::Lists;

/// How the fake lists, deletes and dates records, where the specification leaves it open. The default is described in
/// [the documentation of the fake](crate::fake).
///
/// An application that must be right whatever the live service does runs its tests under several of them.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::Fake;
/// use envd_sdk::fake::levers::{Assumptions, TotalCount};
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

/// Happenings at the service that a test causes; had from [`Fake::levers`].
///
/// ```
/// # equipment::example(async {
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// fake.levers().withdraw_account(fake.account_id());
/// assert!(account.consignment("C-900000101").await.is_err());
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Levers<'a>(&'a Fake);

impl Fake {
    /// The [levers](crate::fake::levers) for tests that need more than a service that works.
    pub fn levers(&self) -> Levers<'_> {
        Levers(self)
    }
}

impl Levers<'_> {
    /// Edits a consignment on the website just before the fake makes the reply to one of the next requests that list the
    /// consignments of the account; 1 is the next one. Of edits before the same request, the one scheduled first is first.
    ///
    /// # Panics
    ///
    /// When the number is 0, no user has the account, or it has no such consignment now.
    #[track_caller]
    pub fn edit_before_list(self, account: &str, nth: usize, edit: WebsiteEdit) {
        assert!(nth > 0, "list requests are counted from 1, the next one");
        let author = self.0.author(account);
        let mut parts = self.0.state.parts();
        if let Edit::Change(name, _) = &edit.0 {
            let is_known = parts.records.holds(account, name);
            assert!(
                is_known,
                "{account} has no such consignment to edit: {edit:?}"
            );
        }
        parts.records.schedule.push(ScheduledEdit {
            account: account.to_owned(),
            lists_left: nth,
            edit: edit.0,
            author,
        });
    }

    /// Changes what the fake does where the specification leaves a behaviour open, from now on. Lists then show all changes
    /// so far.
    pub fn assume(self, assumptions: Assumptions) {
        self.0.state.parts().records.assume(assumptions);
    }

    /// Withdraws all access to an account: its user's record does not name it any more, and requests for it are refused
    /// like those for another user's account.
    pub fn withdraw_account(self, account: &str) {
        let withdrawn = &mut self.0.state.parts().records.withdrawn;
        withdrawn.insert(account.to_owned());
    }

    /// Grants access to an account again, with all its records.
    pub fn restore_account(self, account: &str) {
        self.0.state.parts().records.withdrawn.remove(account);
    }

    /// Processes now what [`Fault::processed_after`](super::Fault::processed_after) still delays, in the order of the requests, and returns their number.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::fake::{Fake, Fault};
    /// use serde_json::Value;
    ///
    /// let fake = Fake::start().await;
    /// let fault = Fault::internal_server_error("copyConsignment").processed_after(usize::MAX);
    /// fake.on_operation("CopyConsignment").fault(fault);
    /// let account = fake.client().build()?.account(fake.account_id());
    /// assert!(account.copy_consignment("C-900000101").await.is_err());
    /// assert_eq!(fake.levers().process_late_requests(), 1);
    /// assert_eq!(fake.consignments::<Value>(fake.account_id()).len(), 9);
    /// # Ok(()) });
    /// ```
    pub fn process_late_requests(self) -> usize {
        let late = std::mem::take(&mut self.0.state.parts().late);
        for (_, request) in &late {
            self.0.state.serve(request);
        }
        late.len()
    }

    /// Leaves `iss` out of all further callbacks, although the metadata announces it (RFC 9207), or sends it again.
    pub fn omit_iss(self, omit: bool) {
        self.0.state.parts().provider.omits_iss = omit;
    }
}
