//! Whether a record may have been made of an input.
//!
//! A record too many is a nuisance, one too few is a second declaration. So only what was sent, is shown and plainly
//! differs counts against a record, and what a server may change or drop is not compared: addresses, phone, signature,
//! certificate number, acceptance and status.

use std::time::{Duration, SystemTime};

use super::visible_text::trimmed;
use super::{
    AnswerInput, ConsignmentInput, ConsignmentSummary, Day, FormType, Maybe, PartyInput, Timestamp,
};

/// How a record, or one of its fields, compares with an input; that of a record is the greatest of its fields.
///
/// From [`ConsignmentInput::similarity`], whose page has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Similarity {
    /// It shows everything that was sent.
    Agrees,
    /// Nothing differs, but it does not show everything that was sent.
    Open,
    /// It was not made of the input.
    Differs,
}

use Similarity::{Agrees, Differs, Open};

/// Whether two texts mean the same.
type Same = fn(&str, &str) -> bool;

type TextOf = fn(&ConsignmentInput) -> Option<&str>;

impl ConsignmentInput {
    /// Whether the service may have made a record of this input, field by field: what was sent, is shown and plainly differs counts
    /// against it. What a service may change or drop is not compared: addresses, phone, signature, certificate number,
    /// acceptance and status. [`Account::candidates`](crate::Account::candidates) searches a whole account in this way.
    ///
    /// The record is in the shape of an input: made `from` one that was read, or [from a list](Self::of_listed).
    ///
    /// Source: assumed.
    ///
    /// ```
    /// use envd_sdk::model::{Consignment, ConsignmentInput, FormType, PartyInput, Similarity};
    ///
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let sent = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .movement("2026-11-23", "05:15");
    /// let read = |day| -> Result<Consignment, serde_json::Error> {
    ///     serde_json::from_value(serde_json::json!({
    ///         "number": "C-900000101", "forms": [{"type": "LPAC1"}],
    ///         "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"},
    ///         "movementDate": day, "movementTime": "05:15:00",
    ///     }))
    /// };
    /// let (same, other) = (read("2026-11-23T00:00:00")?, read("2026-11-30")?);
    /// assert_eq!(sent.similarity(&ConsignmentInput::from(&same)), Similarity::Agrees);
    /// assert_eq!(sent.similarity(&ConsignmentInput::from(&other)), Similarity::Differs);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn similarity(&self, record: &Self) -> Similarity {
        compare(self, record)
    }

    /// What a list shows of a record, to compare with. It is none to save: a list shows no answers and no declaration.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, Similarity};
    /// use envd_sdk::ops::ConsignmentFilter;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let mut list = account.consignments(&ConsignmentFilter::default()).items();
    /// let listed = list.next().await.ok_or("none")??;
    /// let read = account.consignment(listed.id.clone().ok_or("no id")?).await?.value;
    /// let sent = ConsignmentInput::from(&read);
    /// // Nothing differs, and answers are not shown.
    /// assert_eq!(sent.similarity(&ConsignmentInput::of_listed(&listed)), Similarity::Open);
    /// # Ok(()) });
    /// ```
    pub fn of_listed(record: &ConsignmentSummary) -> Self {
        shown(record)
    }
}

/// Compares what was sent with what a record shows, in the shape of an input.
fn compare(sent: &ConsignmentInput, read: &ConsignmentInput) -> Similarity {
    let texts: [(TextOf, Same); 7] = [
        (|it| text(&it.id), same_text),
        (|it| text(&it.number), same_text),
        (|it| text(&it.movement_date), same_day),
        (|it| text(&it.movement_time), same_time),
        (|it| text(&it.declaration.value()?.full_name), same_text),
        (|it| text(&it.declaration.value()?.email), same_text),
        (|it| text(&it.declaration.value()?.date), same_day),
    ];
    let texts = texts.map(|(of, same)| (of(sent), of(read), same));
    let parties = [
        party(Some(&sent.origin), Some(&read.origin)),
        party(Some(&sent.destination), Some(&read.destination)),
        party(sent.owner.value(), read.owner.value()),
        party(sent.consignee.value(), read.consignee.value()),
    ];
    let fields = texts.into_iter().chain(parties).map(|field| match field {
        // A field that was not sent cannot differ, and one that is not shown leaves the question open.
        (None, _, _) => Agrees,
        (Some(_), None, _) => Open,
        (Some(sent), Some(read), same) => agrees_if(same(sent, read)),
    });
    sent.answers()
        .iter()
        .map(|sent| answer(sent, read.answers()))
        .chain(fields)
        .fold(forms(&sent.forms, &read.forms), Ord::max)
}

