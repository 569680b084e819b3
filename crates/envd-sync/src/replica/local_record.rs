//! Records of the copy: their keys, and which fields differ between two states.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use crate::account_store::unreadable;
use crate::store::rows::{RecordRow, RowKeys};
use envd_sdk::auth::StoreError;
use envd_sdk::model::{
    Consignment, ConsignmentId, ConsignmentNumber, ConsignmentStatus, ConsignmentSummary, Day,
    Timestamp,
};

/// How much of each record a replica copies.
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sync::Replica;
/// use envd_sync::replica::Depth;
/// use envd_sync::store::MemorySync;
///
/// let replica = Replica::new(&account, MemorySync::new()).depth(Depth::Full);
/// replica.sync().await?;
/// let record = replica.consignments().list().await?.records.remove(0);
/// assert!(!record.consignment()?.questions.is_empty());
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Depth {
    /// The fields of the list: [`ConsignmentSummary`].
    #[default]
    Summary,
    /// All fields, including answers, questions and declaration: [`Consignment`]. This costs one more request for each new or
    /// changed record.
    Full,
}

/// One consignment of the copy, as received JSON and typed.
///
/// `Debug` hides the record, which holds personal data. A [full](Depth::Full) record also contains the address of the printed
/// declaration, with a token: treat its JSON as a secret.
///
/// ```
/// # test_support::example(async {
/// use envd_sync::Replica;
/// use envd_sync::store::MemorySync;
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let replica = Replica::new(&account, MemorySync::new());
/// replica.sync().await?;
/// let page = replica.consignments().number("C-900000101").list().await?;
/// let record = page.records.first().ok_or("not there")?;
/// assert_eq!(record.summary()?.number, record.number());
/// // The JSON also has fields that this crate does not know.
/// let json: serde_json::Value = serde_json::from_str(record.json())?;
/// assert_eq!(json["number"], "C-900000101");
/// # Ok(()) });
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalRecord {
    record: Box<RawValue>,
    depth: Depth,
}

impl LocalRecord {
    /// Keeps the received JSON, without the white space between its parts.
    pub(crate) fn new(record: &RawValue, depth: Depth) -> Self {
        let record = on_one_line(record);
        Self { record, depth }
    }

    /// The record from a direct read, reduced to the fields that the copy holds.
    pub(super) fn as_read(&self, read: &RawValue) -> Self {
        if self.depth == Depth::Full {
            return Self::new(read, Depth::Full);
        }
        let mut fields = serde_json::from_str::<Map<String, Value>>(read.get()).unwrap_or_default();
        let listed = self.value();
        fields.retain(|name, _| listed.get(name).is_some());
        // OK because a JSON map can always be serialized.
        let listed = serde_json::value::to_raw_value(&fields).unwrap_or_default();
        Self::new(&listed, Depth::Summary)
    }

    /// Reads a row of the store.
    pub(super) fn of(row: &RecordRow) -> Result<Self, StoreError> {
        serde_json::from_str(&row.payload)
            .map_err(|_| unreadable(format!("the copy of the record {} cannot be read", row.id)))
    }

    /// The values by which the store finds the record.
    pub(crate) fn keys(&self) -> RowKeys {
        let record = self.value();
        RowKeys {
            status: text(record.get("status")),
            species: text(record.get("species")),
            number: text(record.get("number")),
            origin_pic: text(record.pointer("/origin/pic")),
            destination_pic: text(record.pointer("/destination/pic")),
            movement_day: text(record.get("movementDate")).and_then(|date| movement_day(&date)),
            updated_at: self.updated_at().as_ref().and_then(instant_key),
        }
    }

    /// The record for comparisons; the text itself if it cannot be parsed into values, as with the number `1e999`.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(self.json()).unwrap_or_else(|_| self.json().into())
    }

    /// The received JSON, unknown fields included, without line breaks and spaces between its parts.
    #[must_use]
    pub fn json(&self) -> &str {
        self.record.get()
    }

    /// How much of the record the copy holds.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The id. Parses the JSON, as do the following methods.
    #[must_use]
    pub fn id(&self) -> Option<ConsignmentId> {
        text(self.value().get("id")).map(Into::into)
    }

    /// The number.
    #[must_use]
    pub fn number(&self) -> Option<ConsignmentNumber> {
        text(self.value().get("number")).map(Into::into)
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> Option<ConsignmentStatus> {
        text(self.value().get("status")).map(Into::into)
    }

    /// The time of the last change, as the service shows it.
    #[must_use]
    pub fn updated_at(&self) -> Option<Timestamp> {
        text(self.value().get("updatedAt")).map(Into::into)
    }

    /// The record with the fields of the list.
    ///
    /// # Errors
    ///
    /// When the JSON does not have the shape of a [`ConsignmentSummary`].
    pub fn summary(&self) -> Result<ConsignmentSummary, serde_json::Error> {
        self.read()
    }

    /// The record with all fields; the fields that a [summary](Depth::Summary) lacks are empty.
    ///
    /// # Errors
    ///
    /// When the JSON does not have the shape of a [`Consignment`].
    pub fn consignment(&self) -> Result<Consignment, serde_json::Error> {
        self.read()
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.json())
    }
}

