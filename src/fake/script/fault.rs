//! Faults of a single reply.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

#[cfg(doc)]
use crate::fake::Fake;
use crate::fake::problem::ErrorItem;
use crate::fake::reply::{Delivery, FakeReply};
use crate::transport::header::{CONTENT_TYPE, HeaderName, HeaderValue};

/// A fault of a single reply, at the server or in the network.
///
/// A fault either replaces the reply and prevents processing of the request ([`status`](Self::status), [`html`](Self::html),
/// [`garbage`](Self::garbage), [`dropped_before`](Self::dropped_before)), or modifies the reply to a processed request. With
/// [`processed`](Self::processed), the request is processed although its reply is replaced.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::{Fake, Fault};
///
/// let fake = Fake::start().await;
/// fake.on_operation("UserDetails")
///     .fault(Fault::status(503).header("retry-after", "0"))
///     .times(2);
/// let client = fake.client().build().unwrap();
/// assert!(client.user_details().await.is_ok());
/// assert_eq!(fake.requests().len(), 3);
///
/// // A query is retried. A change is not: the service may have carried it out before its 503.
/// fake.on_operation("CopyConsignment")
///     .fault(Fault::status(503).header("retry-after", "0"));
/// let account = client.account(fake.account_id());
/// let error = account.copy_consignment("C-900000101").await.unwrap_err();
/// assert!(error.may_have_applied() && error.attempts() == 1);
/// # Ok(()) });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Fault {
    processed: bool,
    /// Process the request only after this number of further requests.
    pub(in crate::fake) late: Option<usize>,
    /// Replaces the real reply.
    reply: Option<FakeReply>,
    headers: Vec<(String, String)>,
    edit: Option<ReplyEdit>,
    delivery: Delivery,
}

#[derive(Clone, Debug)]
enum ReplyEdit {
    Truncate(usize),
    Replace(String, Value),
}

