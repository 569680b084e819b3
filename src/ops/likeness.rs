//! Whether a record may have been made of an input.
//!
//! A record too many is a nuisance, one too few is a second declaration. So only what was sent, is shown and plainly
//! differs tells them apart, and what a server may change or drop is not compared: addresses, phone, signature,
//! certificate number, acceptance and status.

use crate::model::{
    AnswerInput, ConsignmentInput, ConsignmentSummary, Day, DeclarationInput, Maybe, PartyInput,
    QuestionId, Timestamp,
};

/// How a record compares with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It was not made of the input.
    Differs,
    /// Nothing differs, but it does not show everything that was sent.
    Open,
    /// It shows everything that was sent.
    Agrees,
}

/// Compares what was sent with what a record shows, in the shape of an input.
pub(super) fn likeness(sent: &ConsignmentInput, read: &ConsignmentInput) -> Likeness {
    let mut fields = Comparison::default();
    fields.field(&sent.id, &read.id, same_text);
    fields.field(&sent.number, &read.number, same_text);
    fields.field(&sent.movement_date, &read.movement_date, same_day);
    fields.field(&sent.movement_time, &read.movement_time, same_time);
    fields.party(&sent.origin, &read.origin);
    fields.party(&sent.destination, &read.destination);
    for (sent, read) in [
        (&sent.owner, &read.owner),
        (&sent.consignee, &read.consignee),
    ] {
        if let Some(sent) = sent.value() {
            fields.party(sent, read.value().unwrap_or(&PartyInput::default()));
        }
    }
    if read.forms.is_empty() {
        fields.open |= !sent.forms.is_empty();
    } else {
        fields.differs |= sent.forms.len() != read.forms.len()
            || !sent.forms.iter().all(|form| read.forms.contains(form));
    }
    if let Some(sent) = sent.declaration.value() {
        let read = read.declaration.value();
        fields.declaration(sent, read.unwrap_or(&DeclarationInput::default()));
    }
    for answer in sent.answers() {
        fields.answer(answer, read.answers());
    }
    match fields {
        Comparison { differs: true, .. } => Likeness::Differs,
        Comparison { open: true, .. } => Likeness::Open,
        _ => Likeness::Agrees,
    }
}

/// What a list shows of a record.
pub(super) fn shown(record: &ConsignmentSummary) -> ConsignmentInput {
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

#[derive(Default)]
struct Comparison {
    differs: bool,
    open: bool,
}

impl Comparison {
    /// What was not sent cannot differ, and what is not shown leaves it open.
    fn field<T: AsRef<str>>(
        &mut self,
        sent: &Maybe<T>,
        read: &Maybe<T>,
        same: fn(&str, &str) -> bool,
    ) {
        match (text(sent), text(read)) {
            (Some(sent), Some(read)) => self.differs |= !same(sent, read),
            (sent, _) => self.open |= sent.is_some(),
        }
    }

    /// A PIC that was sent decides: the server may hold the property under another name.
    fn party(&mut self, sent: &PartyInput, read: &PartyInput) {
        if text(&sent.pic).is_some() {
            self.field(&sent.pic, &read.pic, same_text);
        } else {
            self.field(&sent.name, &read.name, same_text);
        }
    }

    fn declaration(&mut self, sent: &DeclarationInput, read: &DeclarationInput) {
        self.field(&sent.full_name, &read.full_name, same_text);
        self.field(&sent.email, &read.email, same_text);
        self.field(&sent.date, &read.date, same_day);
    }

    /// An answer to the same question in the same row; several answers to it differ when none is the same.
    fn answer(&mut self, sent: &AnswerInput, read: &[AnswerInput]) {
        let place = |answer: &AnswerInput| (answer.question_id.value().cloned(), row(answer));
        let (question, value): (Option<QuestionId>, _) = (place(sent).0, text(&sent.value));
        let Some(value) = value.filter(|_| question.is_some()) else {
            return;
        };
        let mut others = read
            .iter()
            .filter(|read| place(read) == place(sent))
            .filter_map(|read| text(&read.value))
            .peekable();
        if others.peek().is_none() {
            self.open = true;
        } else {
            self.differs |= !others.any(|other| same_value(value, other));
        }
    }
}

/// A text that says something.
fn text<T: AsRef<str>>(field: &Maybe<T>) -> Option<&str> {
    let text = field.value().map(|text| text.as_ref().trim());
    text.filter(|text| !text.is_empty())
}

fn row(answer: &AnswerInput) -> Option<i64> {
    answer.index.value().copied()
}

/// Whatever the letter case and the blanks.
fn same_text(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ")
    };
    words(one) == words(other)
}

