//! Decodes the reply to an operation: first its envelope (data, errors, or both), then the record in the data, considering the kind
//! of the operation, its list, and the location of its record.
//!
//! A reply without errors and with matching data is decoded in one pass. For any other reply, each part is decoded separately,
//! so that no part hides another.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::document::DATA;
use super::misfit::{self, Misfit};
use super::outcome::ReplyFacts;
use super::request::Encoded;
use super::unreadable::{RawList, part_of};
use super::{Outcome, SalvagedList, salvage_list};
use crate::error::{Error, ReplyParts, ServerErrors, json_fault, mark_no_record_named};
use crate::model::json_path::joined;
use crate::model::{Condition, ServerError, json_text, reply_memory};

/// The part of the reply that contains the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueIn {
    /// All of the data.
    Data,
    /// The field of the operation; for a change, the record in it.
    Record,
}

/// The value of a reply, and its JSON if requested.
type Decoded<T> = Result<(Outcome<T>, Option<Box<str>>), Error>;

/// The record of an operation in the data of a reply.
struct FoundRecord<'a> {
    /// The JSON as received.
    received: &'a str,
    /// The JSON for our types; null if there is no record.
    json: &'a str,
    has_id: bool,
    /// The members that lead to it below the data.
    members: Vec<Cow<'static, str>>,
}

impl FoundRecord<'_> {
    /// Whether our types find the record in the data as received.
    fn is_at(&self, expected: &[&str]) -> bool {
        std::ptr::eq(self.json, self.received) && self.members == expected
    }

    /// The path at which it was received, below the data.
    fn path(&self) -> String {
        self.members.iter().fold(String::new(), |path, name| {
            let index = name.parse::<usize>();
            let step = index.map_or_else(|_| name.to_string(), |index| format!("[{index}]"));
            joined(&path, &step)
        })
    }
}

/// Reads the replies to an operation.
pub(crate) struct ReplyReader<'a> {
    pub(crate) sent: &'a Encoded,
}

