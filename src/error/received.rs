//! The reply that caused an error.

use serde_json::Value;
use url::{ParseError, Position, Url};

use super::{BodyShape, Error, ErrorKind, Repr, ServerErrors};

/// The parts of a reply that accessors return. Neither `Display` nor `Debug` shows them.
#[derive(Clone)]
pub(crate) struct ReplyParts {
    status: u16,
    media_type: Option<String>,
    excerpt: String,
    data: Option<Value>,
    /// Where the reply redirects to, in words.
    redirect: Option<String>,
    /// A content encoding that was not requested, in words.
    encoding: Option<String>,
    /// The reply came from the service, whatever its body is.
    is_of_service: bool,
}

/// Encodings in use, from RFC 9110 section 8.4.1 and the IANA registry.
const ENCODINGS: [&str; 6] = ["gzip", "br", "zstd", "deflate", "x-gzip", "compress"];

impl ReplyParts {
    pub(crate) fn new(
        status: u16,
        media_type: Option<&str>,
        body: &[u8],
        data: Option<Value>,
    ) -> Self {
        Self {
            status,
            media_type: media_type.map(str::to_owned),
            excerpt: String::from_utf8_lossy(body.get(..2_048).unwrap_or(body)).into_owned(),
            data,
            redirect: None,
            encoding: None,
            is_of_service: false,
        }
    }

    /// A reply with a known status only.
    pub(crate) fn status_only(status: u16) -> Self {
        Self::new(status, None, b"", None)
    }

    /// Marks the reply as sent by the service, whatever its body is. A header proves it, or the host serves pages to browsers
    /// itself.
    pub(crate) fn of_service(mut self) -> Self {
        self.is_of_service = true;
        self
    }

    pub(super) fn shape(&self) -> BodyShape {
        BodyShape::of(self.media_type.as_deref(), &self.excerpt)
    }

    /// Keeps only the host of `Location`, because the rest may contain a token.
    pub(crate) fn redirected(mut self, location: Option<&str>) -> Self {
        self.redirect = location.map(|location| {
            let absolute = location
                .strip_prefix("//")
                .map(|rest| format!("https://{rest}"));
            match Url::parse(absolute.as_deref().unwrap_or(location)) {
                Ok(url) if url.has_host() => {
                    format!("to {}", &url[Position::BeforeHost..Position::AfterPort])
                }
                Err(ParseError::RelativeUrlWithoutBase) => "within the same host".to_owned(),
                _ => "to an address that cannot be read".to_owned(),
            }
        });
        self
    }

    /// Keeps the encoding only if it is a known name, because a server may send any text.
    pub(crate) fn encoded(mut self, encoding: Option<&str>) -> Self {
        self.encoding = encoding.map(|encoding| {
            let mut known = ENCODINGS.into_iter();
            match known.find(|known| known.eq_ignore_ascii_case(encoding)) {
                Some(known) => format!("the content-encoding {known}"),
                None => "an unknown content-encoding".to_owned(),
            }
        });
        self
    }
}

impl Error {
    /// The error for a reply that the interface does not define.
    pub(crate) fn http(received: ReplyParts) -> Self {
        Self::new(Repr::Http).with_received(received)
    }

    /// The error for a reply with errors and without data.
    pub(crate) fn rejected(received: ReplyParts, errors: ServerErrors) -> Self {
        let mut error = Self::new(Repr::ErrorsOnly).with_received(received);
        error.parts().errors = errors;
        error
    }

    /// The error for a reply that does not fit the types at this path. An empty path means the entire reply.
    pub(crate) fn decode(
        received: ReplyParts,
        path: String,
        detail: impl Into<String>,
        errors: ServerErrors,
    ) -> Self {
        let whole = path.is_empty();
        let detail = detail.into();
        let path = if whole { ".".to_owned() } else { path };
        let mut error = Self::rejected(received, errors);
        error.parts().repr = Repr::Decode { path, detail };
        error
    }

    pub(super) fn redirect(&self) -> Option<&str> {
        self.received()?.redirect.as_deref()
    }

    pub(super) fn encoding(&self) -> Option<&str> {
        self.received()?.encoding.as_deref()
    }

    /// The status, if the service itself sent it, not a proxy or gateway.
    pub(super) fn service_status(&self) -> Option<u16> {
        let received = self.received()?;
        let is_of_service = match self.repr() {
            Repr::ErrorsOnly | Repr::Decode { .. } => true,
            Repr::Http | Repr::Said(ErrorKind::Protocol, _) => {
                received.is_of_service || received.shape().is_of_service()
            }
            Repr::Said(..) => false,
        };
        is_of_service.then_some(received.status)
    }

    pub(super) fn received(&self) -> Option<&ReplyParts> {
        self.0.received.as_deref()
    }

    /// The HTTP status of the reply, if there was one.
    pub fn http_status(&self) -> Option<u16> {
        Some(self.received()?.status)
    }

    /// The media type of the reply without parameters, such as `text/html`.
    pub(super) fn media_type(&self) -> Option<&str> {
        self.received()?.media_type.as_deref()
    }

    /// The first 2,048 bytes of the reply at most. Not shown by `Display` or `Debug`.
    pub(crate) fn body_excerpt(&self) -> Option<&str> {
        self.received().map(|received| received.excerpt.as_str())
    }

    /// The JSON path at which the reply did not have the expected shape, verbatim. The server chooses the names in it, so it
    /// may contain control characters or personal data. `Display` shows only known field names.
    pub fn json_path(&self) -> Option<&str> {
        match self.repr() {
            Repr::Decode { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The `data` of a reply that did not fit the expected types, was refused, or lacked the expected record, as received. For
    /// an [unreadable record](ErrorKind::UnreadableRecord), the record.
    ///
    /// Not shown by `Display` or `Debug`. JSON that cannot be represented as a value (nested too deeply, a number out of range,
    /// more than 16 MiB in memory) is returned as a JSON string with its text.
    pub fn raw_data(&self) -> Option<&Value> {
        self.received()?.data.as_ref()
    }
}
