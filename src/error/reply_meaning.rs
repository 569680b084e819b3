//! Classifies replies that have neither data nor errors of the interface, and detects replies that prove a request was refused.
//! Pure, and shared by both interfaces.
//!
//! A status is attributed to the service only if the body has the shape that the service uses: JSON or XML (spec 7.1). Web
//! pages, empty bodies and other text may come from any intermediary, such as a proxy, a firewall or a network login.

use serde_json::Value;

use super::{Error, ErrorKind, ReplyParts, Repr};
use crate::model::{Condition, ServerError};

/// The kind of a body, determined by its first characters and its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyShape {
    Empty,
    /// HTML, including XHTML.
    Page,
    Json,
    Xml,
    /// Anything else.
    Other,
}

impl BodyShape {
    pub(crate) fn of(media_type: Option<&str>, start: &str) -> Self {
        let media_type = media_type.unwrap_or_default();
        let start = start.trim_start_matches('\u{feff}').trim_start();
        let second = start.get(1..).unwrap_or_default().trim_start();
        if start.is_empty() {
            Self::Empty
        } else if media_type.contains("html") {
            Self::Page
        } else if start.starts_with('<') {
            let is_xml = media_type.contains("xml") || start.starts_with("<?xml");
            if is_xml && !has_html_root(start) {
                Self::Xml
            } else {
                Self::Page
            }
        } else if media_type.contains("json")
            || start.starts_with('{') && second.starts_with(['"', '}'])
        {
            // Declared as JSON but malformed: a fault of the service.
            Self::Json
        } else {
            Self::Other
        }
    }

    /// Whether the service sends bodies of this shape (spec 7.1).
    pub(crate) fn is_of_service(self) -> bool {
        matches!(self, Self::Json | Self::Xml)
    }
}

/// Whether the document type or the root element is HTML.
fn has_html_root(mut text: &str) -> bool {
    let is_html = |name: &str| {
        let head = name.get(..4).unwrap_or_default();
        head.eq_ignore_ascii_case("html")
    };
    while let Some(tag) = text.trim_start().strip_prefix('<') {
        let doctype = tag.get(..8).unwrap_or_default();
        let end = if tag.starts_with('?') {
            "?>"
        } else if tag.starts_with("!--") {
            "-->"
        } else if doctype.eq_ignore_ascii_case("!doctype") {
            let name = tag.get(8..).unwrap_or_default();
            if is_html(name.trim_start()) {
                return true;
            }
            ">"
        } else {
            return is_html(tag);
        };
        let Some((_, rest)) = tag.split_once(end) else {
            return false;
        };
        text = rest;
    }
    false
}

/// The kind of a reply by its status. `is_of_service`: the body or a header shows that the service sent it.
pub(super) fn kind_of_reply(status: u16, is_of_service: bool) -> ErrorKind {
    match status {
        // These mean the same from any sender: send a smaller request, send fewer, or try later.
        413 => ErrorKind::Rejected,
        429 => ErrorKind::RateLimited,
        503 => ErrorKind::Unavailable,
        // A 304 has no body (RFC 9110 section 15.4.5), and no conditional request was sent.
        304 => ErrorKind::Protocol,
        _ if !is_of_service => ErrorKind::NoAnswer,
        _ => kind_of_status(status).unwrap_or(ErrorKind::Protocol),
    }
}

/// The meaning of a status from the service (spec 7.1); `None` if the status is not a failure.
pub(super) fn kind_of_status(status: u16) -> Option<ErrorKind> {
    Some(match status {
        401 => ErrorKind::Unauthorized,
        403 => ErrorKind::Forbidden,
        404 => ErrorKind::NotFound,
        429 => ErrorKind::RateLimited,
        500 => ErrorKind::Internal,
        _ if is_transient_status(status) => ErrorKind::Unavailable,
        400..=499 => ErrorKind::Rejected,
        // Not Implemented, and HTTP Version Not Supported.
        501 | 505 => ErrorKind::Internal,
        _ => return None,
    })
}

