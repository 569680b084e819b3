//! A request of the register, and the records of its reply (spec 2.10).

use std::time::SystemTime;

use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;
use url::Url;

use super::OPERATION;
use super::if_modified::{IfModified, last_modified};
use crate::error::{BodyShape, Error, Received, Repr, Result, json_fault};
use crate::graphql::misfit::{self, Misfit};
use crate::graphql::{SalvagedList, Unreadable, salvage_list, unreadable_record};
use crate::model::json_path::{joined, path_of};
use crate::model::{List, Property, reply_memory};
use crate::send::Operation;
use crate::transport::header::{ACCEPT, HeaderValue, IF_MODIFIED_SINCE};
use crate::transport::{Reply, Request};

/// A request for records; a conditional one may find that they did not change.
pub(super) struct GetRecords {
    /// For traces, which must not show the address with its search values.
    kind: &'static str,
    pub(super) since: Option<HeaderValue>,
}

impl GetRecords {
    pub(super) fn new(kind: &'static str, since: Option<HeaderValue>) -> Self {
        Self { kind, since }
    }

    pub(super) fn request(&self, url: Url) -> Request {
        let request = get(url);
        match &self.since {
            Some(since) => request.header(IF_MODIFIED_SINCE, since.clone()),
            None => request,
        }
    }
}

/// Errors come as JSON or XML (spec 7.1); the register has only JSON records.
fn get(url: Url) -> Request {
    Request::get(url).header(ACCEPT, HeaderValue::from_static("application/json"))
}

impl Operation for GetRecords {
    type Value = IfModified<Subset>;

    fn name(&self) -> &str {
        OPERATION
    }

    fn kind(&self) -> &'static str {
        self.kind
    }

    fn is_change(&self) -> bool {
        false
    }

    /// Another status than 2xx is an error, except the 304 of a conditional request.
    fn decode_reply(&self, reply: Reply) -> Result<IfModified<Subset>> {
        match reply.status {
            304 if self.since.is_some() => Ok(IfModified::Unchanged),
            200..=299 => {
                let modified = last_modified(&reply);
                let mut subset = decode(reply)?;
                subset.last_modified = modified;
                Ok(IfModified::changed(subset, modified))
            }
            _ => Err(reply.into_error()),
        }
    }
}

/// A request of the caller's, whose reply may be any JSON.
pub(super) struct GetValue;

impl GetValue {
    pub(super) fn request(url: Url) -> Request {
        get(url)
    }
}

impl Operation for GetValue {
    type Value = Value;

    fn name(&self) -> &str {
        OPERATION
    }

    fn kind(&self) -> &'static str {
        "get"
    }

    fn is_change(&self) -> bool {
        false
    }

    fn decode_reply(&self, reply: Reply) -> Result<Value> {
        match reply.status {
            204 => Ok(Value::Null),
            200..=299 => match text_of(&reply).map(reply_memory::whole_value) {
                Some(Some(Ok(value))) => Ok(value),
                Some(Some(Err(failure))) => Err(unexpected(reply, None, fault_at(&failure))),
                Some(None) => Err(too_much(&reply)),
                None => Err(unexpected(reply, None, NOT_UTF8.to_owned())),
            },
            _ => Err(reply.into_error()),
        }
    }
}

/// `{"Value": ..}`; both names must be there, or any JSON object would be an empty page.
#[derive(Deserialize)]
struct RecordsReply {
    #[serde(rename = "Value", deserialize_with = "Option::deserialize")]
    value: Option<Subset>,
}

/// A part of the result.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Subset {
    pub(super) offset: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) total: Option<u64>,
    #[serde(rename = "SubSet", deserialize_with = "List::deserialize")]
    pub(super) records: List<Property>,
    /// The time of the register's last change, if the reply has it.
    #[serde(skip)]
    pub(super) last_modified: Option<SystemTime>,
    /// The records that could not be read: their elements are null.
    #[serde(skip)]
    pub(super) unreadable: Vec<Unreadable>,
}

impl Subset {
    /// How many places the page has, including those in which the register sent null.
    pub(super) fn count(&self) -> u64 {
        (self.records.len() + self.records.null_positions().len()) as u64
    }
}