fn agrees_if(same: bool) -> Similarity {
    if same { Agrees } else { Differs }
}

/// A PIC that was sent decides: the server may have the property under another name.
fn party<'a>(
    sent: Option<&'a PartyInput>,
    read: Option<&'a PartyInput>,
) -> (Option<&'a str>, Option<&'a str>, Same) {
    let pic = |party: &'a PartyInput| text(&party.pic);
    let name = |party: &'a PartyInput| text(&party.name);
    match sent.and_then(pic) {
        Some(sent) => (Some(sent), read.and_then(pic), same_text),
        None => (sent.and_then(name), read.and_then(name), same_text),
    }
}

fn forms(sent: &[FormType], read: &[FormType]) -> Similarity {
    match read {
        [] if sent.is_empty() => Agrees,
        [] => Open,
        _ => agrees_if(sent.len() == read.len() && sent.iter().all(|form| read.contains(form))),
    }
}

/// An answer to the same question in the same row; several answers to it differ when none is the same.
fn answer(sent: &AnswerInput, read: &[AnswerInput]) -> Similarity {
    let key = |answer: &AnswerInput| {
        let row = answer.index.value().copied();
        answer.question_id.value().cloned().map(|id| (id, row))
    };
    let (Some(question), Some(value)) = (key(sent), text(&sent.value)) else {
        return Agrees;
    };
    read.iter()
        .filter(|read| key(read).as_ref() == Some(&question))
        .filter_map(|read| text(&read.value))
        .map(|read| agrees_if(same_value(value, read)))
        .min()
        .unwrap_or(Open)
}

/// What a list shows of a record.
fn shown(record: &ConsignmentSummary) -> ConsignmentInput {
    let party = |party: &Option<_>| party.as_ref().map(PartyInput::from);
    let forms = record.forms.iter();
    ConsignmentInput {
        id: record.id.clone().into(),
        number: record.number.clone().into(),
        movement_date: record.movement_date.clone().into(),
        movement_time: record.movement_time.clone().into(),
        origin: party(&record.origin).unwrap_or_default(),
        destination: party(&record.destination).unwrap_or_default(),
        owner: party(&record.owner).into(),
        consignee: party(&record.consignee).into(),
        forms: forms.filter_map(|form| form.form_type.clone()).collect(),
        ..ConsignmentInput::default()
    }
}

/// A text that is not empty.
fn text<T: AsRef<str>>(field: &Maybe<T>) -> Option<&str> {
    let text = field.value().map(|text| trimmed(text.as_ref()));
    text.filter(|text| !text.is_empty())
}

/// Compares without regard to letter case and blanks.
fn same_text(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| text.split_whitespace().map(str::to_lowercase));
    one.eq(other)
}

/// A day may come back as an instant, and its midnight in another zone. What cannot be read cannot differ.
fn same_day(one: &str, other: &str) -> bool {
    instant(one).zip(instant(other)).is_none_or(|(one, other)| {
        one.duration_since(other)
            .unwrap_or_else(|error| error.duration())
            < Duration::from_secs(86_400)
    })
}

fn instant(text: &str) -> Option<SystemTime> {
    match Day::parse(text) {
        Ok(day) => Timestamp::from(day).to_time(),
        Err(_) => Timestamp::from(text).to_time(),
    }
}

/// A text that cannot be read does not differ.
fn same_time(one: &str, other: &str) -> bool {
    minute(one)
        .zip(minute(other))
        .is_none_or(|(one, other)| one == other)
}

