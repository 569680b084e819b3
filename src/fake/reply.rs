//! A reply, and how the proxy delivers it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wiremock::ResponseTemplate;

use super::gzip;

const ENCODING_HEADER: &str = "content-encoding";

/// The header in which the server tells the proxy how to deliver a reply. The proxy removes it.
pub(super) const DELIVERY_HEADER: &str = "x-fake-delivery";

/// How the proxy delivers a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delivery {
    /// Wait this long on the fake's clock.
    pub(super) delay: Duration,
    /// Close the connection instead.
    pub(super) is_dropped: bool,
    /// Close the connection after this many bytes of the body.
    pub(super) cut: Option<usize>,
    /// Send pieces of this many bytes, each after a pause on the fake's clock.
    pub(super) slow: Option<(usize, Duration)>,
}

/// Status, headers and body of a reply.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Option<(String, Vec<u8>)>,
    delivery: Delivery,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    pub(super) fn raw(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::empty(status).body(media_type, body)
    }

    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: None,
            delivery: Delivery::default(),
        }
    }

    pub(super) fn redirect(to: &str) -> Self {
        Self::empty(302).header("location", to)
    }

    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(super) fn body(mut self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some((media_type.to_owned(), body.into()));
        self
    }

    /// Changes the media type of the body.
    pub(super) fn media_type(mut self, media_type: &str) -> Self {
        if let Some(body) = &mut self.body {
            media_type.clone_into(&mut body.0);
        }
        self
    }

    /// Compresses the body, unless a fault counts its bytes or sets an encoding of its own.
    pub(super) fn compressed(mut self) -> Self {
        let counts_bytes = self.delivery.cut.is_some() || self.delivery.slow.is_some();
        let mut names = self.headers.iter().map(|(name, _)| name);
        if counts_bytes || names.any(|name| name.eq_ignore_ascii_case(ENCODING_HEADER)) {
            return self;
        }
        if let Some((_, body)) = &mut self.body
            && let Some(compressed) = gzip::compress(body)
        {
            *body = compressed;
            return self.header(ENCODING_HEADER, "gzip");
        }
        self
    }

    /// Ends the body after this many bytes.
    pub(super) fn truncated(mut self, bytes: usize) -> Self {
        if let Some(body) = &mut self.body {
            body.1.truncate(bytes);
        }
        self
    }

    /// Replaces the value at a JSON pointer of the body.
    pub(super) fn replaced(mut self, pointer: &str, value: &Value) -> Self {
        if let Some((_, body)) = &mut self.body
            && let Ok(mut json) = serde_json::from_slice::<Value>(body)
            && let Some(old) = json.pointer_mut(pointer)
        {
            *old = value.clone();
            *body = json.to_string().into_bytes();
        }
        self
    }

    pub(super) fn delivered(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Delays the reply by a further time.
    pub(super) fn delayed(mut self, time: Duration) -> Self {
        self.delivery.delay += time;
        self
    }
}

impl From<Reply> for ResponseTemplate {
    fn from(reply: Reply) -> Self {
        let mut template = Self::new(reply.status);
        for (name, value) in reply.headers {
            template = template.append_header(name, value);
        }
        if reply.delivery != Delivery::default()
            && let Ok(delivery) = serde_json::to_string(&reply.delivery)
        {
            template = template.append_header(DELIVERY_HEADER, delivery);
        }
        match reply.body {
            Some((media_type, body)) => template.set_body_raw(body, &media_type),
            None => template,
        }
    }
}