/// Reads a reply of status 2xx.
fn decode(reply: Reply) -> Result<Subset> {
    let status = reply.status;
    if status == 204 {
        return Ok(Subset::default());
    }
    let Some(text) = text_of(&reply) else {
        return Err(unexpected(reply, None, NOT_UTF8.to_owned()));
    };
    let read = reply_memory::limited(text.len(), || reply_memory::read::<RecordsReply>(text));
    let failure = match read.ok_or_else(|| too_much(&reply))? {
        Ok(envelope) => return Ok(envelope.value.unwrap_or_default()),
        Err(failure) => failure,
    };
    if let Some(subset) = mended(status, text) {
        return Ok(subset);
    }
    if failure.classify() != Category::Data {
        return Err(unexpected(reply, None, fault_at(&failure)));
    }
    let value = reply_memory::value(text);
    if let Some(subset) = other_shape(status, &value) {
        return Ok(subset);
    }
    let path = path_of(text, &failure);
    Err(unexpected(reply, Some((path, value)), fault_at(&failure)))
}

const NOT_UTF8: &str = "the body is not UTF-8";

/// The text of a reply. UTF-8 is checked once for the body: `serde_json` would check each string.
fn text_of(reply: &Reply) -> Option<&str> {
    let text = std::str::from_utf8(&reply.body).ok()?;
    // A byte order mark may be ignored (RFC 8259 section 8.1).
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn fault_at(failure: &serde_json::Error) -> String {
    let (line, column) = (failure.line(), failure.column());
    format!("{}, line {line} column {column}", json_fault(failure))
}

/// The error for a reply that does not fit; `found` is JSON of another shape, and where it does not fit.
fn unexpected(reply: Reply, found: Option<(String, Value)>, detail: String) -> Error {
    let media_type = reply.media_type();
    let text = String::from_utf8_lossy(&reply.body);
    let is_json = BodyShape::of(media_type.as_deref(), &text) == BodyShape::Json;
    // A web page of a proxy in front of the register, or a compressed body.
    if found.is_none() && (!is_json || reply.is_encoded()) {
        return reply.into_error();
    }
    let (path, data) = found.map_or((None, None), |(path, data)| (Some(path), Some(data)));
    let received = Received::new(reply.status, media_type.as_deref(), &reply.body, data);
    // The server's message is more precise than "no records".
    if path.as_deref() == Some("") {
        let error = Error::http(received.clone());
        if error.server_message().is_some() {
            return error;
        }
    }
    let kind = Repr::Decode {
        status: reply.status,
        path: path
            .filter(|path| !path.is_empty())
            .unwrap_or_else(|| ".".to_owned()),
        detail,
        errors: Vec::new(),
    };
    Error::new(kind).with_received(received)
}

fn too_much(reply: &Reply) -> Error {
    let media_type = reply.media_type();
    let received = Received::new(reply.status, media_type.as_deref(), &reply.body, None);
    Error::protocol(reply_memory::TOO_MUCH).with_received(received)
}

/// Reads the reply again, record by record.
fn mended(status: u16, text: &str) -> Option<Subset> {
    let SalvagedList { text, unreadable } =
        salvage_list::<RecordsReply>(text, "Value.SubSet", &["Value", "SubSet"], status)?;
    let mut subset = reply_memory::from_str::<RecordsReply>(&text).ok()?.value?;
    let named = |record: Unreadable| Unreadable {
        error: record.error.with_operation(OPERATION),
        ..record
    };
    subset.unreadable = unreadable.into_iter().map(named).collect();
    Some(subset)
}

/// The members that may lead to the records: those of the specification, and that of the earlier interface in place of
/// `SubSet` (public: eNVD samples).
const WRAPPERS: [&str; 3] = ["Value", "SubSet", "Items"];

/// Reads a reply of another shape than that of a search: a list, or one record with a PIC, bare or wrapped. `None` when there
/// is neither.
///
/// assumed: the specification does not show the reply to a look-up (2.10)
fn other_shape(status: u16, reply: &Value) -> Option<Subset> {
    let (mut around, mut found, mut path) = (reply, reply, String::new());
    while !is_record(found) {
        let wrapped = WRAPPERS
            .iter()
            .find_map(|name| Some((name, found.get(name)?)));
        let Some((name, inside)) = wrapped else {
            break;
        };
        (around, found) = (found, inside);
        path = if path.is_empty() {
            (*name).to_owned()
        } else {
            format!("{path}.{name}")
        };
    }
    let is_wrapped = !path.is_empty();
    let mut records = match found {
        Value::Array(records) => records.clone(),
        Value::Null if is_wrapped => Vec::new(),
        Value::Object(_) if is_record(found) => vec![found.clone()],
        Value::Object(members) if is_wrapped && is_without_records(members) => {
            around = found;
            Vec::new()
        }
        _ => return None,
    };
    if !records.is_empty()
        && !records
            .iter()
            .any(|record| record.is_null() || is_record(record))
    {
        return None;
    }
    let mut unreadable = Vec::new();
    for (index, record) in records.iter_mut().enumerate() {
        let text = record.to_string();
        let Err(Misfit {
            path: inside,
            detail,
        }) = misfit::read::<Option<Property>>(&text)
        else {
            continue;
        };
        let part = if found.is_array() {
            format!("{path}[{index}]")
        } else {
            path.clone()
        };
        let at = joined(&part, &inside);
        let error = unreadable_record(status, at, detail, &text);
        unreadable.push(Unreadable {
            index,
            error: error.with_operation(OPERATION),
        });
        *record = Value::Null;
    }
    let number = |name| match around.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(number) => number.as_u64().map(Some),
    };
    Some(Subset {
        offset: number("Offset")?,
        limit: number("Limit")?,
        total: number("Total")?,
        records: reply_memory::from_str(&Value::Array(records).to_string()).ok()?,
        unreadable,
        last_modified: None,
    })
}

