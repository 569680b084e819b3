//! The envelope of a reply: data, errors, or both.
//!
//! A reply without errors whose data fits is read in one pass. For any other reply each part is read alone, so that no part
//! hides another.

use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Outcome;
use super::misfit::{self, Misfit};
use crate::error::{Error, Received, Repr, json_fault};
use crate::model::json_path::joined;
use crate::model::{Condition, ServerError, reply_memory};

/// How many errors are kept: a server may repeat one for each record of a large request.
const KEPT_ERRORS: usize = 1_000;

/// The longest body in which bytes are replaced that are not UTF-8.
const LONGEST_LOSSY: usize = 1 << 20;

/// A reply without errors. Null and an empty list are no errors; anything else ends the quick pass at once.
#[derive(Deserialize)]
struct Envelope<'a, T> {
    data: Option<T>,
    #[serde(rename = "errors")]
    _errors: Option<[(); 0]>,
    #[serde(borrow)]
    extensions: Option<&'a RawValue>,
}

/// The parts of any reply. A duplicate is refused: it is ambiguous.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
    #[serde(borrow)]
    extensions: Option<&'a RawValue>,
}

/// A reply as it was received.
#[derive(Clone, Copy)]
struct RawReply<'a> {
    status: u16,
    media_type: Option<&'a str>,
    bytes: &'a [u8],
    /// Of the interface only if it has an `errors` array.
    needs_errors: bool,
    /// How many errors are not kept.
    omitted: usize,
}

/// Reads the body of a reply.
///
/// Which bodies are of the interface is decided by media type, status and body together (GraphQL over HTTP, draft of
/// 2026-08): `application/graphql-response+json` on every status, `application/json` on 2xx, and on other statuses
/// only with an `errors` array. `None` is a body that is not of the interface.
pub(crate) fn decode<T: DeserializeOwned>(
    status: u16,
    media_type: Option<&str>,
    bytes: &[u8],
) -> Option<Result<Outcome<T>, Error>> {
    let success = (200..=299).contains(&status);
    let needs_errors = match media_type {
        Some("application/graphql-response+json") => false,
        Some("application/json" | "application/graphql+json" | "text/json") | None => !success,
        Some(_) => return None,
    };
    let reply = RawReply {
        status,
        media_type,
        bytes,
        needs_errors,
        omitted: 0,
    };
    // UTF-8 is checked once for the body: serde_json would check each string.
    let Ok(text) = std::str::from_utf8(bytes) else {
        return reply.limited(|| reply.not_utf8());
    };
    let text = object_text(text)?;
    reply
        .limited(|| reply.read_at_once(text))
        .or_else(|| reply.limited(|| reply.salvage(text)))
}

/// The text without a byte order mark (RFC 8259 section 8.1), if it can be an object: pages and documents of other kinds
/// are not read as broken JSON, whatever media type they claim.
fn object_text(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    text.starts_with('{').then_some(text)
}

