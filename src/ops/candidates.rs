//! Finds records that the server may have created, after a save without a clear reply.

use std::collections::HashSet;

use super::ConsignmentFilter;
use crate::client::AccountClient;
use crate::error::{Error, ReplyParts, Result};
use crate::graphql::generated::Consignments;
use crate::model::{
    ConsignmentId, ConsignmentInput, ConsignmentSummary, FieldDiff, ServerError, Timestamp,
    record_diff,
};
use crate::send::Call;

impl AccountClient {
    /// Finds consignments that the server may have created from this input, after a save failed with
    /// [`may_have_applied`](crate::Error::may_have_applied). A person or the application then decides: if such a record exists,
    /// saving the input again creates a second declaration.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fault;
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .movement("2099-01-15", "05:15");
    /// // The server saves it, but the connection drops before the reply.
    /// fake.on_operation("CreateOrSaveConsignment").fault(Fault::dropped_after());
    /// let error = account.save_consignment(input.clone()).await.unwrap_err();
    /// assert!(error.may_have_applied());
    ///
    /// let found = account.candidates(&input).find().await?;
    /// assert_eq!(found.len(), 1);
    /// // In the next search the record is known.
    /// let known = found.into_iter().filter_map(|record| record.id);
    /// assert!(account.candidates(&input).known(known).find().await?.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn candidates(&self, input: &ConsignmentInput) -> Candidates {
        Candidates {
            account: self.clone(),
            input: input.clone(),
            known: HashSet::new(),
            filter: ConsignmentFilter::default(),
        }
    }
}

/// A search for consignments that the server may have created from an input: see [`AccountClient::candidates`].
///
/// The search lists the account's consignments and drops those that differ from the input. If the list does not show every sent
/// field, such as answers and declaration, it reads the full record. Missing fields and differences in notation do not exclude a
/// record, so the result may have false matches.
///
/// A request that was in flight when the error occurred may still arrive. Wait some seconds, then search again before saving.
///
/// Source: assumed; it rests on the queries `consignments` and `consignment` (specification 4.1).
///
/// See [`AccountClient::candidates`] for an example.
#[derive(Clone, Debug)]
#[must_use = "a search does nothing until `find` is called"]
pub struct Candidates {
    account: AccountClient,
    input: ConsignmentInput,
    known: HashSet<String>,
    filter: ConsignmentFilter,
}

impl Candidates {
    /// Leaves out records that existed before the save, by id or number, except the record that the input itself names.
    pub fn known(mut self, ids: impl IntoIterator<Item = impl Into<ConsignmentId>>) -> Self {
        let ids = ids.into_iter().map(|id| id.into().to_string());
        self.known.extend(ids);
        self
    }

    /// Lists only consignments from this instant on, instead of all. Choose an instant some minutes before the save, since clocks
    /// differ. If the instant cannot be read, [`find`](Self::find) fails with [`Config`](crate::ErrorKind::Config).
    ///
    /// Use this only if you know that `fromDate` of the live service compares the time of the last change, which the specification
    /// does not say. If it compares the movement date or another date, the list lacks the record.
    pub fn from(mut self, from: impl Into<Timestamp>) -> Self {
        self.filter = self.filter.from(from);
        self
    }

    /// Reads the list, then one by one the records that the list does not show completely.
    ///
    /// # Errors
    ///
    /// As [`Pager::next_page`](crate::Pager::next_page) and [`AccountClient::consignment`]. An incomplete list is an error too:
    /// [`Protocol`](crate::ErrorKind::Protocol) if records are missing from it, or an error with the
    /// [`server_errors`](Error::server_errors) that the server reports with the list.
    pub fn find(&self) -> Call<Vec<ConsignmentSummary>> {
        // Boxed to keep the future of the call small.
        let mut search = Box::new(self.clone());
        let variables = self
            .filter
            .variables(self.account.client(), self.account.id(), None);
        let first = self.account.client().execute::<Consignments>(variables);
        let first = first.made_of(self.filter.check());
        first.instead(async move |settings| {
            search.account = search.account.with_settings(settings);
            search.found().await
        })
    }

    async fn found(&self) -> Result<Vec<ConsignmentSummary>> {
        let mut found = Vec::new();
        for (record, is_shown) in self.listed().await? {
            if is_shown || self.is_candidate(&record).await? {
                found.push(record);
            }
        }
        Ok(found)
    }

    /// The listed records that are neither `known` nor contradict the input. The flag of each says whether the list shows every sent
    /// field. Fails if the list is incomplete.
    async fn listed(&self) -> Result<Vec<(ConsignmentSummary, bool)>> {
        let mut pager = self.account.consignments(&self.filter);
        let mut records = Vec::new();
        let mut total = None;
        // The list may change while it is read: count a repeated record once.
        let mut ids = HashSet::new();
        let mut unnamed = 0;
        while let Some(page) = pager.next_page().await? {
            if let Some(error) = page.unreadable.into_iter().next() {
                return Err(error);
            }
            if page.missing > 0 || !page.problems.is_empty() {
                return Err(incomplete(page.problems));
            }
            total = page.total;
            for record in page.records {
                match names(&record).into_iter().flatten().next() {
                    Some(id) if !ids.insert(id.to_owned()) => continue,
                    Some(_) => {}
                    None => unnamed += 1,
                }
                let fields = record_diff(&self.input, &ConsignmentInput::of_listed(&record));
                if !fields.iter().any(FieldDiff::contradicts) && !self.is_known(&record) {
                    let is_shown = fields.iter().all(|field| !field.after.is_empty());
                    records.push((record, is_shown));
                }
            }
        }
        let count = i64::try_from(ids.len() + unnamed).unwrap_or(i64::MAX);
        if total.is_some_and(|total| total > count) {
            return Err(incomplete(Vec::new()));
        }
        Ok(records)
    }

    fn is_known(&self, record: &ConsignmentSummary) -> bool {
        let id = self.input.id.value().map(AsRef::as_ref);
        let sent = [id, self.input.number.value().map(AsRef::as_ref)];
        !std::iter::zip(names(record), sent).any(|(name, sent)| name.is_some() && name == sent)
            && (names(record).into_iter().flatten()).any(|name| self.known.contains(name))
    }

    /// Compares the full record, as the list does not show every sent field.
    async fn is_candidate(&self, record: &ConsignmentSummary) -> Result<bool> {
        let number = record.number.as_ref().map(ConsignmentId::from);
        let Some(id) = record.id.clone().or(number) else {
            return Ok(true);
        };
        let whole = self.account.consignment(id).await?.value;
        let fields = record_diff(&self.input, &ConsignmentInput::from(&whole));
        Ok(!fields.iter().any(FieldDiff::contradicts))
    }
}

/// The id and the number.
fn names(record: &ConsignmentSummary) -> [Option<&str>; 2] {
    [
        record.id.as_ref().map(AsRef::as_ref),
        record.number.as_ref().map(AsRef::as_ref),
    ]
}

/// An empty list would invite a second save, so an incomplete list is an error.
fn incomplete(errors: Vec<ServerError>) -> Error {
    let error = if errors.is_empty() {
        Error::protocol("the list of consignments could not be read completely")
    } else {
        // A page does not keep its status; data always comes with 200 (spec 7.1).
        let status = 200;
        Error::rejected(ReplyParts::status_only(status), errors.into())
    };
    error.with_operation("consignments")
}