fn is_record(value: &Value) -> bool {
    value.get("PIC").is_some_and(|pic| !pic.is_null())
}

/// Whether an object states that there are no records: by a total of 0, or by having nothing but the numbers of a page.
fn is_without_records(members: &serde_json::Map<String, Value>) -> bool {
    let is_number = |name: &String| ["Offset", "Limit", "Total"].contains(&name.as_str());
    members.get("Total").is_some_and(|total| *total == 0) || members.keys().all(is_number)
}

#[cfg(test)]
mod tests {
    use crate::graphql::tests::random::{break_value, list_values};
    use crate::transport::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

    use super::*;
    use crate::error::ErrorKind;

    fn reply(media_type: &'static str, body: &'static str) -> Reply {
        Reply {
            status: 200,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]),
            body: body.into(),
        }
    }

    #[test]
    fn a_misfit_is_located_and_its_value_is_not_shown() {
        let body = r#"{"Value": {"SubSet": [{"PIC": "QAZZ7777"}, {"Town": ["hidden"]}]}}"#;
        let found = decode(reply("application/json", body)).unwrap();
        assert_eq!((found.records.len(), found.count()), (1, 2));
        let error = &found.unreadable[0].error;
        assert!(error.kind() == ErrorKind::UnreadableRecord);
        assert_eq!(error.json_path(), Some("Value.SubSet[1].Town"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
        let body = r#"{"Value": {"Total": "hidden"}}"#;
        let error = decode(reply("application/json", body)).err().unwrap();
        assert_eq!(error.json_path(), Some("Value.Total"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
    }

    #[test]
    fn another_object_is_not_an_empty_page() {
        for (body, path) in [
            ("{}", "."),
            ("null", "."),
            ("5", "."),
            (r#"[{"Town": "x"}]"#, "[0]"),
            (r#"{"PIC": null, "Town": "x"}"#, "."),
            (r#"{"Value": 5}"#, "Value"),
            (
                r#"{"Value": {"Properties": [{"PIC": "QAZZ7777"}]}}"#,
                "Value",
            ),
            (r#"{"Value": {"Town": "x", "Total": 1}}"#, "Value"),
            (r#"{"Value": [{"Town": "x"}]}"#, "Value[0]"),
            (r#"{"Value": {"SubSet": 5}}"#, "Value.SubSet"),
        ] {
            let error = decode(reply("application/json", body)).err().unwrap();
            assert!(error.kind() == ErrorKind::Decode, "{body}");
            let sent: Value = serde_json::from_str(body).unwrap();
            assert_eq!(error.raw_data(), Some(&sent), "{body}");
            assert_eq!(error.json_path(), Some(path), "{body}");
        }
        for body in [
            r#"{"Value": null}"#,
            "\u{feff}{\"Value\": {}}",
            "[]",
            r#"{"Value": []}"#,
            r#"{"Value": {"SubSet": null}}"#,
            r#"{"Value": {"Offset": 0, "Limit": 10, "Total": 0}}"#,
            r#"{"Value": {"Total": 0, "Facets": []}}"#,
        ] {
            let nothing = decode(reply("application/json", body)).unwrap();
            assert!(nothing.records.is_empty(), "{body}");
        }
    }

    #[test]
    fn records_are_read_from_every_shape() {
        for (shape, total) in [
            (r#"{"Value": {"SubSet": [@], "Total": 1}}"#, Some(1)),
            (r#"{"Value": {"Items": [@], "Total": 1}}"#, Some(1)),
            (r#"{"Value": {"SubSet": @, "Total": 1}}"#, Some(1)),
            (r#"{"SubSet": [@], "Total": 1}"#, Some(1)),
            (r#"{"Value": [@]}"#, None),
            (r#"{"Value": @}"#, None),
            ("[@]", None),
            ("@", None),
        ] {
            let read = |record: &str| {
                let body = shape.replace('@', record).leak();
                decode(reply("application/json", body)).unwrap()
            };
            let found = read(r#"{"PIC": "QAZZ7777", "Value": {"x": 1}}"#);
            assert_eq!(found.records.len(), 1, "{shape}");
            assert_eq!(found.records[0].pic.as_deref(), Some("QAZZ7777"), "{shape}");
            let unknown = found.records[0].unknown_fields().unwrap();
            assert_eq!(unknown["Value"]["x"], 1, "{shape}");
            assert_eq!(found.total, total, "{shape}");
            // One that does not fit is not "not found".
            let found = read(r#"{"PIC": "QAZZ7777", "Town": ["hidden"]}"#);
            assert_eq!((found.records.len(), found.count()), (0, 1), "{shape}");
            let error = &found.unreadable[0].error;
            let record = shape.find('@').unwrap();
            let path: Vec<_> = ["Value", "SubSet", "Items"]
                .into_iter()
                .filter(|name| shape.find(name).is_some_and(|at| at < record))
                .collect();
            let index = if shape.contains("[@]") { "[0]." } else { "." };
            let path = format!("{}{index}Town", path.join("."));
            assert_eq!(
                error.json_path(),
                Some(path.trim_start_matches('.')),
                "{shape}"
            );
            assert!(error.kind() == ErrorKind::UnreadableRecord);
        }
    }

    #[test]
    fn a_message_in_place_of_records_is_kept() {
        let error = decode(reply("application/json", r#"{"Message": "Not accepted"}"#))
            .err()
            .unwrap();
        assert_eq!(error.http_status(), Some(200));
        assert_eq!(error.server_message().as_deref(), Some("Not accepted"));
    }

    #[test]
    fn a_web_page_is_recognised_by_its_media_type() {
        let error = decode(reply("text/html; charset=utf-8", "<html>"))
            .err()
            .unwrap();
        assert_eq!(error.media_type(), Some("text/html"));
        assert!(
            decode(reply("application/json", "{\"Val"))
                .err()
                .unwrap()
                .kind()
                == ErrorKind::Decode
        );
    }

    #[test]
    fn the_path_of_an_error_is_that_of_the_value_that_does_not_fit() {
        let whole: Value =
            serde_json::from_str(include_str!("../../tests/fixtures/register/page-1.json"))
                .unwrap();
        let mut values = Vec::new();
        list_values("", "", &whole, &mut values);
        for (path, pointer) in values {
            let mut broken = whole.clone();
            break_value(broken.pointer_mut(&pointer).unwrap());
            let error = match decode(reply("application/json", broken.to_string().leak())) {
                Ok(mut found) => found.unreadable.remove(0).error,
                Err(error) => error,
            };
            assert_eq!(error.json_path(), Some(path.as_str()), "{error}");
        }
    }

    #[test]
    fn a_text_that_is_no_text_and_a_name_that_comes_twice_cost_nothing_else() {
        let body = r#"{"Value": {"Total": 0, "SubSet": [{"PIC": "QAZZ7777", "Town": "\ud83d", "Town": "a\ude00",
            "AdminStatus": {"ShortCode": "I", "ShortCode": "A"}, "New": "\ud83d"}], "Total": 1}}"#;
        let found = decode(reply("application/json", body)).unwrap();
        assert_eq!((found.total, found.unreadable.len()), (Some(1), 0));
        let property = &found.records[0];
        assert_eq!(property.town.as_deref(), Some("a\u{fffd}"));
        assert!(property.is_active());
        assert_eq!(property.unknown_fields().unwrap()["New"], "\u{fffd}");
    }
}