/// Whether a later read may get a different reply: request timeout (RFC 9110 section 15.5.9), too early (RFC 8470 section 5.2),
/// too many requests, and the statuses that gateways send for an unreachable service. 500, 501 and 505 come from the service
/// itself.
pub(super) fn is_transient_status(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502..=504 | 506..=599)
}

impl Error {
    /// Whether the reply proves that nothing was carried out. There are three cases:
    ///
    /// - The status itself says so, from any sender: 401 ("the request has not been applied", RFC 9110 section 15.5.2), 413
    ///   (the request is not processed, section 15.5.14) or 429 (RFC 6585 section 4).
    /// - The service sends 400, 403 or 404 with XML, or with JSON that has a message (spec 7.1).
    /// - Every error in an error body of the interface on 2xx or 4xx has a known reason.
    ///
    /// A web page with 403 or 404 is not a proof: a firewall that inspects replies sends one after the change was made.
    pub(crate) fn is_refusal(&self) -> bool {
        let errors = self.server_errors();
        // An error that was not kept may have any reason.
        let mut messages = errors.iter().map(ServerError::message);
        if self.errors().omitted > 0 || messages.any(says_internal) {
            return false;
        }
        match (self.http_status(), self.repr()) {
            (Some(401 | 413 | 429), _) => true,
            (Some(400 | 403 | 404), Repr::Http) => self.names_its_reason(),
            (Some(status @ (200..=299 | 400..=499)), Repr::ErrorsOnly) => {
                let named = status == 403 || errors.iter().all(names_reason);
                named && self.raw_data().is_none_or(|data| explains(errors, data))
            }
            _ => false,
        }
    }

    /// Whether a reply other than GraphQL refuses the way the service does: with XML, JSON that has a message, or a header.
    fn names_its_reason(&self) -> bool {
        let message = self.server_message();
        let is_xml = self.received().map(ReplyParts::shape) == Some(BodyShape::Xml);
        let has_reason = is_xml || message.is_some() || self.body_excerpt() == Some("");
        let is_said = self.service_status().is_some();
        is_said && has_reason && !says_internal(&message.unwrap_or_default())
    }

    /// This error, marked as the reply to a request that named no record.
    pub(crate) fn of_no_record(mut self) -> Self {
        mark_no_record_named(&mut self.parts().errors.first);
        self
    }
}

/// Marks errors as replies to a request that named no record, so that none of them is classified as "not found".
pub(crate) fn mark_no_record_named(errors: &mut [ServerError]) {
    for error in errors {
        error.no_record_named = true;
    }
}

fn says_internal(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("internal server error")
}

/// Whether an error has a reason that rules out any effect: validation, token, permission, limit, schema.
fn names_reason(error: &ServerError) -> bool {
    // A path that leads into the result proves that there is a result.
    if error.path().get(1).is_some_and(|name| name == "data") {
        return false;
    }
    match error.condition() {
        Condition::InvalidToken
        | Condition::AccessDenied
        | Condition::EmptyForms
        | Condition::UnknownForm
        | Condition::MixedSpecies
        | Condition::InvalidPic
        | Condition::PicNotAssociated
        | Condition::RequiredAnswerMissing
        | Condition::InvalidAnswerValue
        | Condition::OutsideAcceptableAnswers
        | Condition::Lpag2Rejected
        | Condition::Question185No
        | Condition::SchemaMismatch
        | Condition::InvalidVariable => true,
        Condition::FieldRule if names_field(error) => true,
        _ => is_rate_limit(error),
    }
}

/// Whether path and Code agree on a field (spec 7.2). A Code alone may be any word.
fn names_field(error: &ServerError) -> bool {
    let code = error.code().unwrap_or_default();
    let last = code.rsplit('.').next().unwrap_or_default();
    let field = last.strip_suffix("[]").unwrap_or(last);
    matches!(error.path(), [_, .., last] if last.trim_end_matches("[]") == field)
}