impl PartialEq for LocalRecord {
    fn eq(&self, other: &Self) -> bool {
        (self.depth, self.json()) == (other.depth, other.json())
    }
}

debug_shows!(LocalRecord, |it| number: it.number(), status: it.status(), depth: it.depth);

/// A text, or an integer as its digits, in the same way as the ids of the SDK are parsed.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// The day of a movement, which may have a time after it.
fn movement_day(date: &str) -> Option<String> {
    let (day, rest) = date.split_at_checked(10)?;
    let ends = !rest.starts_with(|next: char| next.is_ascii_digit());
    (ends && Day::parse(day).is_ok()).then(|| day.to_owned())
}

/// The JSON without the white space between its parts (RFC 8259 section 2).
fn on_one_line(record: &RawValue) -> Box<RawValue> {
    let mut in_text = false;
    let mut escaped = false;
    let mut line = record.get().to_owned();
    line.retain(|c| {
        let kept = in_text || !matches!(c, ' ' | '\t' | '\n' | '\r');
        if c == '"' && !escaped {
            in_text = !in_text;
        }
        escaped = in_text && c == '\\' && !escaped;
        kept
    });
    // OK because white space between the parts of JSON has no meaning.
    RawValue::from_string(line).unwrap_or_else(|_| record.to_owned())
}

/// The instant in UTC; `None` when it cannot be read.
pub(super) fn utc(at: &Timestamp) -> Option<DateTime<Utc>> {
    DateTime::try_from(at).ok()
}

/// The digits of the fraction beyond nanoseconds, which chrono drops.
fn beyond_nanoseconds(at: &Timestamp) -> &str {
    let (_, fraction) = at.as_str().split_once('.').unwrap_or_default();
    let end = fraction.find(|c: char| !c.is_ascii_digit());
    let (digits, _) = fraction.split_at(end.unwrap_or(fraction.len()));
    digits.get(9..).unwrap_or_default().trim_end_matches('0')
}

/// The instant in UTC as a text that sorts by time: the fraction has all its digits but no trailing zeros. `None` if the instant
/// cannot be parsed.
pub(crate) fn instant_key(at: &Timestamp) -> Option<String> {
    let time = utc(at)?;
    // A leap second is written as second 60, and has 10^9 nanoseconds more.
    let nanoseconds = time.timestamp_subsec_nanos() % 1_000_000_000;
    let fraction = format!("{nanoseconds:09}{}", beyond_nanoseconds(at));
    let seconds = time.format("%Y-%m-%dT%H:%M:%S");
    Some(match fraction.trim_end_matches('0') {
        "" => seconds.to_string(),
        fraction => format!("{seconds}.{fraction}"),
    })
}

/// The time of the last write by the service. It is not content: if only this date differs, the record did not change.
const DATE: &str = "updatedAt";

/// The address of the printed declaration. Its query is a token, which may differ in each reply.
const PRINT: &str = "pdfUrl";

const NULL: &Value = &Value::Null;

/// The paths of the fields whose values differ, such as `status`, `origin.pic` and `forms[0].serialNumber`, sorted by name.
///
/// All fields count, including unknown ones, except the date of the last update. Null equals absent. A list with another length is
/// one path, and so is an object that only one of the states has.
pub(crate) fn changed_fields(before: &Value, after: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    compare(&mut paths, String::new(), before, after, false);
    paths
}

/// Whether a listed record differs from the copy, which may have more fields than lists show.
pub(crate) fn differs_from_summary(copy: &Value, summary: &Value) -> bool {
    let mut paths = Vec::new();
    compare(&mut paths, String::new(), copy, summary, true);
    !paths.is_empty()
}

/// `may_have_more`: ignore fields that only `before` has.
fn compare(
    paths: &mut Vec<String>,
    path: String,
    before: &Value,
    after: &Value,
    may_have_more: bool,
) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let more = before.keys().filter(|_| !may_have_more);
            for name in after.keys().chain(more).collect::<BTreeSet<_>>() {
                let [before, after] = [before, after].map(|it| it.get(name).unwrap_or(NULL));
                let path = match (path.as_str(), name.as_str()) {
                    ("", DATE) => continue,
                    ("", PRINT) if is_same_print(before, after) => continue,
                    ("", name) => name.to_owned(),
                    (path, name) => format!("{path}.{name}"),
                };
                compare(paths, path, before, after, may_have_more);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                let path = format!("{path}[{index}]");
                compare(paths, path, before, after, may_have_more);
            }
        }
        (Value::Number(before), Value::Number(after)) if is_same_number(before, after) => {}
        (before, after) if before != after => paths.push(path),
        _ => {}
    }
}

/// Whether two numbers are equal, as `1` and `1.0` are. Integers are compared exactly: beyond 2^53 several share one float.
fn is_same_number(before: &Number, after: &Number) -> bool {
    before == after || (before.is_f64() || after.is_f64()) && before.as_f64() == after.as_f64()
}

