//! What surrounds the records of a reply (spec 2.10).

use serde::Deserialize;
use serde_json::error::Category;

use super::OPERATION;
use crate::error::{Error, Kind, Result, json_fault};
use crate::graphql::{Mended, Unreadable, mend};
use crate::model::{List, Property};
use crate::transport::Reply;

/// `{"Value": ..}`; the name must be there, or any JSON object would be an empty page.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "Value", deserialize_with = "Option::deserialize")]
    value: Option<Found>,
}

/// A part of what was found.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    #[serde(rename = "Offset")]
    pub(super) offset: Option<u64>,
    #[serde(rename = "Limit")]
    pub(super) limit: Option<u64>,
    #[serde(rename = "Total")]
    pub(super) total: Option<u64>,
    #[serde(rename = "SubSet")]
    pub(super) records: List<Property>,
    /// The records that could not be read: null stands in their places.
    #[serde(skip)]
    pub(super) unreadable: Vec<Unreadable>,
}

impl Found {
    /// How many places of the page there are, those included in which the register sent null.
    pub(super) fn count(&self) -> u64 {
        (self.records.len() + self.records.null_positions().len()) as u64
    }
}

/// Reads a reply of status 2xx.
pub(super) fn read(reply: Reply) -> Result<Found> {
    if reply.status == 204 {
        return Ok(Found::default());
    }
    let failure = match std::str::from_utf8(&reply.body) {
        // The text is checked once, not once a string.
        Ok(text) => {
            // A byte order mark may be ignored (RFC 8259 section 8.1).
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            match serde_json::from_str::<Envelope>(text) {
                Ok(envelope) => return Ok(envelope.value.unwrap_or_default()),
                Err(failure) => {
                    if let Some(found) = mended(reply.status, text) {
                        return Ok(found);
                    }
                    if failure.classify() == Category::Data {
                        let misfit = misfit(reply.status, text, &failure);
                        return Err(said_instead(reply, misfit));
                    }
                    detail(&failure)
                }
            }
        }
        Err(_) => "the body is not UTF-8".to_owned(),
    };
    if reply.is_encoded() || !reply.media_type().is_some_and(|name| name.contains("json")) {
        // A page of something in front of the register, or a body that only looks like noise.
        return Err(reply.into_error());
    }
    Err(decode(reply.status, ".".to_owned(), failure))
}

/// Reads once more, record by record.
fn mended(status: u16, text: &str) -> Option<Found> {
    let Mended { text, unreadable } = mend::<Envelope>(text, "", &["Value", "SubSet"], status)?;
    let mut found = serde_json::from_str::<Envelope>(&text).ok()?.value?;
    let named = |record: Unreadable| Unreadable {
        error: record.error.with_operation(OPERATION),
        ..record
    };
    found.unreadable = unreadable.into_iter().map(named).collect();
    Some(found)
}

/// Reads once more, slowly, to learn where the reply does not fit.
fn misfit(status: u16, text: &str, failure: &serde_json::Error) -> Error {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let path = match serde_path_to_error::deserialize::<_, Envelope>(&mut deserializer) {
        Err(located) => located.path().to_string(),
        Ok(_) => ".".to_owned(),
    };
    decode(status, path, detail(failure))
}

/// A message in place of records says more than that records are missing.
fn said_instead(reply: Reply, misfit: Error) -> Error {
    if misfit.json_path() != Some(".") {
        return misfit;
    }
    let error = reply.into_error();
    match error.server_message() {
        Some(_) => error,
        None => misfit,
    }
}

fn decode(status: u16, path: String, detail: String) -> Error {
    Error::new(Kind::Decode {
        status,
        path,
        detail,
        errors: Vec::new(),
    })
}

fn detail(failure: &serde_json::Error) -> String {
    let (line, column) = (failure.line(), failure.column());
    format!("{}, line {line} column {column}", json_fault(failure))
}

#[cfg(test)]
mod tests {
    use crate::transport::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

    use super::*;

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
        let found = read(reply("application/json", body)).unwrap();
        assert_eq!((found.records.len(), found.count()), (1, 2));
        let error = &found.unreadable[0].error;
        assert!(error.is_decode() && error.is_unreadable_record());
        assert_eq!(error.json_path(), Some("Value.SubSet[1].Town"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
        let body = r#"{"Value": {"Total": "hidden"}}"#;
        let error = read(reply("application/json", body)).err().unwrap();
        assert_eq!(error.json_path(), Some("Value.Total"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
    }

    #[test]
    fn another_object_is_not_an_empty_page() {
        for body in ["{}", r#"{"Value": 5}"#, "[]", "null"] {
            let error = read(reply("application/json", body)).err().unwrap();
            assert!(error.is_decode(), "{body}");
        }
        for body in [r#"{"Value": null}"#, "\u{feff}{\"Value\": {}}"] {
            let nothing = read(reply("application/json", body)).unwrap();
            assert!(nothing.records.is_empty());
        }
    }

    #[test]
    fn a_message_in_place_of_records_is_kept() {
        let error = read(reply("application/json", r#"{"Message": "Not accepted"}"#));
        let error = error.err().unwrap();
        assert_eq!(error.http_status(), Some(200));
        assert_eq!(error.server_message().as_deref(), Some("Not accepted"));
    }

    #[test]
    fn a_web_page_is_told_by_its_media_type() {
        let error = read(reply("text/html; charset=utf-8", "<html>"))
            .err()
            .unwrap();
        assert_eq!(error.media_type(), Some("text/html"));
        assert!(
            read(reply("application/json", "{\"Val"))
                .err()
                .unwrap()
                .is_decode()
        );
    }
}