/// The minute of the day, of HH:mm with or without seconds.
fn minute(text: &str) -> Option<u32> {
    let mut parts = text.split(':').map(str::parse::<u32>);
    let (hours, minutes) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let is_time = |b: u8| b.is_ascii_digit() || b":.".contains(&b);
    let minute = hours.saturating_mul(60).saturating_add(minutes);
    text.bytes().all(is_time).then_some(minute)
}

/// Whether two texts of a field mean the same, one as it was sent and one as the service shows it.
///
/// An answer may come back in another form: with other blanks or letter case, a number with decimals, a day as an instant, a year as
/// its first day (public material shows answers for a year as days), an image in another encoding.
///
/// Source: assumed.
///
/// ```
/// use envd_sdk::model::same_value;
///
/// assert!(same_value("24", "24.0") && same_value("05:15", "5:15:00"));
/// assert!(same_value("2026-11-23", "2026-11-22T14:00:00Z"));
/// assert!(!same_value("24", "25") && !same_value("Yes", "No"));
/// ```
#[must_use]
pub fn same_value(one: &str, other: &str) -> bool {
    if instant(one).and(instant(other)).is_some() {
        return same_day(one, other);
    }
    if let (Some(one), Some(other)) = (minute(one), minute(other)) {
        return one == other;
    }
    if let (Ok(one), Ok(other)) = (one.parse::<f64>(), other.parse::<f64>()) {
        return one.total_cmp(&other).is_eq();
    }
    let is_year_of =
        |year: &str, day: &str| year.len() == 4 && day.starts_with(year) && instant(day).is_some();
    let is_image = |text: &str| text.starts_with("data:");
    let same_year = is_year_of(one, other) || is_year_of(other, one);
    same_text(one, other) || same_year || is_image(one) || is_image(other)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::Consignment;

    fn input() -> Value {
        json!({
            "forms": ["LPAC1", "MSAC1"],
            "origin": {"pic": "QAZZ7777", "name": "Sample Downs"},
            "destination": {"pic": "QDZZ3333"},
            "owner": {"name": "Sam  Sample"},
            "consignee": {"pic": "QBZZ2222", "name": ""},
            "movementDate": "2026-11-23",
            "movementTime": "05:15",
            "status": "DRAFT",
            "declaration": {
                "accept": true, "fullName": "Sam Sample", "email": "sam@example.com", "date": "2026-11-20T10:00:00",
                "signature": "c2ln", "certificateNumber": "A1", "phone": "0491570156",
                "address": {"town": "Roma"},
            },
            "answers": [
                {"questionId": "17", "index": null, "value": "Yes"},
                {"questionId": "3", "index": 0, "value": "24"},
                {"questionId": "21", "index": null, "value": "2026-10-01"},
                {"questionId": "6", "index": 0, "value": "2021"},
                {"questionId": "163", "index": null, "value": "05:15"},
                {"questionId": "11", "index": 0, "value": "data:image/png;base64,c2ln"},
                {"questionId": "80", "index": null, "value": ""},
            ],
        })
    }

    /// The record as a server would return it that keeps everything, in its own words.
    fn record() -> Value {
        json!({
            "id": "c-1", "number": "C-900000001", "status": "SUBMITTED",
            "forms": [{"type": "MSAC1", "serialNumber": "2"}, {"type": "LPAC1", "serialNumber": "1"}],
            "origin": {"pic": "qazz7777", "name": "SAMPLE DOWNS PTY LTD"},
            "destination": {"pic": "QDZZ3333 ", "name": "Demo Meats"},
            "owner": {"name": "SAM SAMPLE", "pic": "QCZZ8888"},
            "consignee": {"pic": "QBZZ2222", "name": "Agent"},
            "movementDate": "2026-11-22T14:00:00Z",
            "movementTime": "05:15:00",
            "declaration": {
                "accept": false, "fullName": "Sam Sample", "email": "Sam@example.com", "date": "2026-11-20T00:00:00.0000000+00:00",
                "signature": "data:image/png;base64,c2ln", "certificateNumber": "True", "phone": "+61491570156",
            },
            "answers": [
                {"questionId": "3", "index": 0, "value": "24.0"},
                {"questionId": "17", "index": null, "value": "YES"},
                {"questionId": "21", "index": null, "value": "2026-10-01T00:00:00"},
                {"questionId": "6", "index": 0, "value": "2021-01-01"},
                {"questionId": "163", "index": null, "value": "5:15:00"},
                {"questionId": "11", "index": 0, "value": "https://example.com/11.png"},
                {"questionId": "999", "index": null, "value": "added"},
            ],
        })
    }

    fn compare(input: Value, record: Value) -> Similarity {
        let sent: ConsignmentInput = serde_json::from_value(input).unwrap();
        let read: Consignment = serde_json::from_value(record).unwrap();
        sent.similarity(&ConsignmentInput::from(&read))
    }

    #[test]
    fn what_a_server_adds_drops_or_writes_in_another_way_does_not_differ() {
        assert_eq!(compare(input(), record()), Similarity::Agrees);
        let fields = "/origin /origin/pic /destination /owner /consignee /movementDate /movementTime /declaration \
            /declaration/fullName /declaration/date /answers /answers/0/value /forms";
        for field in fields.split_whitespace() {
            let mut record = record();
            *record.pointer_mut(field).unwrap() = Value::Null;
            assert_eq!(compare(input(), record), Similarity::Open, "{field}");
        }
        // What was not sent is not compared.
        let sent = json!({"forms": ["LPAC1", "MSAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}});
        assert_eq!(compare(sent, record()), Similarity::Agrees);
    }

    #[test]
    fn what_was_sent_and_is_shown_otherwise_differs() {
        for (field, other) in [
            ("/origin/pic", json!("QBZZ2222")),
            ("/destination/pic", json!("QAZZ7777")),
            ("/owner/name", json!("Pat Sample")),
            ("/consignee/pic", json!("QAZZ7777")),
            ("/movementDate", json!("2026-11-24")),
            ("/movementDate", json!("2026-11-22")),
            ("/movementDate", json!("2026-11-24T00:00:00")),
            ("/movementTime", json!("05:30")),
            ("/declaration/fullName", json!("Pat Sample")),
            ("/declaration/email", json!("pat@example.com")),
            ("/declaration/date", json!("2026-11-21T10:00:00")),
            ("/answers/0/value", json!("25")),
            ("/answers/1/value", json!("No")),
            ("/answers/2/value", json!("2026-10-02")),
            ("/answers/3/value", json!("2022-01-01")),
            ("/forms", json!([{"type": "LPAC1"}])),
            ("/forms", json!([{"type": "LPAC1"}, {"type": "HSC2"}])),
        ] {
            let mut record = record();
            record.pointer_mut(field).unwrap().clone_from(&other);
            assert_eq!(
                compare(input(), record),
                Similarity::Differs,
                "{field} {other}"
            );
        }
        let mut named = input();
        named["number"] = json!("C-2");
        assert_eq!(compare(named.clone(), record()), Similarity::Differs);
        named["number"] = json!("c-900000001");
        assert_eq!(compare(named, record()), Similarity::Agrees);
    }

    #[test]
    fn one_of_several_answers_to_a_question_is_enough() {
        let answers = |values: &[&str]| {
            let answers = values
                .iter()
                .map(|value| json!({"questionId": "5", "index": null, "value": value}));
            answers.collect::<Value>()
        };
        let (mut sent, mut read) = (input(), record());
        sent["answers"] = answers(&["M", "F"]);
        read["answers"] = answers(&["F", "M"]);
        assert_eq!(compare(sent.clone(), read.clone()), Similarity::Agrees);
        read["answers"] = answers(&["Mixed"]);
        assert_eq!(compare(sent, read), Similarity::Differs);
    }

    #[test]
    fn a_list_shows_all_but_answers_and_declaration() {
        let summary = serde_json::from_value(record()).unwrap();
        let judge = |input: Value| {
            super::compare(&serde_json::from_value(input).unwrap(), &shown(&summary))
        };
        assert_eq!(judge(input()), Similarity::Open);
        let mut light = input();
        light["answers"] = Value::Null;
        light["declaration"] = Value::Null;
        assert_eq!(judge(light.clone()), Similarity::Agrees);
        light["movementDate"] = json!("2026-12-23");
        assert_eq!(judge(light), Similarity::Differs);
    }
}
