//! Declarations, lists and look-ups of a logged-in user.

use envd_sdk::Error;
use envd_sdk::model::{ConsignmentInput, Day, Jurisdiction, Pic, Severity};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::Register;
use envd_sdk::{Account, Outcome};

use crate::heads;

/// The result of saving a declaration.
#[derive(Debug, PartialEq)]
pub enum SaveResult {
    Saved {
        number: String,
        warnings: usize,
    },
    /// Refused: field and message of each error.
    Refused(Vec<(String, String)>),
    /// May have been saved: the numbers of the records that match it.
    Unconfirmed(Vec<String>),
}

pub struct Desk {
    account: Account,
    register: Register,
}

impl Desk {
    pub(crate) fn new(account: Account, register: Register) -> Self {
        Self { account, register }
    }

    pub async fn declare(&self, draft: ConsignmentInput) -> Result<SaveResult, Error> {
        let mut known = Vec::new();
        let mut items = self
            .account
            .consignments(&ConsignmentFilter::default())
            .items();
        while let Some(item) = items.next().await {
            known.extend(item?.id);
        }
        match self.account.save_consignment(draft.clone()).await {
            Ok(Outcome {
                value, problems, ..
            }) => Ok(SaveResult::Saved {
                number: value.number.map(String::from).unwrap_or_default(),
                warnings: problems.len(),
            }),
            Err(error) if error.may_have_applied() => {
                let found = self.account.candidates(&draft).known(known).find().await?;
                let numbers = found.into_iter().filter_map(|record| record.number);
                Ok(SaveResult::Unconfirmed(numbers.map(String::from).collect()))
            }
            Err(error) if error.is_rejected() => {
                // Unanswered questions are warnings beside the errors.
                let errors = error.server_errors().iter();
                let reasons = errors
                    .filter(|error| error.severity() == Severity::Error)
                    .map(|error| (error.input_path().join("."), error.to_string()));
                Ok(SaveResult::Refused(reasons.collect()))
            }
            Err(error) => Err(error),
        }
    }

    /// The numbers of the consignments changed since a day, newest first.
    pub async fn since(&self, day: Day) -> Result<Vec<String>, Error> {
        let filter = ConsignmentFilter::default()
            .from_day(day, Jurisdiction::Nsw)
            .page_size(5);
        let mut numbers = Vec::new();
        let mut items = self.account.consignments(&filter).items();
        while let Some(item) = items.next().await {
            numbers.extend(item?.number.map(String::from));
        }
        Ok(numbers)
    }

    /// How many animals move on each day.
    pub async fn heads(&self, since: Day) -> Result<Vec<(String, i64)>, Error> {
        heads::by_day(self.account.client(), self.account.id(), since).await
    }

    /// The town of a property, if the register knows the property.
    pub async fn town(&self, pic: &Pic) -> Result<Option<String>, Error> {
        let property = self.register.property(pic).await?;
        Ok(property.and_then(|property| property.town))
    }

    /// The PICs of a list that are not active.
    pub async fn not_in_use(&self, pics: &[&str]) -> Vec<String> {
        let look_ups = self.register.lookup_many(pics).collect().await;
        let bad = look_ups
            .into_iter()
            .filter(|look_up| !look_up.property().is_some_and(|found| found.is_active()));
        bad.map(|look_up| look_up.input).collect()
    }
}
