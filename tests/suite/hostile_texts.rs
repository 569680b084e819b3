//! Any text anywhere in a record, an input, an error or a property is read, converted and validated without a panic.
//!
//! Other parties write the records of a list: a record that crashes the readers' programs would stop a saleyard.

use std::fmt::{Debug, Write};

use envd_sdk::model::{
    Consignment, ConsignmentInput, ConsignmentSummary, Day, Pic, Property, SavedConsignment,
    ServerError, Template, TemplateInput, TimeZone, Timestamp, UserDetails,
};
use envd_sdk::validate::{Context, Questionnaire, Report, compare, validate_fields};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fixed_date::fixture;

/// Characters of 2, 3 and 4 bytes, digits of other scripts, and control characters: they move the offsets at which formats are
/// parsed, and some count as digits in Unicode but not in ASCII.
const HOSTILE: [&str; 7] = ["é", "牧", "🐄", "１", "٣", "\u{1b}", "\0"];

/// Each text of a value, by its pointer.
fn texts(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((at.to_owned(), text.clone())),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                texts(member, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// Calls `check` with corrupted values: a character inserted at one of the first 12 positions of a text, or replacing as many bytes.
///
/// Corrupts each text alone, with one character and one of the two ways for each position in turn. Corrupts every fourth text
/// together, with all characters, ways and positions.
fn each_spoilt(value: &Value, mut check: impl FnMut(&str, &Value)) {
    let mut found = Vec::new();
    texts(value, "", &mut found);
    assert!(!found.is_empty());
    let mut spoilt = value.clone();
    let restore = |spoilt: &mut Value, place: &str, text: &str| {
        *spoilt.pointer_mut(place).unwrap() = text.into();
    };
    for (index, (place, text)) in found.iter().enumerate() {
        for at in 0..=text.len().min(12) {
            let hostile = HOSTILE[(index + at) % HOSTILE.len()];
            if let Some(bad) = bad_texts(text, at, hostile).nth((index + at) % 2) {
                *spoilt.pointer_mut(place).unwrap() = bad.into();
                check(place, &spoilt);
            }
        }
        restore(&mut spoilt, place, text);
    }
    for first in 0..found.len().min(4) {
        let some = || found.iter().skip(first).step_by(4);
        for (at, hostile) in (0..=12).flat_map(|at| HOSTILE.map(|hostile| (at, hostile))) {
            for way in 0..2 {
                for (place, text) in some() {
                    if let Some(bad) = bad_texts(text, at, hostile).nth(way) {
                        *spoilt.pointer_mut(place).unwrap() = bad.into();
                    }
                }
                check("/answers", &spoilt);
            }
        }
        for (place, text) in some() {
            restore(&mut spoilt, place, text);
        }
    }
}

/// The text with a character inserted at this byte, and with it replacing as many bytes. Empty if the position is inside a character.
fn bad_texts(text: &str, at: usize, hostile: &str) -> impl Iterator<Item = String> {
    let parts = text.split_at_checked(at);
    let bad = parts.map(|(before, after)| {
        let rest = after.get(hostile.len()..).unwrap_or_default();
        [
            format!("{before}{hostile}{after}"),
            format!("{before}{hostile}{rest}"),
        ]
    });
    bad.into_iter().flatten()
}

fn decoded<T: DeserializeOwned + Debug>(value: &Value) -> Option<T> {
    let decoded = T::deserialize(value).ok()?;
    let mut shown = String::new();
    write!(shown, "{decoded:?}").unwrap();
    Some(decoded)
}

fn judge(place: &str, input: &ConsignmentInput, checks: &(Context, Questionnaire)) {
    let text = serde_json::to_string(input).unwrap();
    let again: ConsignmentInput = serde_json::from_str(&text).unwrap();
    let again = serde_json::to_string(&again).unwrap();
    assert_eq!(again, text, "nothing is lost");
    if place.starts_with("/answers") {
        let report = checks.1.validate(input, &checks.0);
        let value = serde_json::to_value(input).unwrap();
        let again = checks.1.validate_json(&value, &checks.0);
        let _ = compare(&report, &again);
        let _ = report.ready_to_submit();
        let form = checks.1.form(input, &checks.0);
        let _ = (form.items(), form.progress(), form.next());
        let _ = checks.1.prune(&mut input.clone());
    }
    for finding in validate_fields(input, &checks.0).findings() {
        let _ = finding.to_string();
    }
}

fn checks() -> (Context, Questionnaire) {
    let today = Day::parse("2026-11-20").unwrap();
    let list = fixture("questions.json");
    let items = list.pointer("/data/questions/items").or(list.get("items"));
    // A few questions are enough: a text affects only its own question.
    let items = items.unwrap().as_array().unwrap().iter().take(12);
    let questions: Vec<_> = items.filter_map(decoded).collect();
    assert!(!questions.is_empty());
    (Context::on(today), Questionnaire::prepare(&questions))
}

#[test]
fn records_and_inputs() {
    let checks = checks();
    let mut record = fixture("records/with-zones.json");
    // Further answers are of the same kind.
    record["answers"].as_array_mut().unwrap().truncate(3);
    each_spoilt(&record, |place, value| {
        let _ = decoded::<SavedConsignment>(value);
        if let Some(summary) = decoded::<ConsignmentSummary>(value) {
            let _ = summary.movement_day();
        }
        if let Some(template) = decoded::<Template>(value) {
            let _ = (TemplateInput::from(&template), template.not_carried_over());
            judge(place, &ConsignmentInput::from(&template), &checks);
        }
        let Some(record) = decoded::<Consignment>(value) else {
            return;
        };
        let _ = (record.movement_day(), record.not_carried_over());
        judge(place, &ConsignmentInput::from(&record), &checks);
    });
}

#[test]
fn errors_of_the_server() {
    for name in ["invalid-pic", "schema-two-errors", "question-185-no"] {
        each_spoilt(&fixture(&format!("errors/{name}.json")), |_, value| {
            for error in value["errors"].as_array().into_iter().flatten() {
                let error = ServerError::from_value(error.clone());
                let said = (error.condition(), error.severity(), error.input_path());
                let codes = (error.code(), error.description(), error.schema_code());
                let _ = format!("{error} {error:?} {said:?} {codes:?}");
                let _ = Report::from_server_errors(&[error]);
            }
        });
    }
}

#[test]
fn properties_and_users() {
    each_spoilt(&fixture("register/pic-QAZZ7777.json"), |_, value| {
        for property in value["Value"]["SubSet"].as_array().into_iter().flatten() {
            let _ = decoded::<Property>(property).map(|property| property.is_active());
        }
    });
    each_spoilt(&fixture("user-details.json"), |_, value| {
        let user = value.pointer("/data/userDetails").unwrap_or(value);
        if let Some(user) = decoded::<UserDetails>(user) {
            let _ = (user.producer_accounts().count(), user.default_account());
        }
    });
}

#[test]
fn days_times_and_pics() {
    for text in [
        "2026-11-20T09:45:00.1234567+11:00",
        "2026-11-20",
        "QAZZ7777",
    ] {
        each_spoilt(&text.into(), |_, value| {
            let text = value.as_str().unwrap();
            let _ = Day::parse(text).map(|day| day.start_in(TimeZone::UTC));
            let _ = Pic::parse(text).map(|pic| (pic.jurisdiction(), pic.advice()));
            let at = Timestamp::from(text);
            let _ = (
                at.to_time(),
                at.day_in(TimeZone::UTC),
                at.clone() == Timestamp::from("2026-11-20"),
            );
            assert_eq!(at.as_str(), text);
        });
    }
}