fn is_same_print(before: &Value, after: &Value) -> bool {
    let without_query = |address: &str| address.split(['?', '#']).next().map(str::to_owned);
    let before = before.as_str();
    let after = after.as_str();
    before.is_some() && before.and_then(without_query) == after.and_then(without_query)
}

#[cfg(test)]
mod tests {
    use envd_sdk::auth::StoreErrorKind;
    use serde_json::json;

    use super::*;
    use crate::tests::script::rows;

    fn record(json: &str) -> LocalRecord {
        LocalRecord::new(serde_json::from_str(json).unwrap(), Depth::Summary)
    }

    #[test]
    fn the_json_is_kept_as_received_on_one_line() {
        let received =
            "{ \"z\" : 1.0,\n\t\"a\": \"two  spaces \\\" and \\\\\", \"b\": [ 1e2 , {} ] }";
        let record = record(received);
        let line = r#"{"z":1.0,"a":"two  spaces \" and \\","b":[1e2,{}]}"#;
        assert_eq!(record.json(), line);
        let stored = crate::account_store::json(&record);
        assert_eq!(stored, format!(r#"{{"record":{line},"depth":"summary"}}"#));
        let read = |payload: &str| {
            LocalRecord::of(&RecordRow {
                payload: payload.to_owned(),
                ..RecordRow::default()
            })
        };
        assert_eq!(read(&stored).unwrap(), record);
        let unreadable = read("{").unwrap_err();
        assert_eq!(unreadable.kind(), StoreErrorKind::Unreadable);
    }

    #[test]
    fn keys_are_read_from_what_is_there() {
        let keys = record(
            r#"{"id": 7, "status": "DRAFT", "species": "CATTLE", "number": "C-1", "origin": {"pic": "QAZZ7777"},
            "destination": {"pic": null}, "movementDate": "2026-11-20T00:00:00", "updatedAt": "2026-11-20T08:00:00.1230+11:00"}"#,
        )
        .keys();
        assert_eq!(keys.status.as_deref(), Some("DRAFT"));
        assert_eq!(keys.species.as_deref(), Some("CATTLE"));
        assert_eq!(keys.number.as_deref(), Some("C-1"));
        assert_eq!(keys.origin_pic.as_deref(), Some("QAZZ7777"));
        assert_eq!(keys.destination_pic, None);
        assert_eq!(keys.movement_day.as_deref(), Some("2026-11-20"));
        assert_eq!(keys.updated_at.as_deref(), Some("2026-11-19T21:00:00.123"));

        let odd =
            r#"{"status": {}, "origin": [], "movementDate": "2026-11-201", "updatedAt": "soon"}"#;
        assert_eq!(record(odd).keys(), RowKeys::default());
        assert_eq!(record("{}").keys(), RowKeys::default());
    }

    #[test]
    fn debug_hides_the_record() {
        let record = record(r#"{"number": "C-1", "createdBy": "pat@example.net"}"#);
        let shown = format!("{record:?}");
        assert!(shown.contains("C-1") && !shown.contains("pat@"), "{shown}");
    }

    #[test]
    fn all_digits_of_the_fraction_and_zones_count() {
        let in_order: Vec<_> = rows(include_str!("tests/instants.txt")).collect();
        for line in &in_order {
            let key = instant_key(&line[0].into());
            assert_eq!(key.as_deref(), Some(line[1]), "{line:?}");
        }
        assert!(in_order.is_sorted_by_key(|line| Timestamp::from(line[0]).to_time()));
        assert!(in_order.is_sorted_by_key(|line| line[1]));
        assert_eq!(
            instant_key(&"2026-11-19T21:00:00.000".into()).as_deref(),
            Some("2026-11-19T21:00:00")
        );
        for unread in ["9999-12-31T23:59:59-01:00", "soon", ""] {
            assert_eq!(instant_key(&unread.into()), None, "{unread}");
        }
    }

    /// Holds: changed: its content differs, not its date.
    #[test]
    fn values_are_compared_and_not_texts_or_dates() {
        for line in rows(include_str!("tests/changed_fields.txt")) {
            let [before, after] = [0, 1].map(|at| serde_json::from_str(line[at]).unwrap());
            assert_eq!(
                changed_fields(&before, &after).join(" "),
                line[2],
                "{line:?}"
            );
            assert_eq!(
                changed_fields(&after, &before).join(" "),
                line[2],
                "{line:?}"
            );
        }
    }

    #[test]
    fn a_summary_is_compared_with_what_it_shows_of_a_full_record() {
        let full =
            json!({"status": "DRAFT", "answers": [1], "forms": [{"type": "LPA", "more": 1}]});
        let same = json!({"status": "DRAFT", "forms": [{"type": "LPA"}], "owner": null});
        assert!(!differs_from_summary(&full, &same));
        for other in [
            json!({"status": "SUBMITTED"}),
            json!({"forms": [{"type": "LPB"}]}),
            json!({"forms": []}),
            json!({"forms": null}),
            json!({"owner": {}}),
        ] {
            assert!(differs_from_summary(&full, &other), "{other}");
        }
    }
}