impl ReplyReader<'_> {
    /// Decodes the reply and extracts a part of its data; `None` if the body does not belong to the interface. With `keep`,
    /// also returns the JSON of the value.
    ///
    /// A change with a reply that has neither a record nor errors is an error, because it is unknown whether the change was
    /// carried out.
    pub(crate) fn decode<D: DeserializeOwned, T>(
        &self,
        status: u16,
        media_type: Option<&str>,
        body: &[u8],
        part: impl FnOnce(D) -> Option<T>,
        keep: Option<ValueIn>,
    ) -> Option<Decoded<T>> {
        let reply = RawReply::new(status, media_type, body)?;
        // The record of a change is small, and has to be located. Decodes straight into the caller's type, because an
        // intermediate `Value` would lose digits.
        let is_plain = !self.sent.is_change() && self.sent.moved.is_none() && keep.is_none();
        let read = match is_plain.then(|| reply.at_once()).flatten() {
            Some(read) => read.map(|outcome| (outcome, None)),
            None => reply
                .parts()?
                .and_then(|outcome| self.read_value(outcome, &reply, keep)),
        };
        let taken = read.and_then(|(outcome, json)| {
            let outcome = outcome.part(part).map_err(|error| match status {
                200..=299 => error.with_received(reply.received(reply.data())),
                // Data without the record is final, but one of these statuses would make the error retryable.
                _ => error,
            });
            Ok((self.completed(outcome?), json))
        });
        Some(taken.map_err(|error| {
            let is_about_record = error.has(Condition::NotFoundOrForbidden);
            if is_about_record && !self.names_record() {
                error.of_no_record()
            } else {
                error
            }
        }))
    }

    /// Decodes the data, with the record moved to where the type expects it.
    fn read_value<T: DeserializeOwned>(
        &self,
        outcome: Outcome<&RawValue>,
        reply: &RawReply<'_>,
        keep: Option<ValueIn>,
    ) -> Decoded<T> {
        let (data, mut rest) = outcome.split();
        let data = data.get();
        rest.facts.change = self.sent.is_change();
        let raw_data = || Some(reply_memory::value(data));
        let found = self.record(data);
        let expected = self.expected_path();
        let record = found.as_ref().map_or(data, |found| found.json);
        let has_id = found.as_ref().is_some_and(|found| found.has_id);
        if self.sent.is_change() && !has_id && is_void(&reply_memory::value(record), false) {
            return Err(rest
                .without_record()
                .with_received(reply.received(raw_data())));
        }
        let names = expected.iter().rev();
        let text = match &found {
            Some(found) if !found.is_at(&expected) => names
                .fold(Cow::from(record), |text, name| {
                    format!("{{\"{name}\":{text}}}").into()
                }),
            _ => data.into(),
        };
        let received_path = |path: &str| match &found {
            Some(found) => match path.strip_prefix(expected.join(".").as_str()) {
                Some(inside) => {
                    let record = joined(&found.path(), inside.trim_start_matches('.'));
                    joined(DATA, &record)
                }
                None => joined(DATA, &found.path()),
            },
            None => joined(DATA, path),
        };
        let json = keep.map(|keep| match (keep, &found) {
            (ValueIn::Record, Some(found)) => found.received,
            (ValueIn::Record, None) => part_of(data, &expected).unwrap_or(data),
            (ValueIn::Data, _) => &text,
        });
        let json = json.map(Box::from);
        let Misfit { path, detail } = match misfit::read_counted(&text) {
            Ok((value, nulls)) => {
                rest.facts.nulls = nulls;
                return Ok((rest.with(value), json));
            }
            Err(misfit) => misfit,
        };
        let list = self.sent.known.map_or(&[][..], |known| known.list);
        let at = received_path(&list.join("."));
        let salvaged = salvage_list::<T>(&text, &at, list, rest.http_status());
        if let Some(SalvagedList { text, unreadable }) = salvaged
            && let Ok((value, nulls)) = reply_memory::counted(&text)
        {
            rest.facts.nulls = nulls.saturating_sub(unreadable.len());
            rest.facts.unreadable = unreadable;
            return Ok((rest.with(value), json));
        }
        let path = received_path(&path);
        Err(reply.unreadable(&path, detail, rest.errors(), raw_data()))
    }

    /// The members that lead to the record where our types expect it; empty for the caller's documents.
    fn expected_path(&self) -> Vec<&'static str> {
        let names = self
            .sent
            .known
            .map(|known| [Some(known.name), known.is_change().then_some(DATA)]);
        names.into_iter().flatten().flatten().collect()
    }

    /// The record of one of our changes, or a record that the profile locates elsewhere.
    ///
    /// The result of a change is nested under `data` (spec 2.5), or not nested if it clearly is a record. A deletion may merely
    /// be confirmed, without a record. Any other plain value is not a valid result.
    fn record<'a>(&self, data: &'a str) -> Option<FoundRecord<'a>> {
        let known = self.sent.known?;
        let is_change = known.is_change();
        // profile: operations.recordAt
        let mut members: Vec<Cow<'static, str>> = match &self.sent.moved {
            Some(pointer) => {
                let names = pointer.split('/').skip(1);
                names.map(|name| unescaped(name).into()).collect()
            }
            None if is_change => vec![known.name.into()],
            None => return None,
        };
        let mut received = part_of(data, &members).unwrap_or(NULL);
        // The result of a query may be a long list.
        let of_change = |received, name| is_change.then(|| part_of(received, &[name])).flatten();
        let inside = of_change(received, DATA).filter(|inside| *inside != NULL);
        if let Some(inside) = inside {
            received = inside;
            members.push(DATA.into());
        }
        let has_id = of_change(received, known.id()).is_some_and(can_be_id);
        let is_record = !is_change || inside.is_some() || self.sent.moved.is_some() || has_id;
        let json = match received {
            // A placeholder that is neither null nor a field of a record.
            "true" if known.deletes() => r#"{"deleted":true}"#,
            "false" if known.deletes() => NULL,
            _ if is_record => received,
            _ => NULL,
        };
        Some(FoundRecord {
            received,
            json,
            has_id,
            members,
        })
    }

    /// Adds data about the request: whether it was a change, whether it named a record, and the operation in the errors of
    /// records.
    fn completed<T>(&self, mut outcome: Outcome<T>) -> Outcome<T> {
        outcome.facts.change = self.sent.is_change();
        for record in &mut outcome.facts.unreadable {
            record.error = record.error.clone().with_operation(&self.sent.operation);
        }
        let not_found = |error: &ServerError| error.condition() == Condition::NotFoundOrForbidden;
        if outcome.problems.iter().any(not_found) && !self.names_record() {
            mark_no_record_named(&mut outcome.problems);
        }
        outcome
    }

    /// Whether the variables, or an input among them, contain the id or number of a record.
    fn names_record(&self) -> bool {
        type Members<'a> = BTreeMap<String, &'a RawValue>;

        #[derive(Deserialize)]
        struct SentBody<'a> {
            #[serde(borrow)]
            variables: Members<'a>,
        }
        let is_id = |name: &str| {
            // profile: fields
            let mut renames = self.sent.renames.iter();
            is_name_of_id(name)
                || renames.any(|rename| rename.theirs == name && is_name_of_id(&rename.ours))
        };
        let names_one = |members: &Members<'_>| {
            let mut members = members.iter();
            members.any(|(name, value)| is_id(name) && can_be_id(value.get()))
        };
        let is_input = |value: &&RawValue| {
            let input = serde_json::from_str(value.get());
            input.is_ok_and(|input| names_one(&input))
        };
        let body = serde_json::from_slice::<SentBody<'_>>(&self.sent.body);
        body.is_ok_and(|SentBody { variables }| {
            names_one(&variables) || variables.values().any(is_input)
        })
    }
}

