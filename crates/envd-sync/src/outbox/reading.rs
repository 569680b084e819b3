//! Converts records, texts and dates of the service with the types of the SDK.

use serde_json::Value;

use super::compare::ServiceRecord;
use crate::replica::instant_key;
use envd_sdk::model::{Consignment, ConsignmentId, ConsignmentInput, Day, Timestamp};

/// A record in the shape of an input, with its id, number and status; `None`: it has no id.
pub(super) fn record_of(record: &Consignment) -> Option<ServiceRecord> {
    let id: &ConsignmentId = record.id.as_ref()?;
    let mut input = ConsignmentInput::from(record);
    input.id = Some(id.clone()).into();
    input.number = record.number.clone().into();
    input.status = record.status.clone().into();
    // OK because an input can always be serialized.
    let mut fields = serde_json::to_value(&input).unwrap_or_default();
    // An input has a day, a minute and a second. Another user may have written more precise values, so compare the original texts.
    if let Some(date) = &record.movement_date {
        set(&mut fields, "movementDate", date.as_str());
    }
    if let Some(time) = &record.movement_time {
        set(&mut fields, "movementTime", time.as_str());
    }
    let declaration = record.declaration.as_ref();
    let date = declaration.and_then(|declaration| declaration.date.as_ref());
    if let (Some(date), Some(declaration)) = (date, fields.get_mut("declaration")) {
        set(declaration, "date", date.as_str());
    }
    Some(ServiceRecord {
        id: id.as_str().to_owned(),
        updated_at: record
            .updated_at
            .as_ref()
            .map(updated_key)
            .unwrap_or_default(),
        created_by: record.created_by.clone(),
        fields,
    })
}

/// Sets a field of an object.
pub(super) fn set(record: &mut Value, field: &str, text: &str) {
    if let Some(fields) = record.as_object_mut() {
        fields.insert(field.to_owned(), text.into());
    }
}

/// Whether reads return this input field. Fields that this crate does not know are sent, but not read.
pub(super) fn is_read(name: &str) -> bool {
    let fields = serde_json::json!({ name: null });
    // A field that rejects null is known.
    serde_json::from_value::<ConsignmentInput>(fields).map_or(true, |input| {
        let fields = serde_json::to_value(input).unwrap_or_default();
        fields.get(name).is_some()
    })
}

/// A change time as a text that sorts by time. An unreadable time stays unchanged.
pub(super) fn updated_key(at: &Timestamp) -> String {
    instant_key(at).unwrap_or_else(|| at.as_str().to_owned())
}

/// Whether a sent text and a read text mean the same day, minute or instant.
pub(super) fn same_form(sent: &str, read: &str) -> bool {
    let day_of = |text: &str| {
        let (day, time) = text.split_at_checked(10)?;
        let time = time.trim_end_matches('Z').trim_end_matches("+00:00");
        let digits = time.strip_prefix(['T', ' ']).unwrap_or(time);
        let is_midnight = digits.chars().all(|c| matches!(c, '0' | ':' | '.'));
        is_midnight.then(|| Day::parse(day).ok()).flatten()
    };
    let minute_of = |text: &str| {
        let (minute, seconds) = text.split_at_checked(5)?;
        let is_minute = minute.as_bytes().get(2) == Some(&b':');
        let is_whole = seconds.chars().all(|c| matches!(c, '0' | ':' | '.'));
        (is_minute && is_whole).then(|| minute.to_owned())
    };
    let instant_of = |text: &str| instant_key(&Timestamp::from(text));
    day_of(sent).is_some_and(|day| day_of(read) == Some(day))
        || minute_of(sent).is_some_and(|minute| minute_of(read) == Some(minute))
        || instant_of(sent).is_some_and(|instant| instant_of(read) == Some(instant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::script::rows;

    #[test]
    fn unknown_fields_are_not_read() {
        let known = "forms origin movementDate declaration answers status";
        assert!(known.split(' ').all(is_read));
        assert!(!is_read("novel"));
    }

    #[test]
    fn only_days_minutes_and_instants_have_other_forms() {
        for line in rows(include_str!("tests/same_form.txt")) {
            let is_same = same_form(line[0], line[1]);
            assert_eq!(is_same.to_string(), line[2], "{line:?}");
        }
    }
}
