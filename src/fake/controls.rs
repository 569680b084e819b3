//! Controls for tests that need more than a working service: different interpretations of the specification ([`Assumptions`]),
//! and events at inconvenient moments ([`Controls`]).

use super::website::{Edit, ScheduledEdit};
use super::{Fake, WebsiteEdit};
use crate::profile::Lists;

/// How the fake lists, deletes and dates records where the specification leaves it open. [The documentation of the
/// fake](crate::fake) describes the default.
///
/// An application that must be correct whatever the live service does runs its tests under several of these.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::Fake;
/// use envd_sdk::fake::controls::{Assumptions, TotalCount};
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

/// The value of `totalCount` in lists.
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
    /// This number, regardless of the list.
    Fixed(i32),
    /// The number of records on all pages plus this number, at least 0.
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

/// Where deleted consignments can still be found.
///
/// See [`Assumptions`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Deleted {
    /// Returned by reads by id, and by lists with the filter `status: DELETED`.
    #[default]
    Filtered,
    /// Nowhere: a read fails as for an unknown record, and lists omit them.
    Hidden,
    /// Returned by reads by id and by all lists, with the status `DELETED`.
    Listed,
}

impl Assumptions {
    /// The order of lists, the date to which `fromDate` and `toDate` apply, and the maximum page size; defaults to those of
    /// the [profile](super::FakeBuilder::profile). Without either, the newest record comes first, the date is that of the
    /// last change, and a page has at most 200 records.
    pub fn lists(mut self, lists: Lists) -> Self {
        self.lists = lists;
        self
    }

    /// Makes cursors count records, so that adding or deleting a record before the cursor shifts the next page. By default,
    /// a cursor identifies the last record of a page: the next page starts after it, wherever it then is, and the cursor is
    /// refused if no list shows that record any longer.
    pub fn cursors_by_position(mut self) -> Self {
        self.cursors_by_position = true;
        self
    }

    /// The value of `totalCount` in lists.
    pub fn total_count(mut self, total: TotalCount) -> Self {
        self.total = total;
        self
    }

    /// Where deleted consignments can still be found.
    pub fn deleted(mut self, deleted: Deleted) -> Self {
        self.deleted = deleted;
        self
    }

    /// Delays changes in lists: a list shows a change only after this number of further lists of the account; 0 by default.
    /// Reads by id show it immediately.
    pub fn list_lag(mut self, lists: usize) -> Self {
        self.lag = lists;
        self
    }
}

/// Events at the service that a test triggers, from [`Fake::controls`].
///
/// ```
/// # test_support::example(async {
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// fake.controls().withdraw_account(fake.account_id());
/// assert!(account.consignment("C-900000101").await.is_err());
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Controls<'a>(&'a Fake);

impl Fake {
    /// The [controls](crate::fake::controls) for tests that need more than a working service.
    pub fn controls(&self) -> Controls<'_> {
        Controls(self)
    }
}

impl Controls<'_> {
    /// Edits a consignment on the website just before the fake replies to the `nth` next request that lists the account's
    /// consignments, counted from 1. Several edits before the same request are applied in the order in which they were
    /// scheduled.
    ///
    /// # Panics
    ///
    /// If the number is 0, no user has the account, or it currently has no such consignment.
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

    /// Changes the assumptions for behaviour that the specification leaves open. Lists then show all changes made so far.
    pub fn assume(self, assumptions: Assumptions) {
        self.0.state.parts().records.assume(assumptions);
    }

    /// Withdraws all access to an account: its user's record omits it, and requests for it are refused like those for another
    /// user's account.
    pub fn withdraw_account(self, account: &str) {
        let withdrawn = &mut self.0.state.parts().records.withdrawn;
        withdrawn.insert(account.to_owned());
    }

    /// Restores access to an account with all its records.
    pub fn restore_account(self, account: &str) {
        self.0.state.parts().records.withdrawn.remove(account);
    }

    /// Processes all requests that [`Fault::processed_after`](super::Fault::processed_after) still delays, in order, and
    /// returns their number.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::{Fake, Fault};
    /// use serde_json::Value;
    ///
    /// let fake = Fake::start().await;
    /// let fault = Fault::internal_server_error("copyConsignment").processed_after(usize::MAX);
    /// fake.on_operation("CopyConsignment").fault(fault);
    /// let account = fake.client().build()?.account(fake.account_id());
    /// assert!(account.copy_consignment("C-900000101").await.is_err());
    /// assert_eq!(fake.controls().process_late_requests(), 1);
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

    /// Omits `iss` from all further callbacks, although the metadata announces it (RFC 9207), or includes it again.
    pub fn omit_iss(self, omit: bool) {
        self.0.state.parts().provider.omits_iss = omit;
    }
}
