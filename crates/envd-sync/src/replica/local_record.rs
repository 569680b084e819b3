//! A record of the copy.

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::account_store::unreadable;
use crate::store::rows::RowKeys;
use envd_sdk::auth::StoreError;
use envd_sdk::model::{
    Consignment, ConsignmentId, ConsignmentNumber, ConsignmentStatus, ConsignmentSummary, Day,
    Timestamp,
};

/// How much of each record a replica copies.
///
/// ```
/// # equipment::example(async {
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
    /// What the list shows: [`ConsignmentSummary`].
    #[default]
    Summary,
    /// All fields, with answers, questions and declaration: [`Consignment`]. Each new or changed record is read once more.
    Full,
}

/// One consignment of the copy: its JSON as it was received, and typed.
///
/// `Debug` hides the record, which holds personal data. A [full](Depth::Full) record also has the address of the printed
/// declaration with its token: treat its JSON as a secret.
///
/// ```
/// # equipment::example(async {
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
/// // Fields that this crate does not know are in the JSON.
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
    /// A record as it was received.
    pub(crate) fn new(record: &RawValue, depth: Depth) -> Self {
        let record = on_one_line(record);
        Self { record, depth }
    }

    /// The record as a direct read shows it, with the fields that the copy holds.
    pub(super) fn as_read(&self, read: &RawValue) -> Self {
        if self.depth == Depth::Full {
            return Self::new(read, Depth::Full);
        }
        let mut fields = serde_json::from_str::<Map<String, Value>>(read.get()).unwrap_or_default();
        let listed = self.value();
        fields.retain(|name, _| listed.get(name).is_some());
        // OK because a map of JSON can always be written.
        let listed = serde_json::value::to_raw_value(&fields).unwrap_or_default();
        Self::new(&listed, Depth::Summary)
    }

    /// What a store keeps of it.
    pub(crate) fn to_payload(&self) -> String {
        // OK because a struct of JSON and texts can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What a store has kept.
    pub(crate) fn from_payload(id: &str, payload: &str) -> Result<Self, StoreError> {
        serde_json::from_str(payload)
            .map_err(|_| unreadable(format!("the copy of the record {id} cannot be read")))
    }

    /// What the record is looked up by.
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

    /// The record for comparisons; its text when that cannot be read as values, as with the number `1e999`.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(self.json()).unwrap_or_else(|_| self.json().into())
    }

    /// The record as it was received, unknown fields included, without line breaks and spaces between its parts.
    #[must_use]
    pub fn json(&self) -> &str {
        self.record.get()
    }

    /// How much of the record the copy holds.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The id. Reads the JSON, as the following methods do.
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

    /// The record as lists show it.
    ///
    /// # Errors
    ///
    /// When the JSON does not have the shape of a [`ConsignmentSummary`].
    pub fn summary(&self) -> Result<ConsignmentSummary, serde_json::Error> {
        self.read()
    }

    /// The record with all fields. Those that a [summary](Depth::Summary) lacks are empty.
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

/// A text, or a whole number as its digits, as ids of the crate read them.
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
    let (mut in_text, mut escaped) = (false, false);
    let mut line = record.get().to_owned();
    line.retain(|c| {
        let kept = in_text || !matches!(c, ' ' | '\t' | '\n' | '\r');
        if c == '"' && !escaped {
            in_text = !in_text;
        }
        escaped = in_text && c == '\\' && !escaped;
        kept
    });
    // OK because white space between the parts of JSON means nothing.
    RawValue::from_string(line).unwrap_or_else(|_| record.to_owned())
}

/// The instant in UTC; `None` when it cannot be read.
pub(super) fn utc(at: &Timestamp) -> Option<DateTime<Utc>> {
    DateTime::try_from(at).ok()
}

/// The digits of the fraction that chrono does not keep.
fn beyond_nanoseconds(at: &Timestamp) -> &str {
    let (_, fraction) = at.as_str().split_once('.').unwrap_or_default();
    let end = fraction.find(|c: char| !c.is_ascii_digit());
    let (digits, _) = fraction.split_at(end.unwrap_or(fraction.len()));
    digits.get(9..).unwrap_or_default().trim_end_matches('0')
}

/// The instant in UTC as a text whose order is the order in time: the fraction has all its digits but no zeros at its end.
/// `None` when the instant cannot be read.
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let stored = record.to_payload();
        assert_eq!(stored, format!(r#"{{"record":{line},"depth":"summary"}}"#));
        assert_eq!(LocalRecord::from_payload("1", &stored).unwrap(), record);
        assert!(
            LocalRecord::from_payload("1", "{").unwrap_err().kind()
                == envd_sdk::auth::StoreErrorKind::Unreadable
        );
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
        let in_order = [
            (
                "2026-11-20T07:59:59.999999999+11:00",
                "2026-11-19T20:59:59.999999999",
            ),
            ("2026-11-20T08:00:00+11:00", "2026-11-19T21:00:00"),
            (
                "2026-11-19T21:00:00.00000000001Z",
                "2026-11-19T21:00:00.00000000001",
            ),
            (
                "2026-11-20T08:00:00.1200000+11:00",
                "2026-11-19T21:00:00.12",
            ),
            (
                "2026-11-19T21:00:00.123456789012",
                "2026-11-19T21:00:00.123456789012",
            ),
            ("2026-12-31T23:59:60.5Z", "2026-12-31T23:59:60.5"),
        ];
        for (text, key) in in_order {
            assert_eq!(instant_key(&text.into()).as_deref(), Some(key), "{text}");
        }
        assert!(in_order.is_sorted_by_key(|(text, _)| Timestamp::from(*text).to_time()));
        assert!(in_order.is_sorted_by_key(|(_, key)| key));
        assert_eq!(
            instant_key(&"2026-11-19T21:00:00.000".into()).as_deref(),
            Some("2026-11-19T21:00:00")
        );
        for unread in ["9999-12-31T23:59:59-01:00", "soon", ""] {
            assert_eq!(instant_key(&unread.into()), None, "{unread}");
        }
    }
}