const NULL: &str = "null";

/// Unescapes a name in a JSON pointer (RFC 6901 section 4).
fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

/// Whether a JSON value can be an id.
fn can_be_id(json: &str) -> bool {
    json.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        || (json.starts_with('"') && json != "\"\"")
}

/// Matches `id`, `number`, `consignmentNumber` and similar names. Account ids do not identify a record.
fn is_name_of_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    (name.ends_with("id") && !name.ends_with("accountid")) || name.ends_with("number")
}

/// The maximum number of errors to keep: a server may repeat one for each record of a large request.
const KEPT_ERRORS: usize = 1_000;

/// The longest body in which invalid UTF-8 is replaced.
const LONGEST_LOSSY: usize = 1 << 20;

/// A reply without errors. Null and an empty list mean no errors; anything else aborts the fast path immediately.
#[derive(Deserialize)]
struct Envelope<T> {
    data: Option<T>,
    #[serde(rename = "errors")]
    _errors: Option<[(); 0]>,
}

/// The parts of any reply. Duplicates are refused, because they are ambiguous.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
}

/// A reply as received.
#[derive(Clone, Copy)]
struct RawReply<'a> {
    status: u16,
    media_type: Option<&'a str>,
    bytes: &'a [u8],
    /// Whether the body belongs to the interface only if it has an `errors` array.
    needs_errors: bool,
}

impl<'a> RawReply<'a> {
    /// A reply that may belong to the interface.
    ///
    /// Media type, status and body together decide (GraphQL over HTTP, draft of 2026-08): `application/graphql-response+json`
    /// with any status, `application/json` with 2xx, and with other statuses only if there is an `errors` array.
    fn new(status: u16, media_type: Option<&'a str>, bytes: &'a [u8]) -> Option<Self> {
        let success = (200..=299).contains(&status);
        let needs_errors = match media_type {
            Some("application/graphql-response+json") => false,
            Some("application/json" | "application/graphql+json" | "text/json") | None => !success,
            Some(_) => return None,
        };
        Some(Self {
            status,
            media_type,
            bytes,
            needs_errors,
        })
    }

    /// Decodes a reply without errors in one pass; `None` if it has errors, or does not fit.
    fn at_once<T: DeserializeOwned>(&self) -> Option<Result<Outcome<T>, Error>> {
        if self.needs_errors {
            return None;
        }
        // Checks UTF-8 once for the entire body, whereas serde_json would check each string.
        let text = object_text(std::str::from_utf8(self.bytes).ok()?)?;
        self.limited(|| {
            let Envelope { data, .. } = json_text::from_str(text).ok()?;
            Some(match data {
                Some(value) => Ok(self.outcome(value, ServerErrors::default())),
                None => Err(self.without_data()),
            })
        })
    }

