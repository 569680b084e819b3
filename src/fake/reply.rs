//! A reply, before it goes over the wire.

use serde_json::Value;
use wiremock::ResponseTemplate;

use super::wire::{HEADER, Wire};

/// Status, headers and body of a reply.
#[derive(Clone)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Option<(String, Vec<u8>)>,
    wire: Wire,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    pub(super) fn page(status: u16, text: &str) -> Self {
        let page = format!("<!doctype html><title>Fake</title><p>{text}</p>");
        Self::raw(status, "text/html", page)
    }

    pub(super) fn raw(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: Some((media_type.to_owned(), body.into())),
            ..Self::empty(status)
        }
    }

    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: None,
            wire: Wire::default(),
        }
    }

    pub(super) fn redirect(to: &str) -> Self {
        Self::empty(302).header("location", to)
    }

    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The body gets another media type.
    pub(super) fn typed(mut self, media_type: &str) -> Self {
        if let Some(body) = &mut self.body {
            media_type.clone_into(&mut body.0);
        }
        self
    }

    /// The body ends after this many bytes.
    pub(super) fn truncated(mut self, bytes: usize) -> Self {
        if let Some(body) = &mut self.body {
            body.1.truncate(bytes);
        }
        self
    }

    /// The value at a JSON pointer of the body is another.
    pub(super) fn replaced(mut self, pointer: &str, value: &Value) -> Self {
        if let Some((_, body)) = &mut self.body
            && let Ok(mut json) = serde_json::from_slice::<Value>(body)
            && let Some(place) = json.pointer_mut(pointer)
        {
            *place = value.clone();
            *body = json.to_string().into_bytes();
        }
        self
    }

    pub(super) fn wired(mut self, wire: Wire) -> Self {
        self.wire = wire;
        self
    }

    /// Without a body, as an answer to HEAD.
    pub(super) fn bodiless(mut self) -> Self {
        self.body = None;
        self
    }

    /// The answer waits at least this long.
    pub(super) fn held(mut self, time: std::time::Duration) -> Self {
        self.wire.hold += time;
        self
    }
}

impl From<Reply> for ResponseTemplate {
    fn from(reply: Reply) -> Self {
        let mut template = Self::new(reply.status);
        for (name, value) in reply.headers {
            template = template.append_header(name, value);
        }
        if !reply.wire.is_usual() {
            template = template.append_header(HEADER, reply.wire.text());
        }
        match reply.body {
            Some((media_type, body)) => template.set_body_raw(body, &media_type),
            None => template,
        }
    }
}
