//! Reads the replies of the register (spec 2.10).

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::OPERATION;
use crate::error::{BodyShape, Error, Result, ServerErrors, json_fault};
use crate::graphql::{Unreadable, unreadable_record};
use crate::model::json_path::{joined, path_of};
use crate::model::{BorrowedText, Property, json_text, object, places, reply_memory};
use crate::transport::Reply;

/// One page of a result.
#[derive(Default)]
pub(super) struct Subset {
    pub(super) offset: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) records: Vec<Property>,
    /// The places in the list of nulls and of unreadable records.
    pub(super) gaps: Vec<usize>,
    /// The records that could not be read.
    pub(super) unreadable: Vec<Unreadable>,
    /// How often the request was sent.
    pub(super) attempts: u32,
    /// The time of the register's last change, if the reply has it.
    pub(super) last_modified: Option<SystemTime>,
}

impl Subset {
    /// The length of the list in the reply.
    pub(super) fn length(&self) -> usize {
        self.records.len() + self.gaps.len()
    }
}

/// Reads the records of a reply of status 2xx.
pub(super) fn records(reply: Reply) -> Result<Subset> {
    let status = reply.status;
    if status == 204 {
        return Ok(Subset::default());
    }
    let Some(text) = text_of(&reply) else {
        return Err(unexpected(reply, None, NOT_UTF8.to_owned()));
    };
    if let Some(Some(subset)) = reply_memory::limited(text.len(), || search_reply(text)) {
        return Ok(subset);
    }
    let read = reply_memory::limited(text.len(), || subset_of(status, text));
    let fault = match read.ok_or_else(|| too_much(&reply))? {
        Ok(subset) => return Ok(subset),
        Err(fault) => fault,
    };
    let value = || reply_memory::value(text);
    let found = fault.path.map(|path| (path, value()));
    Err(unexpected(reply, found, fault.detail))
}

/// Reads a reply of status 2xx that may be any JSON.
pub(super) fn any_value(reply: Reply) -> Result<Value> {
    if reply.status == 204 {
        return Ok(Value::Null);
    }
    match text_of(&reply).map(reply_memory::whole_value) {
        Some(Some(Ok(value))) => Ok(value),
        Some(Some(Err(failure))) => Err(unexpected(reply, None, fault_at(&failure))),
        Some(None) => Err(too_much(&reply)),
        None => Err(unexpected(reply, None, NOT_UTF8.to_owned())),
    }
}

const NOT_UTF8: &str = "the body is not UTF-8";

/// The text of a reply. Checks UTF-8 once for the entire body, where `serde_json` would check each string.
fn text_of(reply: &Reply) -> Option<&str> {
    let text = std::str::from_utf8(&reply.body).ok()?;
    // A byte order mark may be ignored (RFC 8259 section 8.1).
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn fault_at(failure: &serde_json::Error) -> String {
    let (line, column) = (failure.line(), failure.column());
    format!("{}, line {line} column {column}", json_fault(failure))
}

/// The error for an unexpected reply; `found` is the JSON in it, with the path of the mismatch.
fn unexpected(reply: Reply, found: Option<(String, Value)>, detail: String) -> Error {
    let media_type = reply.media_type();
    let text = String::from_utf8_lossy(&reply.body);
    let is_json = BodyShape::of(media_type.as_deref(), &text) == BodyShape::Json;
    // A web page from a proxy in front of the register, or a compressed body.
    if found.is_none() && (!is_json || reply.is_encoded()) {
        return reply.into_error();
    }
    let (path, data) = found.unzip();
    let received = reply.received_with(data);
    // The server's message is more precise than "no records".
    if path.as_deref() == Some("") {
        let error = Error::http(received.clone());
        if error.server_message().is_some() {
            return error;
        }
    }
    let path = path.unwrap_or_default();
    Error::decode(received, path, detail, ServerErrors::default())
}

fn too_much(reply: &Reply) -> Error {
    Error::protocol(reply_memory::TOO_MUCH).with_received(reply.received_with(None))
}

/// The search reply of the specification (2.10), read in one pass. [`subset_of`] reads all other shapes.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SearchReply {
    #[serde(deserialize_with = "object")]
    value: SearchPage,
    /// An object with a PIC is a property, so this is not a page.
    #[serde(rename = "PIC")]
    pic: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SearchPage {
    offset: Option<u64>,
    limit: Option<u64>,
    total: Option<u64>,
    sub_set: SubSetRecords,
    #[serde(rename = "PIC")]
    pic: Option<IgnoredAny>,
}

/// The records of a list, and the places of its nulls.
struct SubSetRecords(Vec<Property>, Vec<usize>);

impl<'de> Deserialize<'de> for SubSetRecords {
    fn deserialize<D: Deserializer<'de>>(list: D) -> std::result::Result<Self, D::Error> {
        let mut gaps = Vec::new();
        let mut place = 0;
        let records = places(list, |record: Option<Property>| {
            if record.is_none() {
                gaps.push(place);
            }
            place += 1;
            record
        })?;
        let records = records.ok_or_else(|| D::Error::custom("no list"))?;
        Ok(Self(records, gaps))
    }
}

