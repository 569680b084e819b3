//! A consignment or template as it is kept: the fields of the input, and those that the service adds.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::{instant, rules};

/// The fields of the input that are kept as they came.
const KEPT: [&str; 8] = [
    "origin",
    "destination",
    "owner",
    "consignee",
    "declaration",
    "movementDate",
    "movementTime",
    "answers",
];

/// The input that would make a record what it would be after an update: what is given replaces what is there.
pub(super) fn updated_input(record: &Value, given: &Value) -> Value {
    let mut input = Map::new();
    for name in KEPT.into_iter().chain(["status", "name"]) {
        if let Some(value) = record.get(name) {
            input.insert(name.to_owned(), value.clone());
        }
    }
    input.insert("forms".to_owned(), form_names(record));
    if let Some(given) = given.as_object() {
        input.extend(given.clone());
    }
    Value::Object(input)
}

/// The names of the forms of a record.
pub(super) fn form_names(record: &Value) -> Value {
    let forms = record["forms"].as_array().into_iter().flatten();
    forms.map(|form| form["type"].clone()).collect()
}

/// Whether a record has a form.
pub(super) fn has_form(record: &Value, name: &str) -> bool {
    let mut forms = record["forms"].as_array().into_iter().flatten();
    forms.any(|form| form["type"] == name)
}

/// Writes an input into a record. Forms that stay keep their serial numbers.
pub(super) fn fill(record: &mut Value, input: &Value, mut serial: impl FnMut() -> u32) {
    for name in KEPT {
        if let Some(value) = input.get(name) {
            record[name] = value.clone();
        }
    }
    let kept = record["forms"].take();
    let kept = kept.as_array().map_or(&[][..], Vec::as_slice);
    let names = input["forms"].as_array().into_iter().flatten();
    record["forms"] = names
        .filter_map(Value::as_str)
        .map(|name| match kept.iter().find(|form| form["type"] == name) {
            Some(form) => form.clone(),
            None => json!({
                "type": name,
                "serialNumber": format!("{}{:08}", rules::serial_prefix(name), serial()),
            }),
        })
        .collect();
    record["species"] = input["forms"][0].as_str().and_then(rules::species).into();
    if record["answers"].is_null() {
        record["answers"] = json!([]);
    }
}

/// The fields of a consignment that follow from the others and from the time.
pub(super) fn stamp(record: &mut Value, status: &str, now: SystemTime) {
    record["heads"] = heads(record).into();
    record["status"] = status.into();
    record["updatedAt"] = instant::wire(now).into();
    if status == "SUBMITTED" && record["submittedAt"].is_null() {
        record["submittedAt"] = instant::wire(now).into();
    }
}

/// The sum of the answers to question 3. assumed
fn heads(record: &Value) -> u64 {
    let answers = record["answers"].as_array().into_iter().flatten();
    answers
        .filter(|answer| answer["questionId"] == "3")
        .filter_map(|answer| answer["value"].as_str()?.trim().parse::<u64>().ok())
        .fold(0, u64::saturating_add)
}

/// Whether a record has an id or number.
pub(super) fn is_named(record: &Value, name: &str) -> bool {
    record["id"] == name || record["number"] == name
}