impl RawReply<'_> {
    /// Reads the reply within what it may take in memory.
    fn limited<T>(
        &self,
        read: impl FnOnce() -> Option<Result<T, Error>>,
    ) -> Option<Result<T, Error>> {
        reply_memory::limited(self.bytes.len(), read).unwrap_or_else(|| {
            let error = Error::protocol(reply_memory::TOO_MUCH);
            Some(Err(error.with_received(self.received(None))))
        })
    }

    /// Reads a reply without errors; `None` when it has some, or does not fit.
    fn read_at_once<T: DeserializeOwned>(&self, text: &str) -> Option<Result<Outcome<T>, Error>> {
        if self.needs_errors {
            return None;
        }
        let Envelope {
            data, extensions, ..
        } = serde_json::from_str(text).ok()?;
        Some(match data {
            Some(value) => Ok(self.outcome(value, Vec::new(), extensions)),
            None => Err(self.without_data()),
        })
    }

    /// Reads a reply that has errors, or whose data does not fit; `None` when it is not of the interface.
    fn salvage<T: DeserializeOwned>(&self, text: &str) -> Option<Result<Outcome<T>, Error>> {
        // Raw texts, so that one number which no type can hold leaves the other parts readable.
        let parts: Parts<'_> = match serde_json::from_str(text) {
            Ok(parts) => parts,
            Err(_) if self.needs_errors => return None,
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                let detail = format!("{}, line {line} column {column}", json_fault(&error));
                return Some(Err(self.unreadable(".", detail, Vec::new(), None)));
            }
        };
        if self.needs_errors && !parts.errors.is_some_and(|raw| raw.get().starts_with('[')) {
            return None;
        }
        let Errors { first, omitted } = parts.errors.map(read_errors).unwrap_or_default();
        let reply = Self { omitted, ..*self };
        Some(match parts.data {
            None if first.is_empty() => Err(reply.without_data()),
            None => Err(reply.rejected(first, None)),
            Some(data) => reply.read_data(data, first, parts.extensions),
        })
    }

    /// Reads the data beside errors: it may hold nothing, or may not fit.
    fn read_data<T: DeserializeOwned>(
        &self,
        data: &RawValue,
        problems: Vec<ServerError>,
        extensions: Option<&RawValue>,
    ) -> Result<Outcome<T>, Error> {
        if !problems.is_empty() {
            // A refused token may come with an empty list where a null is not allowed.
            let is_refused_token = problems
                .iter()
                .any(|problem| problem.condition() == Condition::InvalidToken);
            let data = raw_value(data);
            if is_void(&data, is_refused_token) {
                return Err(self.rejected(problems, Some(data)));
            }
        }
        match misfit::read(data.get()) {
            Ok(value) => Ok(self.outcome(value, problems, extensions)),
            Err(Misfit { path, detail }) => {
                let path = joined("data", &path);
                Err(self.unreadable(&path, detail, problems, Some(raw_value(data))))
            }
        }
    }

    /// The texts are not reliable any more; the errors of the server are still reported, unless the body is so long that copies of
    /// it take too much memory.
    fn not_utf8<T: DeserializeOwned>(&self) -> Option<Result<Outcome<T>, Error>> {
        let detail = "the body is not UTF-8";
        if self.bytes.len() > LONGEST_LOSSY {
            let unreadable = || Err(self.unreadable(".", detail, Vec::new(), None));
            return (!self.needs_errors).then(unreadable);
        }
        let text = String::from_utf8_lossy(self.bytes);
        let (errors, omitted, data) = match self.salvage::<Box<RawValue>>(object_text(&text)?)? {
            Ok(outcome) => {
                let data = raw_value(&outcome.value);
                (outcome.problems, outcome.omitted, Some(data))
            }
            Err(error) => {
                let errors = error.server_errors().to_vec();
                let omitted = error.server_error_count() - errors.len();
                (errors, omitted, error.raw_data().cloned())
            }
        };
        let reply = Self { omitted, ..*self };
        Some(Err(reply.unreadable(".", detail, errors, data)))
    }

    fn outcome<T>(
        &self,
        value: T,
        problems: Vec<ServerError>,
        extensions: Option<&RawValue>,
    ) -> Outcome<T> {
        Outcome {
            value,
            problems,
            unreadable: Vec::new(),
            omitted: self.omitted,
            nulls: reply_memory::nulls(),
            status: self.status,
            extensions: extensions.map(|raw| raw.get().into()),
            change: false,
        }
    }

    fn without_data(&self) -> Error {
        Error::protocol("the reply has neither data nor errors").with_received(self.received(None))
    }

    fn rejected(&self, errors: Vec<ServerError>, data: Option<Value>) -> Error {
        let status = self.status;
        Error::new(Repr::Rejected { status, errors })
            .with_omitted(self.omitted)
            .with_received(self.received(data))
    }

    fn unreadable(
        &self,
        path: &str,
        detail: impl Into<String>,
        errors: Vec<ServerError>,
        data: Option<Value>,
    ) -> Error {
        Error::new(Repr::Decode {
            status: self.status,
            path: path.to_owned(),
            detail: detail.into(),
            errors,
        })
        .with_omitted(self.omitted)
        .with_received(self.received(data))
    }

    fn received(&self, data: Option<Value>) -> Received {
        Received::new(self.status, self.media_type, self.bytes, data)
    }
}

/// Nothing but nulls, or nothing at all.
pub(super) fn is_void(data: &Value, empty_lists_too: bool) -> bool {
    match data {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(|field| is_void(field, empty_lists_too)),
        Value::Array(items) => empty_lists_too && items.is_empty(),
        _ => false,
    }
}

fn raw_value(raw: &RawValue) -> Value {
    reply_memory::value(raw.get())
}

/// The first errors, and how many more there were.
#[derive(Default)]
struct Errors {
    first: Vec<ServerError>,
    omitted: usize,
}

/// Reads each error alone. What is not a list is one error.
fn read_errors(raw: &RawValue) -> Errors {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| Errors {
        first: vec![ServerError::from_value(raw_value(raw))],
        omitted: 0,
    })
}

impl<'de> Deserialize<'de> for Errors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Errors;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Errors, A::Error> {
                let mut errors = Errors::default();
                while errors.first.len() < KEPT_ERRORS {
                    let Some(raw) = list.next_element::<&RawValue>()? else {
                        return Ok(errors);
                    };
                    errors.first.push(ServerError::from_value(raw_value(raw)));
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    errors.omitted += 1;
                }
                Ok(errors)
            }
        }
        deserializer.deserialize_seq(List)
    }
}