fn search_reply(text: &str) -> Option<Subset> {
    // serde would also accept an array, with its first element as `value`.
    let text = text.trim_ascii_start();
    let reply = text
        .starts_with('{')
        .then(|| json_text::from_str(text).ok());
    let SearchReply { value, pic } = reply??;
    let SubSetRecords(records, gaps) = value.sub_set;
    pic.or(value.pic).is_none().then(|| Subset {
        offset: value.offset,
        limit: value.limit,
        total: value.total,
        records,
        gaps,
        ..Subset::default()
    })
}

/// Why a reply has no readable records.
struct NoRecords {
    /// The path of the mismatch; `None` if the text is not JSON.
    path: Option<String>,
    detail: String,
}

impl NoRecords {
    fn at(path: String) -> Self {
        let detail = "a value of another type than expected".to_owned();
        let path = Some(path);
        Self { path, detail }
    }

    /// Describes an error in a part of the reply.
    fn of(part: &str, text: &str, error: &serde_json::Error) -> Self {
        let is_json = error.classify() == Category::Data;
        Self {
            path: is_json.then(|| joined(part, &path_of(text, error))),
            detail: fault_at(error),
        }
    }
}

/// Members that may contain the records: those of the specification, and the earlier interface's equivalent of `SubSet` (public:
/// eNVD samples).
const WRAPPERS: [&str; 3] = ["Value", "SubSet", "Items"];

/// The deepest nesting of wrappers. Each level reads the text inside it again, so a hostile register could otherwise keep the
/// reader busy for hours.
const MAX_WRAPPERS: usize = 3;

/// The members of an object; if a name repeats, the last one counts (RFC 8259 section 4).
#[derive(Default, Deserialize)]
#[serde(transparent)]
struct RegisterObject<'a>(#[serde(borrow)] BTreeMap<BorrowedText<'a>, &'a RawValue>);

impl<'a> RegisterObject<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let value = self.0.get(&BorrowedText(name.into()))?;
        Some(value.get())
    }

    fn are_of_property(&self) -> bool {
        self.get("PIC").is_some_and(|pic| pic != "null")
    }

    /// Whether the object describes an empty page: its total is 0, or it has only the numbers of a page.
    fn are_of_no_records(&self) -> bool {
        let is_number = |name: &BorrowedText<'_>| ["Offset", "Limit", "Total"].contains(&&*name.0);
        self.get("Total") == Some("0") || self.0.keys().all(is_number)
    }
}

