//! Reads the reply to an operation, with what the operation adds: its kind, its list, where its record is.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::document::OperationKind;
use super::envelope::is_void;
use super::misfit;
use super::overrides::{RecordLocation, can_be_id};
use super::request::Encoded;
use super::unreadable::{decode_salvaged, part_of};
use super::{Outcome, SalvagedList, Unreadable, decode, salvage_list};
use crate::error::{Error, Received, Repr, mark_no_record_named};
use crate::model::json_path::joined;
use crate::model::{Condition, PageInfo, ServerError, reply_memory};

/// What the value of a call is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueIn {
    /// All of the data.
    Data,
    /// The field of the operation, and of a change the record in it.
    Record,
}

impl Encoded {
    /// Reads the reply; `None` is a body that is not of the interface.
    ///
    /// A change whose reply has neither a record nor errors is an error: whether it was made is not known.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        status: u16,
        media_type: Option<&str>,
        body: &[u8],
    ) -> Option<Result<Outcome<T>, Error>> {
        let received = || received(status, media_type, body);
        let read = match &self.location {
            Some(location) => match expected_record(location, status, media_type, body) {
                Some(outcome) => Ok(outcome),
                None => decode::<Box<RawValue>>(status, media_type, body)?
                    .and_then(|outcome| self.read_record(location, outcome, received)),
            },
            // Read from the text into the type of the caller: a `Value` between them would lose digits.
            None => match decode(status, media_type, body)? {
                _ if self.is_change() && is_without_record(body) => {
                    Err(Error::protocol("the reply has no record").with_received(received()))
                }
                Err(error) if error.json_path().is_some() => self
                    .list
                    .and_then(|list| decode_salvaged(status, media_type, body, list))
                    .ok_or(error),
                read => read,
            },
        };
        Some(self.completed(read))
    }

    /// The JSON of the value in a reply that was decoded: as it was received, or written again where the profile says that the record
    /// is elsewhere.
    pub(crate) fn json_of(&self, value: ValueIn, body: &[u8]) -> Option<Box<str>> {
        #[derive(Deserialize)]
        struct Reply<'a> {
            #[serde(borrow)]
            data: &'a RawValue,
        }
        let members = match self.known.filter(|_| value == ValueIn::Record) {
            Some(known) if known.is_change() => vec![known.name, "data"],
            Some(known) => vec![known.name],
            None => Vec::new(),
        };
        // The record of a change may stand without the object around it.
        let part = |data: &str| {
            let lengths = (0..=members.len()).rev();
            let mut parts = lengths.filter_map(|length| part_of(data, members.get(..length)?));
            parts.find(|part| *part != "null").map(Box::from)
        };
        let reply: Reply<'_> = serde_json::from_slice(without_mark(body)).ok()?;
        let moved = self.location.as_ref();
        match moved.filter(|location| location.expected().is_none()) {
            Some(location) => {
                let moved = location.moved(reply_memory::value(reply.data.get()));
                part(&moved.data.to_string())
            }
            None => part(reply.data.get()),
        }
    }

    fn is_change(&self) -> bool {
        self.kind == OperationKind::Mutation
    }

    /// Moves the record to where the type expects it, and reads it.
    fn read_record<T: DeserializeOwned>(
        &self,
        location: &RecordLocation,
        outcome: Outcome<Box<RawValue>>,
        received: impl Fn() -> Received,
    ) -> Result<Outcome<T>, Error> {
        let (data, rest) = outcome.split();
        let moved = location.moved(reply_memory::value(data.get()));
        if self.is_change() && is_void(&moved.data, false) {
            return Err(rest.without_record().with_received(received()));
        }
        let text = moved.data.to_string();
        let received_path = |path: &str| joined("data", &moved.received_path(path));
        let error = match misfit::read(&text) {
            Ok(value) => return Ok(rest.with(value)),
            Err(error) => error,
        };
        let salvaged = self.list.and_then(|list| {
            let at = received_path(&list.join("."));
            let SalvagedList { text, unreadable } =
                salvage_list::<T>(&text, &at, list, rest.http_status())?;
            Some((reply_memory::from_str(&text).ok()?, unreadable))
        });
        if let Some((value, unreadable)) = salvaged {
            let mut outcome = rest.with(value);
            outcome.unreadable = unreadable;
            return Ok(outcome);
        }
        let kind = Repr::Decode {
            status: rest.http_status(),
            path: received_path(&error.path),
            detail: error.detail.to_owned(),
            errors: rest.problems,
        };
        let error = Error::new(kind).with_omitted(rest.omitted);
        Err(error.with_received(received()))
    }

    /// Adds facts of the request: whether it was a change, whether it named a record, and the operation in the
    /// errors of records.
    fn completed<T>(&self, read: Result<Outcome<T>, Error>) -> Result<Outcome<T>, Error> {
        let not_found = |error: &ServerError| error.condition() == Condition::NotFoundOrForbidden;
        match read {
            Ok(mut outcome) => {
                outcome.change = self.is_change();
                let named = |record: Unreadable| Unreadable {
                    error: record.error.with_operation(&self.operation),
                    ..record
                };
                outcome.unreadable = outcome.unreadable.into_iter().map(named).collect();
                if outcome.problems.iter().any(not_found) && !self.names_record() {
                    mark_no_record_named(&mut outcome.problems);
                }
                Ok(outcome)
            }
            Err(error) if error.has(Condition::NotFoundOrForbidden) && !self.names_record() => {
                Err(error.of_no_record())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the id or the number of a record is in the variables, or in an input among them.
    fn names_record(&self) -> bool {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let Some(variables) = body.get("variables").and_then(Value::as_object) else {
            return false;
        };
        let inputs = variables.values().filter_map(Value::as_object);
        std::iter::once(variables)
            .chain(inputs)
            .flatten()
            .any(|(name, value)| is_name_of_id(name) && can_be_id(value))
    }
}

/// A reply without the expected record. Reads its data again, so for errors only.
pub(crate) fn received(status: u16, media_type: Option<&str>, body: &[u8]) -> Received {
    #[derive(Deserialize)]
    struct Reply<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let reply = serde_json::from_slice::<Reply<'_>>(without_mark(body));
    let data = reply
        .ok()
        .map(|reply| reply_memory::value(reply.data.get()));
    Received::new(status, media_type, body, data)
}

/// More bytes than a reply to the change of one record has. The maps that look for the record grow faster than the text.
const RECORD: usize = 1 << 20;

/// Reads a reply whose record is where the type expects it, from the text: through a [`Value`] it takes twice as long. `None`
/// for any other reply.
fn expected_record<T: DeserializeOwned>(
    location: &RecordLocation,
    status: u16,
    media_type: Option<&str>,
    body: &[u8],
) -> Option<Outcome<T>> {
    // Maps, because a type with fields is read from a list as well.
    type Record<'a> = BTreeMap<&'a str, &'a RawValue>;

    #[derive(Deserialize)]
    struct Reply<'a> {
        #[serde(borrow)]
        data: BTreeMap<&'a str, BTreeMap<&'a str, Record<'a>>>,
    }
    if body.len() > RECORD {
        return None;
    }
    let reply: Reply<'_> = serde_json::from_slice(without_mark(body)).ok()?;
    let mut values = reply.data.get(location.expected()?)?.get("data")?.values();
    // An object may have nothing but nulls in it.
    let is_record = values.any(|value| value.get() != "null" && !value.get().starts_with('{'));
    is_record.then(|| decode(status, media_type, body))??.ok()
}

/// Nothing but nulls. The first other value ends the reading.
#[derive(Deserialize)]
#[serde(transparent)]
struct Void(#[allow(dead_code)] Option<BTreeMap<AnyName, Void>>);

/// All names are the same, so a map of them has one member at most.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct AnyName;

impl<'de> Deserialize<'de> for AnyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// Whether a reply has no errors, and data with nothing but nulls.
fn is_without_record(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Reply {
        #[serde(rename = "data")]
        _data: BTreeMap<AnyName, Void>,
        #[serde(rename = "errors")]
        _errors: Option<[(); 0]>,
    }
    serde_json::from_slice::<Reply>(without_mark(body)).is_ok()
}

/// A body without a byte order mark (RFC 8259 section 8.1).
fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)
}

