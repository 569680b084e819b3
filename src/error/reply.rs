//! What is known of the reply behind an error.

use std::sync::Arc;

use serde_json::Value;

use super::{Error, Kind};

/// What is kept of a reply for the accessors; nothing shows it.
#[derive(Clone)]
pub(crate) struct Received {
    status: u16,
    media_type: Option<String>,
    excerpt: String,
    data: Option<Value>,
}

impl Received {
    pub(crate) fn new(
        status: u16,
        media_type: Option<&str>,
        body: &[u8],
        data: Option<Value>,
    ) -> Self {
        Self {
            status,
            media_type: media_type.map(str::to_owned),
            excerpt: String::from_utf8_lossy(&body[..body.len().min(2_048)]).into_owned(),
            data,
        }
    }
}

impl Error {
    pub(crate) fn with_received(self, received: Received) -> Self {
        self.changed(|inner| inner.received = Some(Arc::new(received)))
    }

    fn received(&self) -> Option<&Received> {
        self.0.received.as_deref()
    }

    /// The HTTP status of the reply, if there was one.
    #[must_use]
    pub fn http_status(&self) -> Option<u16> {
        match self.kind() {
            Kind::Rejected { status, .. }
            | Kind::Decode { status, .. }
            | Kind::Http { status, .. } => Some(*status),
            _ => self.received().map(|received| received.status),
        }
    }

    /// The media type of the reply without parameters, such as `text/html`.
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        match self.kind() {
            Kind::Http { media_type, .. } => media_type.as_deref(),
            _ => self.received()?.media_type.as_deref(),
        }
    }

    /// The start of the reply, at most its first 2,048 bytes. Not shown by `Display` or `Debug`.
    #[must_use]
    pub fn body_excerpt(&self) -> Option<&str> {
        match self.kind() {
            Kind::Http { excerpt, .. } => Some(excerpt),
            _ => self.received().map(|received| received.excerpt.as_str()),
        }
    }

    /// The JSON path at which a reply did not have the expected shape, as it was received: a server chooses the names in
    /// it, so it may hold control characters or personal data. `Display` shows known names of fields only.
    #[must_use]
    pub fn json_path(&self) -> Option<&str> {
        match self.kind() {
            Kind::Decode { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The `data` of a reply that did not fit the expected types, that was refused, or that held no record of the change,
    /// as it was received; of an [unreadable record](Self::is_unreadable_record) the record.
    ///
    /// Not shown by `Display` or `Debug`. JSON that cannot be held as a value (nested too deeply, a number out of range)
    /// is given as its text.
    #[must_use]
    pub fn raw_data(&self) -> Option<&Value> {
        self.received()?.data.as_ref()
    }

    /// Whether the request could not be understood (HTTP 400, spec 7.1). Repeating it does not help.
    #[must_use]
    pub fn is_bad_request(&self) -> bool {
        self.http_status() == Some(400)
    }

    /// Whether nothing has changed since the date that was asked about (HTTP 304, spec 7.1).
    #[must_use]
    pub fn is_not_modified(&self) -> bool {
        self.http_status() == Some(304)
    }

    /// Whether the server failed inside (HTTP 500, spec 7.1). A change may have been carried out.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.http_status() == Some(500)
    }

    /// Whether the service is offline for maintenance (HTTP 503, spec 7.1). Try again later.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.http_status() == Some(503)
    }
}
