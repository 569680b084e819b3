//! Compares two records field by field.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::model::visible_text::trimmed;
use crate::model::{ConsignmentInput, Day, Timestamp};

/// A field that differs between two records, from [`record_diff`].
pub(super) struct FieldDiff {
    /// The wire names from the record to the field. Answers are identified by question and row, such as `answers`, `3`, `0`.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name the fields"))]
    path: Vec<String>,
    /// The texts of the field in the first record: empty if the field is missing, several for a list.
    before: Vec<String>,
    /// The texts of the field in the second record.
    pub(super) after: Vec<String>,
    /// Whether services keep this field as it is sent.
    is_kept: bool,
}

impl FieldDiff {
    /// Whether this difference proves that the second record was not created from the first: both have the field, the values
    /// clearly differ, and services preserve this field. A service may change or drop addresses, phone, signature, certificate
    /// number, acceptance and status, and may show a party with a PIC under another name.
    ///
    /// Prefers false matches, because a missed match leads to a duplicate declaration. Fields that the service omits never
    /// count as contradictions.
    pub(super) fn contradicts(&self) -> bool {
        self.is_kept && !self.before.is_empty() && !self.after.is_empty()
    }
}

/// Lists the fields that differ between two records, ordered by path.
///
/// Records are compared as inputs, created `from` a record or [from a list](ConsignmentInput::of_listed). Two texts are equal
/// if they mean the same: a service may change white space or letter case, add decimals to a number, show a day as an instant,
/// a year as its first day (public material shows answers for a year as days), or re-encode an image. Source: assumed.
pub(super) fn record_diff(before: &ConsignmentInput, after: &ConsignmentInput) -> Vec<FieldDiff> {
    let [before, after] = [before, after].map(texts);
    let paths: BTreeSet<&Vec<String>> = before.keys().chain(after.keys()).collect();
    let diff = |path: &Vec<String>| {
        let [sent, read] = [&before, &after].map(|texts| texts.get(path).cloned());
        let sent = sent.unwrap_or_default();
        let read = read.unwrap_or_default();
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let same = same_text_of(&names);
        let has = |texts: &[String], text: &String| texts.iter().any(|other| same(text, other));
        let has_arrived = sent.iter().all(|text| has(&read, text));
        if has_arrived && sent.len() == read.len() && read.iter().all(|text| has(&sent, text)) {
            return None;
        }
        // The service may add its own answers to a question.
        let is_kept = match names.as_slice() {
            ["answers", ..] => !has_arrived,
            ["status"] | [_, "address", ..] => false,
            ["declaration", field] => ["fullName", "email", "date"].contains(field),
            [party, "name"] => !before.contains_key(&[*party, "pic"].map(str::to_owned)[..]),
            _ => true,
        };
        Some(FieldDiff {
            path: path.clone(),
            before: sent,
            after: read,
            is_kept,
        })
    };
    paths.into_iter().filter_map(diff).collect()
}

type FieldTexts = BTreeMap<Vec<String>, Vec<String>>;

/// All non-empty texts of a record, by the path of their field.
fn texts(record: &ConsignmentInput) -> FieldTexts {
    let mut texts = FieldTexts::new();
    collect(&mut texts, &mut Vec::new(), &json!(record));
    for answer in record.answers() {
        let Some(question) = answer.question_id.value() else {
            continue;
        };
        let row = answer.index.value().map(i64::to_string);
        let path = ["answers".to_owned(), question.to_string()];
        let mut path = path.into_iter().chain(row).collect();
        collect(&mut texts, &mut path, &json!(answer.value));
    }
    texts
}

fn collect(texts: &mut FieldTexts, path: &mut Vec<String>, value: &Value) {
    let text = match value {
        Value::Null => return,
        Value::Object(fields) => {
            for (name, field) in fields {
                path.push(name.clone());
                collect(texts, path, field);
                path.pop();
            }
            return;
        }
        // Answers are collected separately, by question and row.
        Value::Array(_) if *path == ["answers"] => return,
        Value::Array(items) => return items.iter().for_each(|item| collect(texts, path, item)),
        Value::String(text) => trimmed(text).to_owned(),
        other => other.to_string(),
    };
    if !text.is_empty() {
        texts.entry(path.clone()).or_default().push(text);
    }
}

/// The comparison for the texts of the field with this path.
fn same_text_of(path: &[&str]) -> fn(&str, &str) -> bool {
    match path {
        ["movementDate"] | ["declaration", "date"] => same_day,
        ["movementTime"] => same_time,
        ["answers", ..] => same_answer,
        _ => same_text,
    }
}

/// Compares ignoring letter case and white space.
fn same_text(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| text.split_whitespace().map(str::to_lowercase));
    one.eq(other)
}

/// A day may be returned as an instant, and its midnight in another zone. Unparsable texts count as equal.
fn same_day(one: &str, other: &str) -> bool {
    instant(one)
        .zip(instant(other))
        .is_none_or(|(one, other)| (one - other).abs() < TimeDelta::days(1))
}

fn instant(text: &str) -> Option<DateTime<Utc>> {
    match Day::parse(text) {
        Ok(day) => Timestamp::from(day).utc(),
        Err(_) => Timestamp::from(text).utc(),
    }
}

/// Unparsable texts count as equal.
fn same_time(one: &str, other: &str) -> bool {
    minute(one)
        .zip(minute(other))
        .is_none_or(|(one, other)| one == other)
}

