//! After a creation without a clear answer: which records the server may have made of it.

use std::collections::HashSet;

use super::ConsignmentFilter;
use crate::client::Account;
use crate::error::{Error, ReplyParts, Result};
use crate::graphql::generated::Consignments;
use crate::model::{
    ConsignmentId, ConsignmentInput, ConsignmentSummary, FieldDiff, ServerError, Timestamp,
    record_diff,
};
use crate::send::Call;

impl Account {
    /// Looks for the consignments that the server may have made of an input, for the case that a save failed and
    /// [`may_have_applied`](crate::Error::may_have_applied) is true. A person, or the application, decides: saving the
    /// input again beside such a record makes a second declaration.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::fake::Fault;
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .movement("2099-01-15", "05:15");
    /// // The server saves it, and the connection is lost before the reply.
    /// fake.on_operation("CreateOrSaveConsignment").fault(Fault::dropped_after());
    /// let error = account.save_consignment(input.clone()).await.unwrap_err();
    /// assert!(error.may_have_applied());
    ///
    /// let found = account.candidates(&input).find().await?;
    /// assert_eq!(found.len(), 1);
    /// // The next time, it is known.
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

/// A search for the consignments that the server may have made of an input, from [`Account::candidates`].
///
/// It lists the account's consignments and leaves out those that differ from the input; where the list does not show
/// everything that was sent, as answers and declaration, it reads the record. What a record does not show does not exclude
/// it, nor does what a server may write in another way, so there may be too many.
///
/// A request that was under way when the error came may arrive later. Wait some seconds, and look again before saving.
///
/// Source: assumed; it rests on the queries `consignments` and `consignment` (specification 4.1).
///
/// See [`Account::candidates`] for an example.
#[derive(Clone, Debug)]
#[must_use = "a search does nothing until `find` is called"]
pub struct Candidates {
    account: Account,
    input: ConsignmentInput,
    known: HashSet<String>,
    filter: ConsignmentFilter,
}

impl Candidates {
    /// Leaves out records that were there before the save, by id or number. The one that the input itself names stays.
    pub fn known(mut self, ids: impl IntoIterator<Item = impl Into<ConsignmentId>>) -> Self {
        let ids = ids.into_iter().map(|id| id.into().to_string());
        self.known.extend(ids);
        self
    }

    /// Lists only consignments from this instant on (some minutes before the save, since clocks differ), in place of all. With
    /// an instant that cannot be read, [`find`](Self::find) fails with [`Config`](crate::ErrorKind::Config).
    ///
    /// Use it only if it is certain that `fromDate` of the live service compares the time of the last change. That is not
    /// shown: if it compares the day of the movement, or another date, the record is missing from the list.
    pub fn from(mut self, from: impl Into<Timestamp>) -> Self {
        self.filter = self.filter.from(from);
        self
    }

    /// Reads the list, and the records that the list leaves open, one after another.
    ///
    /// # Errors
    ///
    /// As [`Pager::next_page`](crate::Pager::next_page) and [`Account::consignment`]. A list that is not complete is an
    /// error as well: [`Protocol`](crate::ErrorKind::Protocol) if records are missing from it, or with the
    /// [`server_errors`](Error::server_errors) that the server reports beside it.
    pub fn find(&self) -> Call<Vec<ConsignmentSummary>> {
        // Boxed, because it stays in the future of the call.
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

    /// The records of the list that are not known and do not contradict the input, if it is complete, each with whether the list
    /// shows everything that was sent.
    async fn listed(&self) -> Result<Vec<(ConsignmentSummary, bool)>> {
        let mut pager = self.account.consignments(&self.filter);
        let (mut records, mut total) = (Vec::new(), None);
        // The list may have changed meanwhile: a record that comes twice counts once.
        let (mut ids, mut unnamed) = (HashSet::new(), 0);
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

    /// Compares the whole record where the list does not show everything that was sent.
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

/// Id and number.
fn names(record: &ConsignmentSummary) -> [Option<&str>; 2] {
    [
        record.id.as_ref().map(AsRef::as_ref),
        record.number.as_ref().map(AsRef::as_ref),
    ]
}

/// An empty list would invite a second save, so a list with gaps is an error.
fn incomplete(errors: Vec<ServerError>) -> Error {
    let error = if errors.is_empty() {
        Error::protocol("the list of consignments could not be read completely")
    } else {
        // The status of a page is not kept; data comes with 200 (spec 7.1).
        let status = 200;
        Error::rejected(ReplyParts::status_only(status), errors.into())
    };
    error.with_operation("consignments")
}
