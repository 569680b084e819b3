//! The envelope of a reply: data, errors, or both.
//!
//! A reply without errors whose data fits is read in one pass. For any other reply each part is read alone, so that no part
//! hides another.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Outcome;
use super::outcome::ReplyFacts;
use super::unreadable::{RawList, part_of};
use crate::error::{Error, ReplyParts, ServerErrors, json_fault};
use crate::model::{Condition, ServerError, json_text, reply_memory};

/// How many errors are kept: a server may repeat one for each record of a large request.
const KEPT_ERRORS: usize = 1_000;

/// The longest body in which bytes are replaced that are not UTF-8.
const LONGEST_LOSSY: usize = 1 << 20;

/// A reply without errors. Null and an empty list are no errors; anything else ends the quick pass at once.
#[derive(Deserialize)]
struct Envelope<T> {
    data: Option<T>,
    #[serde(rename = "errors")]
    _errors: Option<[(); 0]>,
}

/// The parts of any reply. A duplicate is refused: it is ambiguous.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
}

/// A reply as it was received.
#[derive(Clone, Copy)]
pub(super) struct RawReply<'a> {
    status: u16,
    media_type: Option<&'a str>,
    bytes: &'a [u8],
    /// Of the interface only if it has an `errors` array.
    needs_errors: bool,
}

impl<'a> RawReply<'a> {
    /// A reply that may be of the interface.
    ///
    /// Which bodies are of the interface is decided by media type, status and body together (GraphQL over HTTP, draft of
    /// 2026-08): `application/graphql-response+json` on every status, `application/json` on 2xx, and on other statuses
    /// only with an `errors` array.
    pub(super) fn new(status: u16, media_type: Option<&'a str>, bytes: &'a [u8]) -> Option<Self> {
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

    /// Reads a reply without errors in one pass; `None` when it has some, or does not fit.
    pub(super) fn at_once<T: DeserializeOwned>(&self) -> Option<Result<Outcome<T>, Error>> {
        if self.needs_errors {
            return None;
        }
        // UTF-8 is checked once for the body: serde_json would check each string.
        let text = object_text(std::str::from_utf8(self.bytes).ok()?)?;
        self.limited(|| {
            let Envelope { data, .. } = json_text::from_str(text).ok()?;
            Some(match data {
                Some(value) => Ok(self.outcome(value, ServerErrors::default())),
                None => Err(self.without_data()),
            })
        })
    }

    /// Reads each part of the reply alone, and the data as its text; `None` when it is not of the interface.
    pub(super) fn parts(&self) -> Option<Result<Outcome<&'a RawValue>, Error>> {
        let Ok(text) = std::str::from_utf8(self.bytes) else {
            return self.limited(|| self.not_utf8());
        };
        let text = object_text(text)?;
        self.limited(|| self.parts_of(text))
    }

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

    fn parts_of<'t>(&self, text: &'t str) -> Option<Result<Outcome<&'t RawValue>, Error>> {
        // Raw texts, so that one number which no type can hold leaves the other parts readable.
        let parts: Parts<'t> = match json_text::from_str(text) {
            Ok(parts) => parts,
            Err(_) if self.needs_errors => return None,
            Err(error) => {
                let (line, column) = (error.line(), error.column());
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

    /// The data beside errors, unless it holds nothing.
    fn with_data<'t>(
        &self,
        data: &'t RawValue,
        errors: ServerErrors,
    ) -> Result<Outcome<&'t RawValue>, Error> {
        if !errors.first.is_empty() {
            // A refused token may come with an empty list where a null is not allowed.
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

    /// The texts are not reliable any more; the errors of the server are still reported, unless the body is so long that copies of
    /// it take too much memory.
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

    pub(super) fn unreadable(
        &self,
        path: &str,
        detail: impl Into<String>,
        errors: ServerErrors,
        data: Option<Value>,
    ) -> Error {
        Error::decode(self.received(data), path.to_owned(), detail, errors)
    }

    /// The data of a reply that was read before: for errors only.
    pub(super) fn data(&self) -> Option<Value> {
        let text = object_text(std::str::from_utf8(self.bytes).ok()?)?;
        part_of(text, &["data"]).map(reply_memory::value)
    }

    pub(super) fn received(&self, data: Option<Value>) -> ReplyParts {
        ReplyParts::new(self.status, self.media_type, self.bytes, data)
    }
}

/// The text without a byte order mark (RFC 8259 section 8.1), if it can be an object: pages and documents of other kinds
/// are not read as broken JSON, whatever media type they claim.
fn object_text(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    text.starts_with('{').then_some(text)
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

/// Reads each error alone. What is not a list is one error.
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
