//! The property register (4.2): search and single look-up over invented properties.

mod lookup;
mod search;

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

pub(super) use self::lookup::lookup;
pub(super) use self::search::search;
use super::instant::epoch_seconds;
use super::reply::Reply;

/// The properties, and how they are served.
pub(super) struct Register {
    properties: Vec<Value>,
    /// From PIC to postcode.
    postcodes: HashMap<String, String>,
    /// When a property last changed: with `If-Modified-Since`, nothing newer is 304.
    modified: SystemTime,
    /// The number of the first page.
    pub(super) first_page: usize,
    /// The token that is wanted; without one, anybody may ask.
    pub(super) token: Option<String>,
}

/// assumed: neither is shown in the specification
const PAGE: usize = 25;
const LARGEST_PAGE: usize = 100;

impl Register {
    pub(super) fn new(
        properties: Vec<Value>,
        postcodes: HashMap<String, String>,
        modified: SystemTime,
    ) -> Self {
        Self {
            properties,
            postcodes,
            // HTTP dates have whole seconds.
            modified: UNIX_EPOCH + Duration::from_secs(epoch_seconds(modified)),
            first_page: 1,
            token: None,
        }
    }

    /// Refuses a caller without the wanted token, and spares one who has the newest answer.
    pub(super) fn before(&self, bearer: Option<&str>, since: Option<&str>) -> Option<Reply> {
        if self.token.is_some() && self.token.as_deref() != bearer {
            let message = "Authorization has been denied for this request.";
            return Some(Reply::json(401, &json!({"Message": message})));
        }
        let since = httpdate::parse_http_date(since?).ok()?;
        let fresh = since >= self.modified;
        fresh.then(|| self.dated(Reply::empty(304)))
    }

    fn dated(&self, reply: Reply) -> Reply {
        reply.header("last-modified", httpdate::fmt_http_date(self.modified))
    }

    fn envelope(&self, offset: usize, limit: usize, total: usize, records: &[&Value]) -> Reply {
        let value = json!({"Offset": offset, "Limit": limit, "Total": total, "SubSet": records});
        self.dated(Reply::json(200, &json!({"Value": value})))
    }
}
