//! The envelope of a reply: data, errors, or both.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Outcome;
use super::problems::NoErrors;
use super::salvage::salvage;
use crate::error::{Error, Kind, Received};
use crate::model::ServerError;

#[derive(Deserialize)]
struct Envelope<T> {
    #[serde(default = "Option::default")]
    data: Option<T>,
    #[serde(default, rename = "errors")]
    _errors: NoErrors,
    #[serde(default)]
    extensions: Option<Value>,
}

/// A reply as it came.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) status: u16,
    pub(super) media_type: Option<&'a str>,
    pub(super) bytes: &'a [u8],
    /// Of the interface only if it has an `errors` array.
    pub(super) doubtful: bool,
    /// How many errors are not kept.
    pub(super) omitted: usize,
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
    let doubtful = match media_type {
        Some("application/graphql-response+json") => false,
        Some("application/json" | "application/graphql+json" | "text/json") | None => !success,
        Some(_) => return None,
    };
    let body = Body {
        status,
        media_type,
        bytes,
        doubtful,
        omitted: 0,
    };
    // One check of the whole body: serde_json would check text by text.
    let Ok(text) = std::str::from_utf8(bytes) else {
        return body.not_utf8();
    };
    let text = bare(text)?;
    if !doubtful && let Ok(envelope) = serde_json::from_str::<Envelope<T>>(text) {
        let outcome = envelope.data.map(|value| Outcome {
            value,
            problems: Vec::new(),
            unreadable: Vec::new(),
            omitted: 0,
            status,
            extensions: envelope.extensions,
            change: false,
        });
        return Some(outcome.ok_or_else(|| body.nothing()));
    }
    salvage(&body, text)
}

/// The text without a byte order mark (RFC 8259 section 8.1), if it can be an object: pages and documents of other kinds
/// are not read as broken JSON, whatever media type they claim.
fn bare(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    text.starts_with('{').then_some(text)
}

impl Body<'_> {
    /// The texts cannot be trusted any more, but what the server said was wrong is still told.
    fn not_utf8<T: DeserializeOwned>(&self) -> Option<Result<Outcome<T>, Error>> {
        let text = String::from_utf8_lossy(self.bytes);
        let (errors, omitted, data) = match salvage::<Value>(self, bare(&text)?)? {
            Ok(outcome) => (outcome.problems, outcome.omitted, Some(outcome.value)),
            Err(error) => {
                let errors = error.server_errors().to_vec();
                let omitted = error.server_error_count() - errors.len();
                (errors, omitted, error.raw_data().cloned())
            }
        };
        Some(Err(Self { omitted, ..*self }.unreadable(
            ".",
            "the body is not UTF-8",
            errors,
            data,
        )))
    }

    pub(super) fn nothing(&self) -> Error {
        let error = Error::protocol("the reply has neither data nor errors");
        error.with_received(self.received(None))
    }

    pub(super) fn rejected(&self, errors: Vec<ServerError>, data: Option<Value>) -> Error {
        let status = self.status;
        let error = Error::new(Kind::Rejected { status, errors }).with_omitted(self.omitted);
        error.with_received(self.received(data))
    }

    pub(super) fn unreadable(
        &self,
        path: &str,
        detail: impl Into<String>,
        errors: Vec<ServerError>,
        data: Option<Value>,
    ) -> Error {
        let error = Error::new(Kind::Decode {
            status: self.status,
            path: path.to_owned(),
            detail: detail.into(),
            errors,
        })
        .with_omitted(self.omitted);
        error.with_received(self.received(data))
    }

    fn received(&self, data: Option<Value>) -> Received {
        Received::new(self.status, self.media_type, self.bytes, data)
    }
}