/// The minute of the day, from HH:mm with or without seconds.
fn minute(text: &str) -> Option<u32> {
    let mut parts = text.split(':').map(str::parse::<u32>);
    let hours = parts.next()?.ok()?;
    let minutes = parts.next()?.ok()?;
    let is_time = |b: u8| b.is_ascii_digit() || b":.".contains(&b);
    let minute = hours.saturating_mul(60).saturating_add(minutes);
    text.bytes().all(is_time).then_some(minute)
}

/// Whether two answers mean the same. A service may return an answer in another format.
fn same_answer(one: &str, other: &str) -> bool {
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
    use super::*;
    use crate::model::{Consignment, ConsignmentStatus, PartyInput};

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

    /// The record as returned by a server that preserves everything, with its own spellings.
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

    /// The paths of the contradicting fields, and of fields that were sent but are not shown.
    fn compare(input: &Value, record: &Value) -> [Vec<String>; 2] {
        let sent: ConsignmentInput = serde_json::from_value(input.clone()).unwrap();
        let read: Consignment = serde_json::from_value(record.clone()).unwrap();
        judged(&sent, &ConsignmentInput::from(&read))
    }

    fn judged(sent: &ConsignmentInput, read: &ConsignmentInput) -> [Vec<String>; 2] {
        let fields = record_diff(sent, read);
        let paths = |is: fn(&FieldDiff) -> bool| {
            let fields = fields.iter().filter(|field| is(field));
            fields.map(|field| field.path.join("/")).collect()
        };
        [
            paths(FieldDiff::contradicts),
            paths(|field| field.after.is_empty()),
        ]
    }

    #[test]
    fn what_a_server_adds_drops_or_writes_in_another_way_does_not_contradict() {
        let [contradicts, not_shown] = compare(&input(), &record());
        assert_eq!(contradicts, [""; 0]);
        assert_eq!(not_shown, ["declaration/address/town"]);
        for (field, path) in [
            ("/origin", "origin/pic"),
            ("/origin/pic", "origin/pic"),
            ("/destination", "destination/pic"),
            ("/owner", "owner/name"),
            ("/consignee", "consignee/pic"),
            ("/movementDate", "movementDate"),
            ("/movementTime", "movementTime"),
            ("/declaration", "declaration/email"),
            ("/declaration/fullName", "declaration/fullName"),
            ("/declaration/date", "declaration/date"),
            ("/answers", "answers/17"),
            ("/answers/0/value", "answers/3/0"),
            ("/forms", "forms"),
        ] {
            let mut record = record();
            *record.pointer_mut(field).unwrap() = Value::Null;
            let [contradicts, not_shown] = compare(&input(), &record);
            assert_eq!(contradicts, [""; 0], "{field}");
            assert!(not_shown.iter().any(|found| found == path), "{field}");
        }
        // Fields that were not sent are not compared.
        let sent = json!({"forms": ["LPAC1", "MSAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}});
        assert_eq!(compare(&sent, &record()), [vec![], Vec::<String>::new()]);
    }

    #[test]
    fn what_was_sent_and_is_shown_otherwise_contradicts() {
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
            let [contradicts, _] = compare(&input(), &record);
            assert_eq!(contradicts.len(), 1, "{field} {other}");
        }
        let mut named = input();
        named["number"] = json!("C-2");
        assert_eq!(compare(&named, &record())[0], ["number"]);
        named["number"] = json!("c-900000001");
        assert_eq!(compare(&named, &record())[0], [""; 0]);
    }

    #[test]
    fn one_of_several_answers_to_a_question_is_enough() {
        let answers = |values: &[&str]| {
            let one = |value| json!({"questionId": "5", "index": null, "value": value});
            values.iter().map(one).collect::<Value>()
        };
        let mut sent = input();
        let mut read = record();
        for (of_input, of_record, contradicts) in [
            (&["M", "F"][..], &["F", "M"][..], false),
            (&["M"], &["F", "M"], false),
            (&["M", "F"], &["Mixed"], true),
            (&["M", "F"], &["M"], true),
        ] {
            (sent["answers"], read["answers"]) = (answers(of_input), answers(of_record));
            let found = compare(&sent, &read)[0] == ["answers/5"];
            assert_eq!(found, contradicts, "{of_input:?} {of_record:?}");
        }
    }

    #[test]
    fn a_change_of_any_field_is_a_difference() {
        let sent: ConsignmentInput = serde_json::from_value(input()).unwrap();
        let changed = sent.clone().status(ConsignmentStatus::Submitted);
        let changed = changed.owner(PartyInput::new("QAZZ7777").name("Pat Private"));
        let fields = record_diff(&sent, &changed);
        let paths: Vec<_> = fields.iter().map(|field| field.path.join("/")).collect();
        assert_eq!(paths, ["owner/name", "owner/pic", "status"]);
        assert_eq!(fields[1].before, [""; 0]);
        assert!(record_diff(&sent, &sent).is_empty());
    }

    #[test]
    fn a_list_shows_all_but_answers_and_declaration() {
        let summary = serde_json::from_value(record()).unwrap();
        let shown = ConsignmentInput::of_listed(&summary);
        let judge = |input: Value| judged(&serde_json::from_value(input).unwrap(), &shown);
        let [contradicts, not_shown] = judge(input());
        assert_eq!(contradicts, [""; 0]);
        let is_left =
            |path: &String| path.starts_with("answers") || path.starts_with("declaration");
        assert!(not_shown.iter().all(is_left));
        let mut light = input();
        light["answers"] = Value::Null;
        light["declaration"] = Value::Null;
        assert_eq!(judge(light.clone()), [vec![], Vec::<String>::new()]);
        light["movementDate"] = json!("2026-12-23");
        assert_eq!(judge(light)[0], ["movementDate"]);
    }
}