/// Whether the errors account for every field of the data. If a document has two changes, one may have been carried out.
fn explains(errors: &[ServerError], data: &Value) -> bool {
    let Some(fields) = data.as_object() else {
        return true;
    };
    let named = errors.iter().map(|error| error.path().first());
    let is_named = |field| named.clone().any(|name| name == Some(field));
    fields.len() <= 1 || fields.keys().all(is_named)
}

/// Whether an error reports a rate limit. assumed: the specification defines no rate limits; these are codes that other
/// services use.
pub(super) fn is_rate_limit(error: &ServerError) -> bool {
    let extensions = |name: &str| error.extensions()?.get(name);
    let single = ["code", "type", "classification"].map(extensions);
    let several = extensions("codes").and_then(Value::as_array);
    let single = single.into_iter().flatten();
    let mut codes = single
        .chain(several.into_iter().flatten())
        .filter_map(Value::as_str);
    error.code().is_some_and(is_rate_limit_code) || codes.any(is_rate_limit_code)
}

fn is_rate_limit_code(code: &str) -> bool {
    let letters: String = code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_uppercase())
        .collect();
    matches!(
        letters.as_str(),
        "RATELIMIT" | "RATELIMITED" | "RATELIMITEXCEEDED" | "TOOMANYREQUESTS" | "THROTTLED" | "429"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::{Error, ReplyParts};

    const XHTML: &str = "<?xml version=\"1.0\"?>\n<!-- x -->\n<!DOCTYPE html PUBLIC \"x\">\n<html>";

    /// Status, media type, body; kind, whether a read is retried, whether a change was refused or is in doubt.
    const REPLIES: &str = r#"
        200 | text/html        | <html>Log in     | NoAnswer     | again | doubt
        200 | -                | <!DOCTYPE html>  | NoAnswer     | again | doubt
        200 | application/json | <html>           | NoAnswer     | again | doubt
        200 | -                |                  | NoAnswer     | again | doubt
        200 | application/xml  | <Value/>         | Protocol     | -     | doubt
        200 | application/json | {"Message": "x"} | Protocol     | -     | doubt
        302 | text/html        | <html>           | NoAnswer     | again | doubt
        302 | -                |                  | NoAnswer     | again | doubt
        304 | -                |                  | Protocol     | -     | doubt
        400 | text/html        | <html>           | NoAnswer     | again | doubt
        400 | application/json | {"Message": "x"} | Rejected     | -     | refused
        400 | -                | { "Message": "x" | Rejected     | -     | refused
        400 | text/plain       | {"Message": "x"} | Rejected     | -     | refused
        400 | application/json | "words"          | Rejected     | -     | refused
        400 | text/plain       | "words"          | NoAnswer     | again | doubt
        400 | application/json | {"data": {"x":   | Rejected     | -     | doubt
        400 | application/json | broken           | Rejected     | -     | doubt
        400 | application/json | {"Message": "Internal server error"} | Rejected | - | doubt
        400 | application/xml  | <Error/>         | Rejected     | -     | refused
        400 | -                | <?xml ?><Error/> | Rejected     | -     | refused
        400 | -                | <p>Bad request   | NoAnswer     | again | doubt
        401 | -                |                  | NoAnswer     | again | refused
        401 | text/html        | <html>           | NoAnswer     | again | refused
        401 | application/json | {"Message": "x"} | Unauthorized | -     | refused
        401 | bearer           |                  | Unauthorized | -     | refused
        403 | text/html        | <html>           | NoAnswer     | again | doubt
        403 | text/plain       | Forbidden        | NoAnswer     | again | doubt
        403 | text/xml         | <x:Error>        | Forbidden    | -     | refused
        403 | bearer           |                  | Forbidden    | -     | refused
        404 | -                |                  | NoAnswer     | again | doubt
        404 | text/plain       | no route         | NoAnswer     | again | doubt
        404 | -                | XHTML            | NoAnswer     | again | doubt
        404 | application/xml  | XHTML            | NoAnswer     | again | doubt
        404 | application/xhtml+xml | <Error/>    | NoAnswer     | again | doubt
        404 | application/json | {}               | NotFound     | -     | doubt
        404 | -                | {"Message": "x"} | NotFound     | -     | refused
        404 | application/xml  | <Error/>         | NotFound     | -     | refused
        405 | application/json | {"Message": "x"} | Rejected     | -     | doubt
        407 | text/html        | <html>           | NoAnswer     | again | doubt
        408 | -                |                  | NoAnswer     | again | doubt
        408 | application/json | {"Message": "x"} | Unavailable  | again | doubt
        413 | text/html        | <html>           | Rejected     | -     | refused
        425 | application/json | {"Message": "x"} | Unavailable  | again | doubt
        429 | text/html        | <html>           | RateLimited  | again | refused
        429 | application/json | {"Message": "x"} | RateLimited  | again | refused
        451 | text/html        | <html>           | NoAnswer     | again | doubt
        500 | text/html        | <html>           | NoAnswer     | again | doubt
        500 | application/json | {"Message": "x"} | Internal     | -     | doubt
        501 | application/json | {"Message": "x"} | Internal     | -     | doubt
        502 | text/html        | <html>           | NoAnswer     | again | doubt
        502 | application/json | {"Message": "x"} | Unavailable  | again | doubt
        503 | text/html        | <html>           | Unavailable  | again | doubt
        503 | application/json | {"Message": "x"} | Unavailable  | again | doubt
        509 | application/json | {"Message": "x"} | Unavailable  | again | doubt
        511 | text/html        | <html>           | NoAnswer     | again | doubt
        520 | -                |                  | NoAnswer     | again | doubt
        530 | application/json | {"Message": "x"} | Unavailable  | again | doubt
        598 | application/json | {"Message": "x"} | Unavailable  | again | doubt
        599 | application/json | {"Message": "x"} | Unavailable  | again | doubt
    "#;

    fn error(status: &str, media_type: &str, body: &str) -> Error {
        let body = if body == "XHTML" { XHTML } else { body };
        let is_bearer = media_type == "bearer";
        let media_type = Some(media_type).filter(|name| !["-", "bearer"].contains(name));
        let status = status.parse().unwrap();
        let mut received = ReplyParts::new(status, media_type, body.as_bytes(), None);
        if is_bearer {
            received = received.of_service();
        }
        Error::http(received)
    }

    #[test]
    fn each_reply_has_its_meaning() {
        for row in REPLIES.trim().lines() {
            let cells: Vec<&str> = row.split(" | ").map(str::trim).collect();
            let [status, media_type, body, kind, again, change] = cells[..] else {
                panic!("{row}");
            };
            let error = error(status, media_type, body);
            assert_eq!(format!("{:?}", error.kind()), kind, "{row}");
            assert_eq!(error.is_transient(), again == "again", "{row}");
            assert_eq!(error.is_refusal(), change == "refused", "{row}");
            assert_eq!(error.refuses_token(), kind == "Unauthorized", "{row}");
        }
    }

    #[test]
    fn the_usual_codes_in_the_usual_places_are_known() {
        for extensions in [
            json!({"code": "RATE_LIMITED"}),
            json!({"codes": ["OTHER", "TOO_MANY_REQUESTS"]}),
            json!({"type": "RateLimitExceeded"}),
            json!({"data": {"Code": "Throttled"}}),
        ] {
            let error = ServerError::from_value(json!({"extensions": extensions}));
            assert!(is_rate_limit(&error), "{extensions}");
        }
        for extensions in [json!({"code": "INVALID_VALUE"}), json!({}), json!([])] {
            let error =
                ServerError::from_value(json!({"extensions": extensions, "message": "429"}));
            assert!(!is_rate_limit(&error), "{extensions}");
        }
    }
}