    /// Decodes each part of the reply separately, and the data as text; `None` if the reply does not belong to the interface.
    fn parts(&self) -> Option<Result<Outcome<&'a RawValue>, Error>> {
        let Ok(text) = std::str::from_utf8(self.bytes) else {
            return self.limited(|| self.not_utf8());
        };
        let text = object_text(text)?;
        self.limited(|| self.parts_of(text))
    }

    /// Decodes the reply within the memory limit.
    fn limited<T>(
        &self,
        read: impl FnOnce() -> Option<Result<T, Error>>,
    ) -> Option<Result<T, Error>> {
        reply_memory::limited(self.bytes.len(), read).unwrap_or_else(|| {
            let error = Error::protocol(reply_memory::TOO_MUCH);
            Some(Err(error.with_received(self.received(None))))
        })
    }

    fn parts_of<'t>(&self, text: &'t str) -> Option<Result<Outcome<&'t RawValue>, Error>> {
        // Uses raw texts, so that a number that does not fit any type does not affect the other parts.
        let parts: Parts<'t> = match json_text::from_str(text) {
            Ok(parts) => parts,
            Err(_) if self.needs_errors => return None,
            Err(error) => {
                let line = error.line();
                let column = error.column();
                let detail = format!("{}, line {line} column {column}", json_fault(&error));
                return Some(Err(self.unreadable(
                    ".",
                    detail,
                    ServerErrors::default(),
                    None,
                )));
            }
        };
        if self.needs_errors && !parts.errors.is_some_and(|raw| raw.get().starts_with('[')) {
            return None;
        }
        let errors = parts.errors.map(read_errors).unwrap_or_default();
        Some(match parts.data {
            None if errors.first.is_empty() => Err(self.without_data()),
            None => Err(self.rejected(errors, None)),
            Some(data) => self.with_data(data, errors),
        })
    }

    /// The data next to errors, unless it is empty.
    fn with_data<'t>(
        &self,
        data: &'t RawValue,
        errors: ServerErrors,
    ) -> Result<Outcome<&'t RawValue>, Error> {
        if !errors.first.is_empty() {
            // A refused token may come with an empty list if null is not allowed.
            let is_refused_token = errors
                .first
                .iter()
                .any(|problem| problem.condition() == Condition::InvalidToken);
            let value = reply_memory::value(data.get());
            if is_void(&value, is_refused_token) {
                return Err(self.rejected(errors, Some(value)));
            }
        }
        Ok(self.outcome(data, errors))
    }

    /// The strings are unreliable. The server's errors are still reported, unless the body is so long that copying it would
    /// take too much memory.
    fn not_utf8<T>(&self) -> Option<Result<T, Error>> {
        let detail = "the body is not UTF-8";
        if self.bytes.len() > LONGEST_LOSSY {
            let unreadable = || Err(self.unreadable(".", detail, ServerErrors::default(), None));
            return (!self.needs_errors).then(unreadable);
        }
        let text = String::from_utf8_lossy(self.bytes);
        let (errors, data) = match self.parts_of(object_text(&text)?)? {
            Ok(outcome) => {
                let (data, rest) = outcome.split();
                (rest.errors(), Some(reply_memory::value(data.get())))
            }
            Err(error) => (error.errors().clone(), error.raw_data().cloned()),
        };
        Some(Err(self.unreadable(".", detail, errors, data)))
    }

    fn outcome<T>(&self, value: T, errors: ServerErrors) -> Outcome<T> {
        Outcome {
            value,
            problems: errors.first,
            facts: ReplyFacts {
                omitted: errors.omitted,
                nulls: reply_memory::nulls(),
                status: self.status,
                ..ReplyFacts::default()
            },
        }
    }

    fn without_data(&self) -> Error {
        Error::protocol("the reply has neither data nor errors").with_received(self.received(None))
    }

    fn rejected(&self, errors: ServerErrors, data: Option<Value>) -> Error {
        Error::rejected(self.received(data), errors)
    }

    fn unreadable(
        &self,
        path: &str,
        detail: impl Into<String>,
        errors: ServerErrors,
        data: Option<Value>,
    ) -> Error {
        Error::decode(self.received(data), path.to_owned(), detail, errors)
    }

    /// The data of a reply that was already decoded, for error reports.
    fn data(&self) -> Option<Value> {
        let text = object_text(std::str::from_utf8(self.bytes).ok()?)?;
        part_of(text, &["data"]).map(reply_memory::value)
    }

    fn received(&self, data: Option<Value>) -> ReplyParts {
        ReplyParts::new(self.status, self.media_type, self.bytes, data)
    }
}