/// Reads the records of a reply: a list, or one record with a PIC, bare or wrapped. Only the list of a search may have records
/// without a PIC; otherwise every object would pass as a page.
/// assumed: the specification does not show the reply to a look-up (2.10)
// profile: register.recordShape
fn subset_of(status: u16, text: &str) -> Result<Subset, NoRecords> {
    let mut around = RegisterObject::default();
    let mut above = String::new();
    let mut path = String::new();
    let mut found = text.trim_ascii_start();
    let mut is_record = false;
    for wrappers in 0..=MAX_WRAPPERS {
        if !found.starts_with('{') {
            break;
        }
        let members: RegisterObject<'_> =
            json_text::from_str(found).map_err(|error| NoRecords::of(&path, found, &error))?;
        is_record = members.are_of_property();
        if is_record {
            break;
        }
        let mut wrapped = WRAPPERS.into_iter();
        let inside = wrapped.find_map(|name| Some((name, members.get(name)?)));
        above.clone_from(&path);
        (path, found) = match inside {
            Some(_) if wrappers == MAX_WRAPPERS => return Err(NoRecords::at(path)),
            Some((name, inside)) => (joined(&path, name), inside),
            None if !path.is_empty() && members.are_of_no_records() => (path, "null"),
            None => return Err(NoRecords::at(path)),
        };
        around = members;
    }
    let number = |name: &str| {
        let number = around.get(name).unwrap_or("null");
        json_text::from_str(number)
            .map_err(|error| NoRecords::of(&joined(&above, name), number, &error))
    };
    let mut subset = Subset {
        offset: number("Offset")?,
        limit: number("Limit")?,
        total: number("Total")?,
        ..Subset::default()
    };
    let list: Vec<Option<&RawValue>> = match found {
        _ if is_record => vec![json_text::from_str(found).ok()],
        "null" if !path.is_empty() => Vec::new(),
        list => {
            let mut list = json_text::deserializer(list);
            let places = places(&mut list, Some).and_then(|places| list.end().map(|()| places));
            let places = places.map_err(|error| NoRecords::of(&path, found, &error))?;
            places.ok_or_else(|| NoRecords::at(path.clone()))?
        }
    };
    let is_search = path == "Value.SubSet";
    if !is_search
        && !is_record
        && !list.is_empty()
        && !list.iter().any(|one| one.is_none_or(is_property))
    {
        return Err(NoRecords::at(format!("{path}[0]")));
    }
    for (index, raw) in list.into_iter().enumerate() {
        let Some(record) = raw.map(RawValue::get) else {
            subset.gaps.push(index);
            continue;
        };
        match reply_memory::read(record) {
            Ok(property) => reply_memory::push(&mut subset.records, property)
                .map_err(|error| NoRecords::of(&path, found, &error))?,
            Err(error) => {
                let part = if is_record {
                    path.clone()
                } else {
                    format!("{path}[{index}]")
                };
                let at = joined(&part, &path_of(record, &error));
                let error = unreadable_record(status, at, json_fault(&error), record);
                let error = error.with_operation(OPERATION);
                subset.gaps.push(index);
                subset.unreadable.push(Unreadable { index, error });
            }
        }
        if subset.unreadable.len() > MAX_UNREADABLE {
            return Err(NoRecords::at(path));
        }
    }
    Ok(subset)
}

/// With more unreadable records than this, the interface must have changed: the entire reply is unreadable.
const MAX_UNREADABLE: usize = 1_000;

fn is_property(record: &RawValue) -> bool {
    let members = json_text::from_str::<RegisterObject<'_>>(record.get());
    members.is_ok_and(|members| members.are_of_property())
}

#[cfg(test)]
mod tests {
    use crate::graphql::tests::random::{break_value, list_values};
    use crate::transport::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

    use super::*;
    use crate::error::ErrorKind;
    use crate::error::tests::assert_fails;
    use crate::model::json_text::work;

