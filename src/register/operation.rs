//! A request of the register, as the lane sends it.

use url::Url;

use super::OPERATION;
use super::envelope::{self, Found};
use super::if_modified::{IfModified, last_modified};
use crate::error::Result;
use crate::send::Operation;
use crate::transport::header::{ACCEPT, HeaderValue, IF_MODIFIED_SINCE};
use crate::transport::{Reply, Request};

/// A request for records; a conditional one may find that they did not change.
pub(super) struct Get {
    /// For traces: the address has what is searched for.
    pub(super) kind: &'static str,
    pub(super) since: Option<HeaderValue>,
}

impl Get {
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

impl Operation for Get {
    type Value = IfModified<Found>;

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
    fn judge(&self, reply: Reply) -> Result<IfModified<Found>> {
        match reply.status {
            304 if self.since.is_some() => Ok(IfModified::Unchanged),
            200..=299 => {
                let modified = last_modified(&reply);
                Ok(IfModified::changed(envelope::read(reply)?, modified))
            }
            _ => Err(reply.into_error()),
        }
    }
}