/// A day may come back as an instant, and its midnight in another zone. What cannot be read cannot differ.
fn same_day(one: &str, other: &str) -> bool {
    match (instant(one), instant(other)) {
        (Some(one), Some(other)) => {
            let apart = one
                .duration_since(other)
                .unwrap_or_else(|error| error.duration());
            apart < std::time::Duration::from_secs(86_400)
        }
        _ => true,
    }
}

fn instant(text: &str) -> Option<std::time::SystemTime> {
    match Day::parse(text) {
        Ok(day) => day.start_utc().to_time(),
        Err(_) => Timestamp::from(text).to_time(),
    }
}

/// What cannot be read cannot differ.
fn same_time(one: &str, other: &str) -> bool {
    let times = minute(one).zip(minute(other));
    times.is_none_or(|(one, other)| one == other)
}

/// The minute of the day, of HH:mm with or without seconds.
fn minute(text: &str) -> Option<u32> {
    let digits = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b":.".contains(&b));
    let mut parts = text.split(':').map(str::parse::<u32>);
    let (hours, minutes) = (parts.next()?.ok()?, parts.next()?.ok()?);
    digits.then(|| hours.saturating_mul(60).saturating_add(minutes))
}

/// An answer may come back in another form: a number with decimals, a day as an instant, a year as its first day (public
/// material shows answers for a year as days), an image in another encoding.
fn same_value(one: &str, other: &str) -> bool {
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
    let image = |text: &str| text.starts_with("data:");
    same_text(one, other)
        || is_year_of(one, other)
        || is_year_of(other, one)
        || image(one)
        || image(other)
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

    fn compare(input: Value, record: Value) -> Likeness {
        let sent: ConsignmentInput = serde_json::from_value(input).unwrap();
        let read: Consignment = serde_json::from_value(record).unwrap();
        likeness(&sent, &ConsignmentInput::from(&read))
    }

    #[test]
    fn what_a_server_adds_drops_or_writes_in_another_way_does_not_differ() {
        assert_eq!(compare(input(), record()), Likeness::Agrees);
        for field in [
            "/origin",
            "/origin/pic",
            "/destination",
            "/owner",
            "/consignee",
            "/movementDate",
            "/movementTime",
            "/declaration",
            "/declaration/fullName",
            "/declaration/date",
            "/answers",
            "/answers/0/value",
            "/forms",
        ] {
            let mut record = record();
            *record.pointer_mut(field).unwrap() = Value::Null;
            assert_eq!(compare(input(), record), Likeness::Open, "{field}");
        }
        // What was not sent is not asked for.
        let sent = json!({"forms": ["LPAC1", "MSAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}});
        assert_eq!(compare(sent, record()), Likeness::Agrees);
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
                Likeness::Differs,
                "{field} {other}"
            );
        }
        let mut named = input();
        named["number"] = json!("C-2");
        assert_eq!(compare(named.clone(), record()), Likeness::Differs);
        named["number"] = json!("c-900000001");
        assert_eq!(compare(named, record()), Likeness::Agrees);
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
        assert_eq!(compare(sent.clone(), read.clone()), Likeness::Agrees);
        read["answers"] = answers(&["Mixed"]);
        assert_eq!(compare(sent, read), Likeness::Differs);
    }

    #[test]
    fn a_list_shows_all_but_answers_and_declaration() {
        let summary = serde_json::from_value(record()).unwrap();
        let judge =
            |input: Value| likeness(&serde_json::from_value(input).unwrap(), &shown(&summary));
        assert_eq!(judge(input()), Likeness::Open);
        let mut light = input();
        light["answers"] = Value::Null;
        light["declaration"] = Value::Null;
        assert_eq!(judge(light.clone()), Likeness::Agrees);
        light["movementDate"] = json!("2026-12-23");
        assert_eq!(judge(light), Likeness::Differs);
    }
}
