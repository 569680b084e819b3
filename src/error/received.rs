//! The reply behind an error.

use serde_json::Value;
use url::{ParseError, Position, Url};

use super::{BodyShape, Error, ErrorKind, Repr, ServerErrors};

/// The parts of a reply that accessors return; neither `Display` nor `Debug` shows them.
#[derive(Clone)]
pub(crate) struct ReplyParts {
    status: u16,
    media_type: Option<String>,
    excerpt: String,
    data: Option<Value>,
    /// Where a reply redirects the request, in words.
    redirect: Option<String>,
    /// An encoding of the body that was not requested, in words.
    encoding: Option<String>,
    /// The reply is of the service, whatever its body.
    is_of_service: bool,
}

/// The encodings of RFC 9110 section 8.4.1 and of IANA's registry that servers use.
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

    /// A reply of which no more than the status is known.
    pub(crate) fn status_only(status: u16) -> Self {
        Self::new(status, None, b"", None)
    }

    /// Marks the reply as one of the service, whatever its body: by a header, or since the host answers browsers and has pages.
    pub(crate) fn of_service(mut self) -> Self {
        self.is_of_service = true;
        self
    }

    pub(super) fn shape(&self) -> BodyShape {
        BodyShape::of(self.media_type.as_deref(), &self.excerpt)
    }

    /// Keeps the host of `Location` only: the rest may hold a token.
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

    /// Keeps the encoding if its name is known: another may be any text.
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
    /// The error for a reply that is not of the interface.
    pub(crate) fn http(received: ReplyParts) -> Self {
        Self::new(Repr::Http).with_received(received)
    }

    /// The error for a reply of the interface with errors and without data.
    pub(crate) fn rejected(received: ReplyParts, errors: ServerErrors) -> Self {
        let mut error = Self::new(Repr::ErrorsOnly).with_received(received);
        error.parts().errors = errors;
        error
    }

    /// The error for a reply of the interface that does not fit the types at this path; the whole reply, if it is empty.
    pub(crate) fn decode(
        received: ReplyParts,
        path: String,
        detail: impl Into<String>,
        errors: ServerErrors,
    ) -> Self {
        let (whole, detail) = (path.is_empty(), detail.into());
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

    /// The status, if the service sent it: nothing else on the way.
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

    /// The start of the reply, at most its first 2,048 bytes. Not shown by `Display` or `Debug`.
    pub(crate) fn body_excerpt(&self) -> Option<&str> {
        self.received().map(|received| received.excerpt.as_str())
    }

    /// The JSON path at which a reply did not have the expected shape, as it was received: a server chooses the names in
    /// it, so it may hold control characters or personal data. `Display` shows known names of fields only.
    pub fn json_path(&self) -> Option<&str> {
        match self.repr() {
            Repr::Decode { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The `data` of a reply that did not fit the expected types, that was refused, or that lacked the expected record,
    /// as it was received; of an [unreadable record](ErrorKind::UnreadableRecord) the record.
    ///
    /// Not shown by `Display` or `Debug`. JSON that cannot be held as a value (nested too deeply, a number out of range, more
    /// than 16 MiB in memory) is given as its text.
    pub fn raw_data(&self) -> Option<&Value> {
        self.received()?.data.as_ref()
    }
}
