//! After a creation without a clear answer: which records the server may have made of it.

use super::ConsignmentFilter;
use crate::client::Account;
use crate::error::Result;
use crate::model::{
    ConsignmentInput, ConsignmentNumber, ConsignmentSummary, Party, PartyInput, Timestamp,
};

impl Account {
    /// The consignments that the server may have made of an input, for the case that a save failed and
    /// [`may_have_applied`](crate::Error::may_have_applied) is true. A person, or the application, decides: saving the
    /// input again beside such a record makes a second declaration.
    ///
    /// It lists the account's consignments since an instant (some minutes before the save, since clocks differ) and
    /// returns those that do not differ from the input in number, PIC of origin and destination, day of the movement
    /// and forms. What a record does not show does not exclude it, so the list may hold too many and, as far as the
    /// server's list is complete, not too few.
    ///
    /// Source: assumed; it rests on the query `consignments` (specification 4.1).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"))
    ///     .movement("2027-01-15", "05:15");
    /// assert!(account.candidates(&input, Day::parse("2026-01-01")?).await?.is_empty());
    /// account.save_consignment(input.clone()).await?;
    /// assert_eq!(account.candidates(&input, Day::parse("2026-01-01")?).await?.len(), 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Pager::next_page`](crate::Pager::next_page).
    pub async fn candidates(
        &self,
        input: &ConsignmentInput,
        since: impl Into<Timestamp>,
    ) -> Result<Vec<ConsignmentSummary>> {
        let mut records = self
            .consignments(&ConsignmentFilter::default().from(since))
            .items();
        let mut found = Vec::new();
        while let Some(record) = records.next().await {
            let record = record?;
            if may_be(&record, input) {
                found.push(record);
            }
        }
        Ok(found)
    }
}

fn may_be(record: &ConsignmentSummary, input: &ConsignmentInput) -> bool {
    let number = record.number.as_ref().map(ConsignmentNumber::as_str);
    let date = record.movement_date.as_deref();
    let forms: Vec<_> = record
        .forms
        .iter()
        .filter_map(|form| form.form_type.as_ref())
        .collect();
    agree(number, input.number.value().map(String::as_str))
        && same_pic(record.origin.as_ref(), &input.origin)
        && same_pic(record.destination.as_ref(), &input.destination)
        // A day may come back as an instant.
        && agree(date.map(day), input.movement_date.value().map(|text| day(text)))
        && (forms.is_empty()
            || forms.len() == input.forms.len() && input.forms.iter().all(|form| forms.contains(&form)))
}

/// What one of the two does not have cannot differ.
fn agree(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other)
        .is_none_or(|(one, other)| one.trim().eq_ignore_ascii_case(other.trim()))
}

fn same_pic(read: Option<&Party>, given: &PartyInput) -> bool {
    let read = read.and_then(|party| party.pic.as_deref());
    agree(read, given.pic.value().map(String::as_str))
}

/// yyyy-MM-dd
fn day(text: &str) -> &str {
    text.split_once('T').map_or(text, |(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FormType;
    use serde_json::json;

    #[test]
    fn a_record_is_a_candidate_unless_it_differs() {
        let input = ConsignmentInput::new(
            [FormType::Lpac1],
            PartyInput::new("QAZZ7777"),
            PartyInput::new("QDZZ3333"),
        )
        .movement("2026-11-23", "05:15");
        let same = json!({
            "number": "C9", "movementDate": "2026-11-23T00:00:00", "origin": {"pic": "qazz7777"},
            "destination": {"pic": "QDZZ3333"}, "forms": [{"type": "LPAC1"}],
        });
        let judge = |json| may_be(&serde_json::from_value(json).unwrap(), &input);
        assert!(judge(same.clone()));
        assert!(judge(json!({"number": "C9"})));
        for (field, other) in [
            ("movementDate", json!("2026-11-24")),
            ("origin", json!({"pic": "QBZZ2222"})),
            ("destination", json!({"pic": "QAZZ7777"})),
            ("forms", json!([{"type": "LPAC1"}, {"type": "HSC2"}])),
            ("forms", json!([{"type": "MSAC1"}])),
        ] {
            let mut record = same.clone();
            record[field] = other;
            assert!(!judge(record), "{field}");
        }
    }
}
