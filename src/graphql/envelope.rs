//! The envelope of a reply: data, errors, or both.
//!
//! A reply without errors and with matching data is decoded in one pass. For any other reply, each part is decoded separately,
//! so that no part hides another.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Outcome;
use super::outcome::ReplyFacts;
use super::unreadable::{RawList, part_of};
use crate::error::{Error, ReplyParts, ServerErrors, json_fault};
use crate::model::{Condition, ServerError, json_text, reply_memory};

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
pub(super) struct RawReply<'a> {
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

    /// Decodes a reply without errors in one pass; `None` if it has errors, or does not fit.
    pub(super) fn at_once<T: DeserializeOwned>(&self) -> Option<Result<Outcome<T>, Error>> {
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
    pub(super) fn parts(&self) -> Option<Result<Outcome<&'a RawValue>, Error>> {
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

    pub(super) fn unreadable(
        &self,
        path: &str,
        detail: impl Into<String>,
        errors: ServerErrors,
        data: Option<Value>,
    ) -> Error {
        Error::decode(self.received(data), path.to_owned(), detail, errors)
    }

    /// The data of a reply that was already decoded, for error reports.
    pub(super) fn data(&self) -> Option<Value> {
        let text = object_text(std::str::from_utf8(self.bytes).ok()?)?;
        part_of(text, &["data"]).map(reply_memory::value)
    }

    pub(super) fn received(&self, data: Option<Value>) -> ReplyParts {
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
