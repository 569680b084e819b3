//! Filters for lists of consignments and templates.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::graphql::generated::consignments::Variables;
use crate::model::{AccountId, ConsignmentStatus, Day, Species, TimeZone, Timestamp};

/// Which consignments to list, and how many on a page (spec 4.1; all but the page size are public, not confirmed).
///
/// ```
/// use envd_sdk::model::{ConsignmentStatus, Day, Jurisdiction};
/// use envd_sdk::ops::ConsignmentFilter;
///
/// // From midnight in Sydney, which is 2026-11-18T13:00:00Z.
/// let filter = ConsignmentFilter::default()
///     .status(ConsignmentStatus::Submitted)
///     .from_day(Day::parse("2026-11-19")?, Jurisdiction::Nsw)
///     .page_size(50);
/// # let _ = filter;
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ConsignmentFilter(Variables);

impl ConsignmentFilter {
    /// The most records on a page. The server's default and maximum are not documented.
    pub fn page_size(mut self, records: u32) -> Self {
        self.0.first = Some(first(records));
        self
    }

    /// Only consignments with this status.
    pub fn status(mut self, status: ConsignmentStatus) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Only consignments of this species.
    pub fn species(mut self, species: Species) -> Self {
        self.0.species = Some(species);
        self
    }

    /// Only consignments that match this text. It is not documented which fields are searched.
    pub fn search_text(mut self, text: impl Into<String>) -> Self {
        self.0.search_text = Some(text.into());
        self
    }

    /// Only consignments from this instant on. It is not documented which date of a record is compared. If the instant cannot
    /// be read, the list fails with [`Config`](crate::ErrorKind::Config), and nothing is sent.
    ///
    /// A [`Day`] stands for its start in UTC, which is 8 to 11 hours after its start in Australia; changes in those hours are
    /// left out. Use [`from_day`](Self::from_day) to set the zone.
    #[doc(alias("since", "after", "fromDate"))]
    pub fn from(mut self, from: impl Into<Timestamp>) -> Self {
        self.0.from_date = Some(from.into());
        self
    }

    /// Only consignments from the start of this day on, in a state or another zone.
    ///
    /// ```
    /// use envd_sdk::model::{Day, Jurisdiction, TimeZone};
    /// use envd_sdk::ops::ConsignmentFilter;
    ///
    /// let day = Day::parse("2026-11-19")?;
    /// let in_victoria = ConsignmentFilter::default().from_day(day, Jurisdiction::Vic);
    /// let on_lord_howe = TimeZone::fixed(11 * 60).ok_or("no such offset")?;
    /// let november = ConsignmentFilter::default()
    ///     .from_day(Day::parse("2026-11-01")?, on_lord_howe)
    ///     .to_day(Day::parse("2026-11-30")?, on_lord_howe);
    /// # let _ = (in_victoria, november);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "since")]
    pub fn from_day(self, day: Day, zone: impl Into<TimeZone>) -> Self {
        self.from(day.start_in(zone))
    }

    /// Only consignments up to the end of this day in a state or another zone, which is the instant that the next day starts. It is
    /// not documented whether the server includes that instant.
    #[doc(alias = "until")]
    pub fn to_day(self, day: Day, zone: impl Into<TimeZone>) -> Self {
        // The last day of the calendar needs no upper limit.
        match day.plus_days(1) {
            Some(next) => self.to(next.start_in(zone)),
            None => self,
        }
    }

    /// Only consignments up to this instant; a [`Day`] stands for its start in UTC. It is not documented which date of a record
    /// is compared.
    #[doc(alias("until", "before", "toDate"))]
    pub fn to(mut self, to: impl Into<Timestamp>) -> Self {
        self.0.to_date = Some(to.into());
        self
    }

    /// Only consignments that were submitted.
    pub fn only_submitted(mut self) -> Self {
        self.0.only_submitted = Some(true);
        self
    }

    /// Checks that both instants can be read.
    pub(super) fn check(&self) -> Result<()> {
        let instants = [("from", &self.0.from_date), ("to", &self.0.to_date)];
        for (setting, at) in instants {
            if let Some(at) = at.as_ref().filter(|at| at.to_time().is_none()) {
                let problem = format!("{setting} of the filter: {at:?} is not an instant");
                return Err(Error::config(problem));
            }
        }
        Ok(())
    }

    /// The variables of the query for the page after a cursor.
    pub(super) fn variables(
        &self,
        client: &Client,
        account: &AccountId,
        after: Option<String>,
    ) -> Variables {
        Variables {
            envd_account_id: account.clone(),
            after,
            first: accepted(client, self.0.first),
            ..self.0.clone()
        }
    }
}

/// Limits a page size to the maximum of the profile.
pub(super) fn accepted(client: &Client, page_size: Option<i64>) -> Option<i64> {
    // profile: lists.largestPage
    let largest = client.given_profile().lists.largest_page.value;
    let largest = largest.map_or(i64::MAX, i64::from);
    page_size.map(|size| size.min(largest))
}

/// How many templates to list on a page.
///
/// The specification mentions filter criteria (4.1) without showing any, and public queries have none. To use those of the live
/// schema, [override](crate::ClientBuilder::override_operation) `templates`.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::ops::TemplateFilter;
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let mut templates = account.templates(&TemplateFilter::default().page_size(20)).items();
/// let first = templates.next().await.ok_or("no template")??;
/// assert_eq!(first.name.as_deref(), Some("Weaners to the yards"));
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TemplateFilter {
    pub(super) page_size: Option<i64>,
}

impl TemplateFilter {
    /// The most records on a page. The server's default and maximum are not documented.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = Some(first(records));
        self
    }
}

/// A GraphQL `Int` is a signed 32-bit number; servers refuse larger ones.
fn first(records: u32) -> i64 {
    i32::try_from(records).unwrap_or(i32::MAX).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::StaticToken;
    use crate::profile::{ServiceProfile, Sourced};

    fn client_of(profile: &ServiceProfile) -> Client {
        let client = Client::builder("http://127.0.0.1/").profile(profile);
        let client = client.token_source(StaticToken::new("token").unwrap());
        client.build().unwrap()
    }

    fn client() -> Client {
        client_of(&ServiceProfile::default())
    }

    #[test]
    fn no_page_is_larger_than_the_service_accepts() {
        let mut profile = ServiceProfile::default();
        profile.lists.largest_page = Sourced::seen(Some(25));
        let client = client_of(&profile);
        for (asked, sent) in [(Some(100), Some(25)), (Some(10), Some(10)), (None, None)] {
            assert_eq!(accepted(&client, asked), sent);
        }
    }
    use crate::model::Jurisdiction;

    #[test]
    fn a_day_in_a_zone_is_sent_as_the_instants_of_its_beginning_and_end() {
        let day = |text: &str| Day::parse(text).unwrap();
        let filter = ConsignmentFilter::default()
            .from_day(day("2026-10-04"), Jurisdiction::Nsw)
            .to_day(day("2026-10-04"), Jurisdiction::Nsw);
        let sent = filter.variables(&client(), &"envd-1".into(), None);
        // Daylight saving starts on that day, so it has 23 hours.
        assert_eq!(sent.from_date, Some("2026-10-03T14:00:00Z".into()));
        assert_eq!(sent.to_date, Some("2026-10-04T13:00:00Z".into()));
        // A day without a zone is in UTC.
        let sent = ConsignmentFilter::default()
            .from(day("2026-10-04"))
            .variables(&client(), &"envd-1".into(), None);
        assert_eq!(sent.from_date, Some("2026-10-04T00:00:00Z".into()));
    }
}
