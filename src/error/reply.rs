//! What is known of the reply behind an error.

use std::sync::Arc;

use serde_json::Value;
use url::{ParseError, Url};

use super::{Error, Kind};

/// What is kept of a reply for the accessors; nothing shows it.
#[derive(Clone)]
pub(crate) struct Received {
    status: u16,
    media_type: Option<String>,
    excerpt: String,
    data: Option<Value>,
    redirect: Option<Redirect>,
    /// An encoding of the body that was not asked for.
    encoding: Option<Encoding>,
}

/// Where a reply wants the request to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Redirect {
    /// Host and port.
    To(String),
    SameHost,
    Unreadable,
}

/// An encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    Known(&'static str),
    /// Its name may be anything, so it is not shown.
    Unknown,
}

/// The encodings of RFC 9110 section 8.4.1 and of IANA's registry that servers use.
const ENCODINGS: [&str; 6] = ["gzip", "br", "zstd", "deflate", "x-gzip", "compress"];

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
            redirect: None,
            encoding: None,
        }
    }

    /// Takes the host of `Location` only: the rest may hold a token.
    pub(crate) fn redirected(mut self, location: Option<&str>) -> Self {
        self.redirect = location.map(|location| {
            let absolute = location
                .strip_prefix("//")
                .map(|rest| format!("https://{rest}"));
            match Url::parse(absolute.as_deref().unwrap_or(location)) {
                Ok(url) => Redirect::of(&url),
                Err(ParseError::RelativeUrlWithoutBase) => Redirect::SameHost,
                Err(_) => Redirect::Unreadable,
            }
        });
        self
    }

    pub(crate) fn encoded(mut self, encoding: Option<&str>) -> Self {
        self.encoding = encoding.map(|encoding| {
            let mut known = ENCODINGS.into_iter();
            let known = known.find(|known| known.eq_ignore_ascii_case(encoding));
            known.map_or(Encoding::Unknown, Encoding::Known)
        });
        self
    }
}

impl Redirect {
    fn of(url: &Url) -> Self {
        match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => Self::To(format!("{host}:{port}")),
            (Some(host), None) => Self::To(host.to_owned()),
            (None, _) => Self::Unreadable,
        }
    }
}

impl Error {
    pub(crate) fn with_received(self, received: Received) -> Self {
        self.changed(|inner| inner.received = Some(Arc::new(received)))
    }

    pub(super) fn redirect(&self) -> Option<&Redirect> {
        self.received()?.redirect.as_ref()
    }

    pub(super) fn encoding(&self) -> Option<Encoding> {
        self.received()?.encoding
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

    /// Whether the reply has a status that the interface does not use (spec 7.1): a redirect, which is never followed, 405,
    /// 418, 502. Mostly something between here and the service answers. The body may say more, see
    /// [`server_message`](Self::server_message).
    #[must_use]
    pub fn is_unexpected_status(&self) -> bool {
        let status = self.http_status().unwrap_or(200);
        !matches!(
            status,
            200..=299 | 304 | 400 | 401 | 403 | 404 | 429 | 500 | 503
        )
    }
}
