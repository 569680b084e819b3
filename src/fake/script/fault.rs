//! What can go wrong with one reply.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::fake::reply::Reply;
use crate::fake::wire::Wire;
use crate::transport::header::{HeaderName, HeaderValue};

/// One thing that goes wrong, on the way or at the server.
///
/// A fault either answers in place of the fake, so that nothing is processed ([`status`](Self::status),
/// [`html`](Self::html), [`garbage`](Self::garbage), [`dropped_before`](Self::dropped_before)), or spoils the real answer.
/// [`processed`](Self::processed) turns the first kind into the second: the work is done, and the client does not see it.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use envd_sdk::fake::{Fake, Fault};
///
/// let fake = Fake::start().await;
/// fake.on_operation("UserDetails")
///     .fault(Fault::status(503).header("retry-after", "0"))
///     .times(2);
/// let client = fake.client().build().unwrap();
/// assert!(client.user_details().await.is_ok());
/// assert_eq!(fake.requests().len(), 3);
/// # });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Fault {
    processed: bool,
    reply: Option<Canned>,
    edit: Option<Edit>,
    wire: Wire,
}

#[derive(Clone, Debug)]
struct Canned {
    status: u16,
    headers: Vec<(String, String)>,
    body: Option<(String, Vec<u8>)>,
}

#[derive(Clone, Debug)]
enum Edit {
    Truncate(usize),
    Replace(String, Value),
}

impl Fault {
    /// The real answer, unspoiled: for a step between faults, or to add a delay.
    pub fn none() -> Self {
        Self {
            processed: true,
            reply: None,
            edit: None,
            wire: Wire::default(),
        }
    }

    /// An answer with this HTTP status, from 200 to 599, and an empty body.
    ///
    /// # Panics
    ///
    /// When the number is no such status.
    #[track_caller]
    pub fn status(status: u16) -> Self {
        assert!(
            (200..=599).contains(&status),
            "{status} is not an HTTP status from 200 to 599"
        );
        Self {
            processed: false,
            reply: Some(Canned {
                status,
                headers: Vec::new(),
                body: None,
            }),
            ..Self::none()
        }
    }

    /// A page in HTML with this HTTP status, as a gateway in front of the service sends it.
    ///
    /// # Panics
    ///
    /// As [`status`](Self::status).
    #[track_caller]
    pub fn html(status: u16) -> Self {
        let page =
            "<!doctype html><title>Service unavailable</title><p>Please try again later.</p>";
        Self::status(status).body("text/html; charset=utf-8", page)
    }

    /// HTTP 200 and the media type of JSON, but bytes that are none and not even text.
    pub fn garbage() -> Self {
        let bytes: &[u8] = b"\x00\xff\xfe{\"data\": ]\x80";
        Self::status(200).body("application/json", bytes)
    }

    /// The connection is closed before the request is processed; no answer comes.
    pub fn dropped_before() -> Self {
        let mut fault = Self::status(200);
        fault.wire.dropped = true;
        fault
    }

    /// The request is processed, then the connection is closed; no answer comes.
    pub fn dropped_after() -> Self {
        Self::dropped_before().processed()
    }

    /// The real answer, complete in the eyes of HTTP, but its body ends after this many bytes.
    pub fn truncated(bytes: usize) -> Self {
        Self {
            edit: Some(Edit::Truncate(bytes)),
            ..Self::none()
        }
    }

    /// The connection is closed after this many bytes of the body, while more were announced.
    pub fn cut(bytes: usize) -> Self {
        let mut fault = Self::none();
        fault.wire.cut = Some(bytes);
        fault
    }

    /// The body comes in pieces of this many bytes, each after a pause on the fake's clock.
    pub fn slow(bytes: usize, pause: Duration) -> Self {
        let mut fault = Self::none();
        fault.wire.slow = Some((bytes.max(1), pause));
        fault
    }

    /// The real answer comes after this time on the fake's clock.
    pub fn latency(time: Duration) -> Self {
        Self::none().delayed(time)
    }

    /// The real answer, in which the value at a JSON pointer (RFC 6901) is another: one bad element in a list, for
    /// example at `/data/consignments/edges/3/node`. A pointer to nothing changes nothing.
    ///
    /// # Panics
    ///
    /// When the value cannot be written as JSON.
    #[track_caller]
    pub fn replaced(pointer: impl Into<String>, value: impl Serialize) -> Self {
        Self {
            edit: Some(Edit::Replace(pointer.into(), json(value))),
            ..Self::none()
        }
    }

    /// Adds a header to an answer that takes the place of the real one.
    ///
    /// # Panics
    ///
    /// When HTTP allows no such name or value.
    #[track_caller]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        assert!(
            HeaderName::from_bytes(name.as_bytes()).is_ok()
                && HeaderValue::from_str(&value).is_ok(),
            "{name} cannot be a header with this value"
        );
        if let Some(reply) = &mut self.reply {
            reply.headers.push((name, value));
        }
        self
    }

    /// The body of an answer that takes the place of the real one.
    ///
    /// # Panics
    ///
    /// When HTTP does not allow the media type as the value of a header.
    #[track_caller]
    pub fn body(mut self, media_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let media_type = media_type.into();
        assert!(
            HeaderValue::from_str(&media_type).is_ok(),
            "{media_type:?} cannot be a media type"
        );
        if let Some(reply) = &mut self.reply {
            reply.body = Some((media_type, body.into()));
        }
        self
    }

    /// A JSON body of an answer that takes the place of the real one.
    ///
    /// # Panics
    ///
    /// When the value cannot be written as JSON.
    #[track_caller]
    pub fn json(self, body: impl Serialize) -> Self {
        self.body("application/json", json(body).to_string())
    }

    /// The request is processed all the same, and the client cannot see it.
    pub fn processed(mut self) -> Self {
        self.processed = true;
        self
    }

    /// The answer comes after this time on the fake's clock.
    pub fn delayed(mut self, time: Duration) -> Self {
        self.wire.hold = time;
        self
    }

    /// Spoils the answer that `serve` gives, or takes its place.
    pub(super) fn apply(&self, serve: impl FnOnce() -> Reply) -> Reply {
        let real = self.processed.then(serve);
        let reply = match (&self.reply, real) {
            (Some(canned), _) => canned.reply(),
            (None, Some(real)) => real,
            (None, None) => Reply::empty(200),
        };
        let reply = match &self.edit {
            Some(Edit::Truncate(bytes)) => reply.truncated(*bytes),
            Some(Edit::Replace(pointer, value)) => reply.replaced(pointer, value),
            None => reply,
        };
        reply.wired(self.wire.clone())
    }
}

impl Canned {
    fn reply(&self) -> Reply {
        let mut reply = match &self.body {
            Some((media_type, body)) => Reply::raw(self.status, media_type, body.clone()),
            None => Reply::empty(self.status),
        };
        for (name, value) in &self.headers {
            reply = reply.header(name, value);
        }
        reply
    }
}

/// What a test hands in as JSON.
#[track_caller]
pub(super) fn json(value: impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!("this cannot be written as JSON: {error}"),
    }
}
