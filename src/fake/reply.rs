//! A reply, before it goes over the wire.

use serde_json::Value;
use wiremock::ResponseTemplate;

/// Status, headers and body of a reply.
pub(super) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Option<(&'static str, String)>,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Some(("application/json", body.to_string())),
        }
    }

    pub(super) fn page(status: u16, text: &str) -> Self {
        let page = format!("<!doctype html><title>Fake</title><p>{text}</p>");
        Self {
            status,
            headers: Vec::new(),
            body: Some(("text/html", page)),
        }
    }

    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: None,
        }
    }

    pub(super) fn redirect(to: &str) -> Self {
        Self::empty(302).header("location", to)
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl From<Reply> for ResponseTemplate {
    fn from(reply: Reply) -> Self {
        let mut template = Self::new(reply.status);
        for (name, value) in reply.headers {
            template = template.insert_header(name, value);
        }
        match reply.body {
            Some((media_type, body)) => template.set_body_raw(body, media_type),
            None => template,
        }
    }
}
