//! Which consignments are listed.

use crate::graphql::generated::consignments::Variables;
use crate::model::{AccountId, ConsignmentStatus, Species, Timestamp};

/// Which consignments are listed, and how many a page (spec 4.1; all but the page size are public, not confirmed).
///
/// ```
/// use envd_sdk::model::{ConsignmentStatus, Day};
/// use envd_sdk::ops::ConsignmentFilter;
///
/// let filter = ConsignmentFilter::default()
///     .status(ConsignmentStatus::Submitted)
///     .from(Day::parse("2026-11-19")?)
///     .page_size(50);
/// # let _ = filter;
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ConsignmentFilter {
    page_size: Option<i64>,
    status: Option<ConsignmentStatus>,
    species: Option<Species>,
    search_text: Option<String>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    only_submitted: Option<bool>,
}

impl ConsignmentFilter {
    /// How many records a page holds at most; the server's default and maximum are not shown.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = Some(records.into());
        self
    }

    /// Only consignments with this status.
    pub fn status(mut self, status: ConsignmentStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Only consignments of this species.
    pub fn species(mut self, species: Species) -> Self {
        self.species = Some(species);
        self
    }

    /// Only consignments that match this text; what it is matched against is not shown.
    pub fn search_text(mut self, text: impl Into<String>) -> Self {
        self.search_text = Some(text.into());
        self
    }

    /// Only consignments from this instant, or the beginning of this day (UTC), on.
    pub fn from(mut self, from: impl Into<Timestamp>) -> Self {
        self.from = Some(from.into());
        self
    }

    /// Only consignments up to this instant, or the beginning of this day (UTC).
    pub fn to(mut self, to: impl Into<Timestamp>) -> Self {
        self.to = Some(to.into());
        self
    }

    /// Only consignments that were submitted.
    pub fn only_submitted(mut self) -> Self {
        self.only_submitted = Some(true);
        self
    }

    /// The variables of the query for the page after a cursor.
    pub(super) fn variables(&self, account: &AccountId, after: Option<String>) -> Variables {
        Variables {
            envd_account_id: account.clone(),
            first: self.page_size,
            after,
            status: self.status.clone(),
            species: self.species.clone(),
            search_text: self.search_text.clone(),
            from_date: self.from.clone(),
            to_date: self.to.clone(),
            only_submitted: self.only_submitted,
        }
    }
}
