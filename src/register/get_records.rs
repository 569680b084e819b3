//! Requests to the register (spec 2.10).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use url::Url;

use super::if_modified::{IfModified, last_modified};
use super::replies::{Subset, any_value, records};
use super::{KnownRegister, OPERATION};
use crate::error::{Error, Result};
use crate::graphql::Unreadable;
use crate::send::{Exchanged, Sender, SentOperation, Settings};
use crate::transport::header::{ACCEPT, HeaderValue, IF_MODIFIED_SINCE};
use crate::transport::{Reply, Request};

/// A request for records; if conditional, the reply may be "unchanged".
pub(super) struct GetRecords {
    /// The request's name in traces, instead of the address, which has the search values.
    kind: &'static str,
    pub(super) since: Option<HeaderValue>,
    register: Arc<KnownRegister>,
}

impl GetRecords {
    /// A look-up of one PIC, at its own address.
    const LOOK_UP: &str = "lookup";

    pub(super) fn look_up(since: Option<HeaderValue>, register: Arc<KnownRegister>) -> Self {
        Self {
            kind: Self::LOOK_UP,
            since,
            register,
        }
    }

    pub(super) fn search(since: Option<HeaderValue>, register: Arc<KnownRegister>) -> Self {
        Self {
            kind: "search",
            since,
            register,
        }
    }

    pub(super) fn request(&self, url: Url) -> Request {
        let request = get(url);
        match &self.since {
            Some(since) => request.header(IF_MODIFIED_SINCE, since.clone()),
            None => request,
        }
    }

    /// Sends the request, and records the number of attempts in the errors about unreadable records.
    pub(super) async fn send(
        &self,
        sender: &Sender,
        request: Box<Request>,
        settings: &Settings,
    ) -> Result<Exchanged<IfModified<Subset>>> {
        let mut exchanged = sender.send(self, request, settings).await?;
        if let IfModified::Changed { value: subset, .. } = &mut exchanged.value {
            subset.attempts = exchanged.attempts;
            Unreadable::note_attempts(&mut subset.unreadable, exchanged.attempts);
        }
        Ok(exchanged)
    }
}

/// Errors come as JSON or XML (spec 7.1), but records only as JSON.
pub(super) fn get(url: Url) -> Request {
    Request::get(url).header(ACCEPT, HeaderValue::from_static("application/json"))
}

/// A request from the caller; the reply may be any JSON.
pub(super) struct GetValue;

impl SentOperation for GetValue {
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
            200..=299 => any_value(reply),
            _ => Err(reply.into_error()),
        }
    }
}

impl SentOperation for GetRecords {
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

    /// Any status except 2xx is an error, apart from the 304 of a conditional request.
    fn decode_reply(&self, reply: Reply) -> Result<IfModified<Subset>> {
        match reply.status {
            304 if self.since.is_some() => Ok(IfModified::Unchanged),
            200..=299 => {
                let modified = last_modified(&reply);
                let mut subset = records(reply)?;
                self.register.has_answered.store(true, Ordering::Relaxed);
                subset.last_modified = modified;
                Ok(IfModified::changed(subset, modified))
            }
            _ if self.kind == Self::LOOK_UP && self.register.is_not_found(&reply) => {
                Err(Error::http(reply.received().of_service()))
            }
            _ => Err(reply.into_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use test_support::script::rows;

    use super::*;
    use crate::error::ErrorKind;
    use crate::transport::header::HeaderMap;

    /// The profile's setting, whether the register has answered before, the body of the 404, and the kind of error.
    const EMPTY_NOT_FOUND: &str = "
        -     | no  |       | NoAnswer
        -     | yes |       | NotFound
        -     | yes | blank | NotFound
        -     | yes | page  | NoAnswer
        true  | no  |       | NotFound
        true  | yes | page  | NoAnswer
        false | yes |       | NoAnswer
    ";

    #[test]
    fn an_empty_404_means_not_found_if_the_profile_says_so_or_after_a_good_answer() {
        for row in rows(EMPTY_NOT_FOUND) {
            let register = Arc::new(KnownRegister {
                empty_not_found: row[0].parse().ok(),
                has_answered: AtomicBool::new(false),
            });
            let look_up = GetRecords::look_up(None, Arc::clone(&register));
            let search = GetRecords::search(None, register);
            let of_status = |status: u16, body: &'static str| Reply {
                status,
                headers: HeaderMap::new(),
                body: body.into(),
            };
            if row[1] == "yes" {
                search.decode_reply(of_status(200, "[]")).ok().unwrap();
            } else {
                look_up
                    .decode_reply(of_status(200, "<html>"))
                    .err()
                    .unwrap();
            }
            let body = match row[2] {
                "blank" => " \r\n",
                "page" => "<html>No such page",
                _ => "",
            };
            let error = look_up.decode_reply(of_status(404, body)).err().unwrap();
            assert_eq!(format!("{:?}", error.kind()), row[3], "{row:?}");
            assert_eq!(error.is_retryable(), row[3] == "NoAnswer", "{row:?}");
            // A search has a fixed address, so an empty 404 never means "not found" there.
            let error = search.decode_reply(of_status(404, body)).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::NoAnswer, "{row:?}");
        }
    }
}