/// The text without a byte order mark (RFC 8259 section 8.1), if it may be an object. Web pages and other documents are not
/// treated as broken JSON, whatever media type they claim.
fn object_text(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    text.starts_with('{').then_some(text)
}

/// Whether the data consists of nulls only, or is empty.
pub(super) fn is_void(data: &Value, empty_lists_too: bool) -> bool {
    match data {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(|field| is_void(field, empty_lists_too)),
        Value::Array(items) => empty_lists_too && items.is_empty(),
        _ => false,
    }
}

/// Decodes each error separately. A value that is not a list becomes a single error.
fn read_errors(raw: &RawValue) -> ServerErrors {
    let read = |raw: &RawValue| ServerError::from_value(reply_memory::value(raw.get()));
    match json_text::from_str::<RawList<'_, KEPT_ERRORS>>(raw.get()) {
        Ok(list) => ServerErrors {
            first: list.first.into_iter().map(read).collect(),
            omitted: list.omitted,
        },
        Err(_) => vec![read(raw)].into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::graphql::{OperationDocument, Overrides, encode_document, encode_operation};
    use crate::profile::{OperationProfile, ServiceProfile, Sourced};

    #[test]
    fn names_of_a_pointer_are_those_of_rfc_6901() {
        let names = ["a~1b", "m~0n", "~01", "data"].map(unescaped);
        assert_eq!(names, ["a/b", "m~n", "~1", "data"]);
    }

    #[test]
    fn a_record_is_named_by_its_id_or_number_in_the_variables_or_in_an_input() {
        let names = |variables: Value| {
            let document = "mutation A { a }";
            let encoded = encode_document(document, "A", &variables);
            let encoded = encoded.unwrap();
            ReplyReader { sent: &encoded }.names_record()
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
    fn a_record_is_read_from_where_it_was_received() {
        let known = OperationDocument::named("copyConsignment").unwrap();
        let document = "mutation($envdAccountId: ID!, $id: String!) { copy { a } }";
        let mut profile = OperationProfile::of_document(document);
        profile.record_at = Some("/copy/0".to_owned());
        let mut service = ServiceProfile::default();
        let operations = &mut service.operations;
        operations.insert("copyConsignment".to_owned(), Sourced::seen(profile));
        let moved = Overrides::new(&service).unwrap();
        let variables = json!({"envdAccountId": "a", "id": "b"});
        let read = |overrides: &Overrides, data: &str| {
            let encoded = encode_operation(known, &variables, overrides).unwrap();
            let body = format!(r#"{{"data": {data}}}"#);
            let keep = Some(ValueIn::Record);
            let read = ReplyReader { sent: &encoded }.decode::<Value, _>(
                200,
                None,
                body.as_bytes(),
                Some,
                keep,
            );
            let read = read.unwrap().map_err(|error| error.to_string());
            read.map(|(outcome, json)| (outcome.value, json.unwrap().into_string()))
        };
        let ours = Overrides::default();
        let record = r#"{"id": 1.50}"#;
        let whole = format!(r#"{{"copyConsignment": {{"data": {record}}}}}"#);
        for (overrides, data) in [
            (&moved, format!(r#"{{"copy": [{record}]}}"#)),
            (&moved, format!(r#"{{"copy": [{{"data": {record}}}]}}"#)),
            (&ours, format!(r#"{{"copyConsignment": {record}}}"#)),
            (&ours, whole),
        ] {
            let value = json!({"copyConsignment": {"data": {"id": 1.50}}});
            let found = read(overrides, &data);
            assert_eq!(found, Ok((value, record.to_owned())), "{data}");
        }
        for (overrides, data) in [
            (&moved, r#"{"other": 1}"#),
            (&moved, r#"{"copy": []}"#),
            (&ours, r#"{"copyConsignment": true}"#),
            (&ours, r#"{"copyConsignment": {"id": ""}}"#),
            (&ours, r#"{"copyConsignment": [{"id": "c-1"}]}"#),
            (&ours, r#"{"copyConsignment": {"data": {"id": null}}}"#),
            (&ours, r#"{"deleteConsignment": {"data": {"id": "c-1"}}}"#),
        ] {
            let error = read(overrides, data).unwrap_err();
            assert!(error.contains("has no record"), "{data}: {error}");
        }
    }
}