    fn reply(media_type: &'static str, body: &'static str) -> Reply {
        Reply {
            status: 200,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]),
            body: body.into(),
        }
    }

    /// A page of three records; more would only repeat the same errors.
    fn page() -> Value {
        let page = include_str!("../../tests/fixtures/register/page-1.json");
        let mut page: Value = serde_json::from_str(page).unwrap();
        page["Value"]["SubSet"].as_array_mut().unwrap().truncate(3);
        page
    }

    /// For each value, its path and the JSON with that value broken.
    fn broken(whole: &Value) -> impl Iterator<Item = (String, String)> {
        let mut values = Vec::new();
        list_values("", "", whole, &mut values);
        values.into_iter().map(|(path, pointer)| {
            let mut broken = whole.clone();
            break_value(broken.pointer_mut(&pointer).unwrap());
            (path, broken.to_string())
        })
    }

    #[test]
    fn one_pass_reads_the_same_as_the_general_reader() {
        let whole = page();
        let broken = broken(&whole).map(|(_, text)| text);
        let shapes = [
            r#"{"Value": {"SubSet": [@, null], "Total": 2, "Next": [@]}, "Error": null}"#,
            r#"{"Value": {"SubSet": [@], "PIC": null}, "PIC": null}"#,
            r#"{"Value": {"SubSet": [@]}, "PIC": "QAZZ7777"}"#,
            r#"{"Value": {"SubSet": [@], "PIC": "QAZZ7777"}}"#,
            r#"{"Value": {"SubSet": [], "Total": 0}, "Value": {"SubSet": [@], "Total": 1}}"#,
            r#"{"Value": {"SubSet": [], "SubSet": [@], "Total": 1}}"#,
            r#"{"Value": {"SubSet": null, "Total": 0}}"#,
            r#"{"Value": {"SubSet": [null, @, null, @]}}"#,
            r#"{"Value": {"SubSet": @, "Total": 1}}"#,
            r#"{"Value": {"SubSet": [@], "Total": "1"}}"#,
            r#"{"Value": [0, 10, 1, [@]]}"#,
            r#"[{"SubSet": [@], "Total": 1}]"#,
            r#"{"Value": {"SubSet": [@]}} {}"#,
        ];
        let shapes = shapes.map(|shape| shape.replace('@', r#"{"PIC": "QAZZ7777", "X": 1}"#));
        let mut in_one_pass = 0;
        for text in broken.chain(shapes).chain([whole.to_string()]) {
            let Some(found) = search_reply(&text) else {
                continue;
            };
            let other = subset_of(200, &text).ok().unwrap();
            let parts = |one: &Subset| {
                (
                    one.offset,
                    one.limit,
                    one.total,
                    one.records.clone(),
                    one.gaps.clone(),
                )
            };
            assert_eq!(parts(&found), parts(&other), "{text}");
            assert!(other.unreadable.is_empty(), "{text}");
            in_one_pass += 1;
        }
        // The first three shapes, and the unbroken page.
        assert_eq!(in_one_pass, 4);
    }

    #[test]
    fn an_unexpected_value_is_located_but_not_shown() {
        let body = r#"{"Value": {"SubSet": [{"PIC": "QAZZ7777"}, {"Town": ["hidden"]}]}}"#;
        let found = records(reply("application/json", body)).unwrap();
        assert_eq!((found.records.len(), found.gaps.as_slice()), (1, &[1][..]));
        let error = &found.unreadable[0].error;
        assert!(error.kind() == ErrorKind::UnreadableRecord);
        assert_eq!(error.json_path(), Some("Value.SubSet[1].Town"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
        let body = r#"{"Value": {"Total": "hidden"}}"#;
        let error = records(reply("application/json", body)).err().unwrap();
        assert_eq!(error.json_path(), Some("Value.Total"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
    }

    #[test]
    fn a_thousand_unreadable_records_are_a_difference_of_the_interface() {
        let read = |count: usize| {
            let listed = vec![r#"{"PIC": 5}"#; count].join(",");
            let body = format!(r#"{{"Value": {{"SubSet": [{listed}]}}}}"#);
            records(reply("application/json", body.leak()))
        };
        assert_eq!(read(1_000).unwrap().unreadable.len(), 1_000);
        assert_eq!(read(1_001).err().unwrap().kind(), ErrorKind::Decode);
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
            (r#"{"Value": {"Properties": [{"PIC": "Q"}]}}"#, "Value"),
            (r#"{"Value": {"Town": "x", "Total": 1}}"#, "Value"),
            (r#"{"Value": [{"Town": "x"}]}"#, "Value[0]"),
            (r#"{"Value": {"SubSet": 5}}"#, "Value.SubSet"),
            (
                r#"{"Value": {"Value": {"Value": {"Value": [{"PIC": "Q"}]}}}}"#,
                "Value.Value.Value",
            ),
        ] {
            let error = records(reply("application/json", body)).err().unwrap();
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
            r#"{"Value": {"Value": {"SubSet": []}}}"#,
            r#"{"Value": {"SubSet": null}}"#,
            r#"{"Value": {"Offset": 0, "Limit": 10, "Total": 0}}"#,
            r#"{"Value": {"Total": 0, "Facets": []}}"#,
        ] {
            let nothing = records(reply("application/json", body)).unwrap();
            assert_eq!(nothing.length(), 0, "{body}");
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
                records(reply("application/json", body)).unwrap()
            };
            let found = read(r#"{"PIC": "QAZZ7777", "Value": {"x": 1}}"#);
            let [property] = found.records.as_slice() else {
                panic!("{shape}");
            };
            assert_eq!(property.pic.as_deref(), Some("QAZZ7777"), "{shape}");
            let unknown = property.unknown_fields().unwrap();
            assert_eq!(unknown["Value"]["x"], 1, "{shape}");
            assert_eq!(found.total, total, "{shape}");
            // An unreadable record is not "not found".
            let found = read(r#"{"PIC": "QAZZ7777", "Town": ["hidden"]}"#);
            assert_eq!(
                (found.records.len(), found.gaps.as_slice()),
                (0, &[0][..]),
                "{shape}"
            );
            let error = &found.unreadable[0].error;
            let record = shape.find('@').unwrap();
            let is_above = |name: &&str| shape.find(name).is_some_and(|at| at < record);
            let path = ["Value", "SubSet", "Items"].into_iter().filter(is_above);
            let index = if shape.contains("[@]") { "[0]." } else { "." };
            let path = path.collect::<Vec<_>>().join(".") + index + "Town";
            let path = Some(path.trim_start_matches('.'));
            assert_eq!(error.json_path(), path, "{shape}");
            assert!(error.kind() == ErrorKind::UnreadableRecord);
        }
    }

    #[test]
    fn the_work_of_a_reply_grows_as_its_text() {
        let around = [
            ["", ""],
            ["{\"Value\":", "}"],
            ["{\"Value\":{\"SubSet\":", ",\"Total\":1}}"],
            ["{\"Value\":{\"SubSet\":[{\"PIC\":\"Q\",\"New\":", "}]}}"],
            ["{\"Value\":{\"SubSet\":[{\"PIC\":\"Q\",\"Town\":", "}]}}"],
        ];
        work::assert_linear(&around, |text| {
            let body = || reply("application/json", text.to_owned().leak());
            drop(records(body()).map_err(|error| error.report()));
            drop(any_value(body()).map_err(|error| error.report()));
        });
    }

    #[test]
    fn a_message_instead_of_records_is_kept() {
        let read = records(reply("application/json", r#"{"Message": "Not accepted"}"#));
        let error = read.err().unwrap();
        assert_eq!(error.http_status(), Some(200));
        assert_eq!(error.server_message().as_deref(), Some("Not accepted"));
    }

    #[test]
    fn a_web_page_is_recognised_by_its_media_type() {
        let page = records(reply("text/html; charset=utf-8", "<html>"));
        assert_fails(page, "NoAnswer retryable: an HTML page");
        assert_fails(records(reply("application/json", "{\"Val")), "Decode");
    }

    #[test]
    fn the_path_of_an_error_is_that_of_the_value_that_does_not_fit() {
        for (path, broken) in broken(&page()) {
            let error = match records(reply("application/json", broken.leak())) {
                Ok(mut found) => found.unreadable.remove(0).error,
                Err(error) => error,
            };
            assert_eq!(error.json_path(), Some(path.as_str()), "{error}");
        }
    }

    #[test]
    fn invalid_strings_and_repeated_names_affect_no_other_field() {
        let body = r#"{"Value": {"Total": 0, "SubSet": [{"PIC": "QAZZ7777", "Town": "\ud83d", "Town": "a\ude00",
            "AdminStatus": {"ShortCode": "I", "ShortCode": "A"}, "New": "\ud83d"}], "Total": 1}}"#;
        let found = records(reply("application/json", body)).unwrap();
        assert_eq!((found.total, found.unreadable.len()), (Some(1), 0));
        let property = &found.records[0];
        assert_eq!(property.town.as_deref(), Some("a\u{fffd}"));
        assert!(property.is_active());
        assert_eq!(property.unknown_fields().unwrap()["New"], "\u{fffd}");
    }
}
