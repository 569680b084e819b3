//! The fields of a record, and what is derived from them.

use serde_json::{Map, Value};

/// The fields of the input that a record keeps unchanged.
pub(super) const COPIED_FIELDS: [&str; 8] = [
    "origin",
    "destination",
    "owner",
    "consignee",
    "declaration",
    "movementDate",
    "movementTime",
    "answers",
];

/// The input of a record after an update: given fields replace the stored ones.
pub(super) fn updated_input(record: &Value, given: &Value) -> Value {
    let fields = COPIED_FIELDS.into_iter().chain(["status", "name"]);
    let stored = fields.filter_map(|name| Some((name.to_owned(), record.get(name)?.clone())));
    let mut input: Map<String, Value> = stored.collect();
    input.insert("forms".to_owned(), form_names(record));
    input.extend(given.as_object().cloned().unwrap_or_default());
    Value::Object(input)
}

/// The names of the forms of a record.
pub(super) fn form_names(record: &Value) -> Value {
    list(&record["forms"])
        .iter()
        .map(|form| form["type"].clone())
        .collect()
}

/// Whether a record has a form.
pub(super) fn has_form(record: &Value, name: &str) -> bool {
    list(&record["forms"])
        .iter()
        .any(|form| form["type"] == name)
}

/// Sets the fields of a consignment that depend on other fields and on the time. The number of heads is the sum of the
/// answers to question 3. assumed
pub(super) fn stamp(record: &mut Value, status: &Value, now: &str) {
    let answers = list(&record["answers"])
        .iter()
        .filter(|answer| answer["questionId"] == "3");
    let heads = answers.filter_map(|answer| answer["value"].as_str()?.trim().parse::<u64>().ok());
    record["heads"] = heads.fold(0, u64::saturating_add).into();
    record["status"] = status.as_str().unwrap_or("DRAFT").into();
    record["updatedAt"] = now.into();
    if status == "SUBMITTED" && record["submittedAt"].is_null() {
        record["submittedAt"] = now.into();
    }
}

/// A list on the wire, where null and absent mean empty.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
