//! A request of the register, and the records of its reply (spec 2.10).

use std::time::SystemTime;

use serde::Deserialize;
use serde_json::error::Category;
use url::Url;

use super::OPERATION;
use super::if_modified::{IfModified, last_modified};
use crate::error::{Error, Kind, Received, Result, json_fault};
use crate::graphql::{SalvagedList, Unreadable, salvage_list};
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
        // Errors come as JSON or XML (spec 7.1); the register has only JSON records.
        let request =
            Request::get(url).header(ACCEPT, HeaderValue::from_static("application/json"));
        match &self.since {
            Some(since) => request.header(IF_MODIFIED_SINCE, since.clone()),
            None => request,
        }
    }
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

/// `{"Value": ..}`; the name must be there, or any JSON object would be an empty page.
#[derive(Deserialize)]
struct RecordsReply {
    #[serde(rename = "Value", deserialize_with = "Option::deserialize")]
    value: Option<Subset>,
}

/// A part of the result.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Subset {
    pub(super) offset: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) total: Option<u64>,
    #[serde(rename = "SubSet")]
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
    // UTF-8 is checked once for the body: serde_json would check each string.
    let (path, detail) = match std::str::from_utf8(&reply.body) {
        Ok(text) => {
            // A byte order mark may be ignored (RFC 8259 section 8.1).
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            match reply_memory::limited(text.len(), || serde_json::from_str::<RecordsReply>(text))
                .ok_or_else(|| too_much(&reply))?
            {
                Ok(envelope) => return Ok(envelope.value.unwrap_or_default()),
                Err(failure) => match mended(status, text) {
                    Some(subset) => return Ok(subset),
                    None => located(text, &failure),
                },
            }
        }
        Err(_) => (None, "the body is not UTF-8".to_owned()),
    };
    let is_json =
        !reply.is_encoded() && reply.media_type().is_some_and(|name| name.contains("json"));
    let error = Error::new(Kind::Decode {
        status,
        path: path.clone().unwrap_or_else(|| ".".to_owned()),
        detail,
        errors: Vec::new(),
    });
    Err(match path.as_deref() {
        // A web page of a proxy in front of the register, or a compressed body.
        None if !is_json => reply.into_error(),
        // The server's message is more precise than "no records".
        Some(".") => Some(reply.into_error())
            .filter(|error| error.server_message().is_some())
            .unwrap_or(error),
        _ => error,
    })
}

fn too_much(reply: &Reply) -> Error {
    let media_type = reply.media_type();
    let received = Received::new(reply.status, media_type.as_deref(), &reply.body, None);
    Error::protocol(reply_memory::TOO_MUCH).with_received(received)
}

/// Reads the reply again, record by record.
fn mended(status: u16, text: &str) -> Option<Subset> {
    let SalvagedList { text, unreadable } =
        salvage_list::<RecordsReply>(text, "", &["Value", "SubSet"], status)?;
    let mut subset = reply_memory::from_str::<RecordsReply>(&text).ok()?.value?;
    let named = |record: Unreadable| Unreadable {
        error: record.error.with_operation(OPERATION),
        ..record
    };
    subset.unreadable = unreadable.into_iter().map(named).collect();
    Some(subset)
}

/// What is wrong with the reply and, in JSON of another shape, where; the reply is read again for that.
fn located(text: &str, failure: &serde_json::Error) -> (Option<String>, String) {
    let (line, column) = (failure.line(), failure.column());
    let detail = format!("{}, line {line} column {column}", json_fault(failure));
    let mut reader = serde_json::Deserializer::from_str(text);
    let path = reply_memory::limited(text.len(), || {
        serde_path_to_error::deserialize::<_, RecordsReply>(&mut reader).err()
    })
    .flatten()
    .filter(|_| failure.classify() == Category::Data);
    (path.map(|error| error.path().to_string()), detail)
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
        let found = decode(reply("application/json", body)).unwrap();
        assert_eq!((found.records.len(), found.count()), (1, 2));
        let error = &found.unreadable[0].error;
        assert!(error.is_decode() && error.is_unreadable_record());
        assert_eq!(error.json_path(), Some("Value.SubSet[1].Town"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
        let body = r#"{"Value": {"Total": "hidden"}}"#;
        let error = decode(reply("application/json", body)).err().unwrap();
        assert_eq!(error.json_path(), Some("Value.Total"));
        assert!(!format!("{error} {error:?}").contains("hidden"));
    }

    #[test]
    fn another_object_is_not_an_empty_page() {
        for body in ["{}", r#"{"Value": 5}"#, "[]", "null"] {
            let error = decode(reply("application/json", body)).err().unwrap();
            assert!(error.is_decode(), "{body}");
        }
        for body in [r#"{"Value": null}"#, "\u{feff}{\"Value\": {}}"] {
            let nothing = decode(reply("application/json", body)).unwrap();
            assert!(nothing.records.is_empty());
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
                .is_decode()
        );
    }
}