/// `id`, `number`, `consignmentNumber` and the like; an account is no record.
fn is_name_of_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    (name.ends_with("id") && !name.ends_with("accountid")) || name.ends_with("number")
}

/// How much of a body is looked at: in our documents `pageInfo` comes before the records.
pub(crate) const BEGINNING: usize = 4_096;

/// Reads `pageInfo` as soon as it is complete. It is a hint: the decoded page has the last word.
pub(crate) fn early_page_info(body: &[u8]) -> Option<PageInfo> {
    const KEY: &[u8] = b"\"pageInfo\"";
    let body = body.get(..BEGINNING).unwrap_or(body);
    let at = body.windows(KEY.len()).position(|window| window == KEY)?;
    let rest = body
        .get(at + KEY.len()..)?
        .trim_ascii_start()
        .strip_prefix(b":")?;
    serde_json::Deserializer::from_slice(rest)
        .into_iter::<PageInfo>()
        .next()?
        .ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::overrides::Overrides;
    use super::super::request::encode_operation;
    use super::*;

    #[test]
    fn a_record_is_named_by_its_id_or_number_in_the_variables_or_in_an_input() {
        let names = |variables: Value| {
            let document = "mutation A { a }";
            let encoded = encode_operation(document, "A", &variables, &Overrides::default());
            encoded.unwrap().names_record()
        };
        for variables in [
            json!({"id": "c-1", "envdAccountId": "envd-1"}),
            json!({"id": 7}),
            json!({"input": {"number": "C-1"}}),
            json!({"input": {"consignmentNumber": "C-1"}}),
            json!({"templateId": "t-1"}),
        ] {
            assert!(names(variables.clone()), "{variables}");
        }
        for variables in [
            json!({}),
            json!(null),
            json!({"envdAccountId": "envd-1", "first": 5, "after": "c-1"}),
            json!({"id": null}),
            json!({"input": {"id": "", "forms": ["LPAC1"]}}),
            json!({"input": {"answers": [{"questionId": "17"}], "declaration": {"certificateNumber": "A1"}}}),
        ] {
            assert!(!names(variables.clone()), "{variables}");
        }
    }

    #[test]
    fn a_record_is_read_from_the_text_only_where_it_is_expected() {
        let known = super::super::catalogue::named("copyConsignment").unwrap();
        let location = RecordLocation::stated(known).unwrap();
        let read = |data: Value, errors: Value| {
            let body = json!({"data": data, "errors": errors}).to_string();
            let outcome: Option<Outcome<Value>> =
                expected_record(&location, 200, None, body.as_bytes());
            outcome.map(|outcome| (outcome.value == data, outcome.problems.len()))
        };
        let expected = json!({"copyConsignment": {"data": {"id": null, "number": "C-1"}}});
        assert_eq!(read(expected.clone(), json!(null)), Some((true, 0)));
        let errors = json!([{"message": "Required"}]);
        assert_eq!(read(expected, errors), Some((true, 1)));
        for data in [
            json!({"copyConsignment": {"data": {"id": null}}}),
            json!({"copyConsignment": {"data": null, "id": "c-1"}}),
            json!({"copyConsignment": {"id": "c-1"}}),
            json!({"copyConsignment": [{"id": "c-1"}]}),
            json!({"deleteConsignment": {"data": {"id": "c-1"}}}),
            json!({"copyConsignment": {"data": {"id": "c-1"}}, "other": 1}),
            json!(null),
        ] {
            assert_eq!(read(data.clone(), json!(null)), None, "{data}");
        }
    }

    #[test]
    fn it_is_read_once_it_is_complete() {
        let body = br#"{"data": {"list": {"totalCount": 9, "pageInfo" : {"hasNextPage": true, "endCursor": "x\"y"}, "edges": [{"#;
        let complete = body.iter().rposition(|&byte| byte == b'}').unwrap() + 1;
        for length in 0..body.len() {
            let found = early_page_info(&body[..length]);
            assert_eq!(found.is_some(), length >= complete, "{length}");
        }
        let info = early_page_info(body).unwrap();
        assert_eq!(info.end_cursor.as_deref(), Some("x\"y"));
    }

    #[test]
    fn other_bodies_have_none() {
        for body in [
            &b"<html>"[..],
            br#"{"a": "\"pageInfo\": {}"}"#,
            br#"{"a": "pageInfo"}"#,
            br#"{"pageInfo": null}"#,
            b"\xff\xfe",
        ] {
            assert!(early_page_info(body).is_none(), "{body:?}");
        }
    }
}