impl Fault {
    /// The real reply, unchanged. Use it as a step between faults.
    pub fn none() -> Self {
        Self {
            processed: true,
            late: None,
            reply: None,
            headers: Vec::new(),
            edit: None,
            delivery: Delivery::default(),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// A reply with this HTTP status, from 200 to 599, and an empty body.
    ///
    /// # Panics
    ///
    /// If the status is out of this range.
    #[track_caller]
    pub fn status(status: u16) -> Self {
        Self {
            processed: false,
            reply: Some(FakeReply::empty(checked_status(status))),
            ..Self::none()
        }
    }

    /// An HTML page with this HTTP status, as sent by gateways.
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

    /// HTTP 200 with the JSON media type and a body that is not even UTF-8.
    pub fn garbage() -> Self {
        let bytes: &[u8] = b"\x00\xff\xfe{\"data\": ]\x80";
        Self::status(200).body("application/json", bytes)
    }

    /// HTTP 200 with the message "Internal server error" for a root field of the operation, such as `createOrSaveConsignment`,
    /// and without data (spec 7.2). With [`processed`](Self::processed), the change is carried out anyway.
    pub fn internal_server_error(field: &str) -> Self {
        let error = ErrorItem::not_found().to_json(field);
        Self::status(200).json(json!({"data": {field: null}, "errors": [error]}))
    }

    /// Closes the connection without a reply, before the request is processed.
    pub fn dropped_before() -> Self {
        Self::status(200).with(|it| it.delivery.is_dropped = true)
    }

    /// Processes the request, then closes the connection without a reply.
    pub fn dropped_after() -> Self {
        Self::dropped_before().processed()
    }

    /// The real reply with its body shortened to this many bytes. As an HTTP message it is complete.
    pub fn truncated(bytes: usize) -> Self {
        Self::none().with(|it| it.edit = Some(ReplyEdit::Truncate(bytes)))
    }

    /// Closes the connection after this many bytes of the body, although the content length announces more.
    pub fn cut(bytes: usize) -> Self {
        Self::none().with(|it| it.delivery.cut = Some(bytes))
    }

    /// Sends the body in chunks of this many bytes, each after a pause on the fake's clock.
    pub fn slow(bytes: usize, pause: Duration) -> Self {
        Self::none().with(|it| it.delivery.slow = Some((bytes.max(1), pause)))
    }

    /// Sends the real reply after this time on the fake's clock.
    pub fn latency(time: Duration) -> Self {
        Self::none().with(|it| it.delivery.delay = time)
    }

    /// The real reply with a different value at a JSON pointer (RFC 6901), for example one invalid element of a list, at
    /// `/data/consignments/edges/3/node`. Has no effect if the pointer refers to no value.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialized as JSON.
    #[track_caller]
    pub fn replaced(pointer: impl Into<String>, value: impl Serialize) -> Self {
        let edit = ReplyEdit::Replace(pointer.into(), json(value));
        Self::none().with(|it| it.edit = Some(edit))
    }

    /// Adds a header to the reply.
    ///
    /// # Panics
    ///
    /// If the name or the value is invalid.
    #[track_caller]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        let value = value.into();
        checked_header(&name, &value);
        self.headers.push((name, value));
        self
    }

    /// Sets the body of a replacement reply.
    ///
    /// # Panics
    ///
    /// If the media type is not a valid header value.
    #[track_caller]
    pub fn body(mut self, media_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let media_type = media_type.into();
        checked_header(CONTENT_TYPE.as_str(), &media_type);
        if let Some(reply) = &mut self.reply {
            (reply.media_type, reply.body) = (Some(media_type), body.into());
        }
        self
    }

    /// Sets the JSON body of a replacement reply.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialized as JSON.
    #[track_caller]
    pub fn json(self, body: impl Serialize) -> Self {
        self.body("application/json", json(body).to_string())
    }

    /// Processes the request, but still replaces its reply.
    pub fn processed(mut self) -> Self {
        self.processed = true;
        self.late = None;
        self
    }

    /// Replaces the reply, and processes the request later: after this number of further requests to the declaration interface,
    /// or with [`Controls::process_late_requests`](crate::fake::controls::Controls::process_late_requests). With 0, it is processed
    /// immediately.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::{Fake, Fault};
    /// use serde_json::Value;
    ///
    /// let fake = Fake::start().await;
    /// fake.on_operation("CopyConsignment").fault(Fault::dropped_before().processed_after(2));
    /// let account = fake.client().build()?.account(fake.account_id());
    /// assert!(account.copy_consignment("C-900000101").await.is_err());
    /// for held in [8, 8, 9] {
    ///     assert_eq!(fake.consignments::<Value>(fake.account_id()).len(), held);
    ///     println!("{} comments", account.comments("C-900000101").await?.value.len());
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Panics
    ///
    /// If the fault modifies the real reply, which does not exist yet, instead of replacing it.
    #[track_caller]
    pub fn processed_after(mut self, requests: usize) -> Self {
        assert!(
            self.reply.is_some(),
            "only a fault that replaces the reply can delay the processing"
        );
        self.processed = false;
        self.late = Some(requests);
        self
    }

    /// Modifies or replaces the reply from `serve`.
    pub(in crate::fake) fn apply(&self, serve: impl FnOnce() -> FakeReply) -> FakeReply {
        let real = self.processed.then(serve);
        let reply = self.reply.clone().or(real);
        let mut reply = reply.unwrap_or_else(|| FakeReply::empty(200));
        match &self.edit {
            Some(ReplyEdit::Truncate(bytes)) => reply.body.truncate(*bytes),
            Some(ReplyEdit::Replace(pointer, value)) => reply.replace(pointer, value),
            None => {}
        }
        reply.headers.extend(self.headers.iter().cloned());
        // A scripted reply has its own delivery, which a surrounding fault preserves.
        if self.delivery != Delivery::default() {
            reply.delivery = self.delivery.clone();
        }
        reply
    }
}

/// Checks a status from a test.
#[track_caller]
pub(in crate::fake) fn checked_status(status: u16) -> u16 {
    assert!(
        (200..=599).contains(&status),
        "{status} is not an HTTP status from 200 to 599"
    );
    status
}

/// Checks a header from a test.
#[track_caller]
pub(in crate::fake) fn checked_header(name: &str, value: &str) -> (HeaderName, HeaderValue) {
    let header = HeaderName::from_bytes(name.as_bytes())
        .ok()
        .zip(HeaderValue::from_str(value).ok());
    header.unwrap_or_else(|| panic!("invalid header {name}, or invalid value of it"))
}

/// Serializes a value from a test.
#[track_caller]
pub(in crate::fake) fn json(value: impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!("cannot be serialized as JSON: {error}"),
    }
}
