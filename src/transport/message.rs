//! Requests and replies.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue,
    LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use serde_json::Value;
use url::Url;

use crate::error::{Error, ReplyParts};

/// Called with the body received so far, each time it grows.
pub(crate) type Watch = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// A request; cloning it does not copy the body.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether request and reply contain tokens; their bodies are then wiped from memory.
    pub(super) is_secret: bool,
    /// The time limit of this request, instead of the client's.
    pub(crate) timeout: Option<Duration>,
    pub(crate) watch: Option<Watch>,
}

/// A complete reply, of any status; cloning it does not copy the body.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    pub(crate) fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            is_secret: false,
            timeout: None,
            watch: None,
        }
    }

    pub(crate) fn post_json(url: Url, body: Bytes) -> Self {
        Self {
            method: Method::POST,
            body,
            ..Self::get(url)
        }
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
    }

    /// A form for the token endpoint.
    pub(crate) fn post_form(url: Url, body: Bytes) -> Self {
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        Self {
            is_secret: true,
            ..Self::post_json(url, body)
        }
        .header(CONTENT_TYPE, form)
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}

impl Reply {
    /// The media type without parameters, in lower case.
    pub(crate) fn media_type(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let name = value.split(';').next().unwrap_or_default();
        Some(name.trim().to_ascii_lowercase())
    }

    /// The server's id of the request.
    pub(crate) fn request_id(&self) -> Option<&str> {
        ["x-request-id", "x-correlation-id"]
            .into_iter()
            .find_map(|name| self.headers.get(name)?.to_str().ok())
    }

    /// Whether the body is still encoded (RFC 9110 section 8.4) and therefore unreadable.
    pub(crate) fn is_encoded(&self) -> bool {
        content_encoding(&self.headers).is_some() && !self.body.is_empty()
    }

    /// The error for a reply that does not come from the interface.
    pub(crate) fn into_error(self) -> Error {
        Error::http(self.received())
    }

    /// Adds the wait that the reply demands, if the error is retryable.
    pub(crate) fn with_wait(&self, error: Error, now: SystemTime) -> Error {
        let wait = retry_after(&self.headers, now).filter(|_| error.is_retryable());
        error.with_retry_after(wait)
    }

    pub(crate) fn received(&self) -> ReplyParts {
        let location = self
            .headers
            .get(LOCATION)
            .map(|address| address.to_str().unwrap_or_default());
        let received = self
            .received_with(None)
            .redirected(location)
            .encoded(content_encoding(&self.headers).filter(|_| self.is_encoded()));
        if self.is_challenge() {
            return received.of_service();
        }
        received
    }

    /// The parts of the reply that an error keeps, with the data in it.
    pub(crate) fn received_with(&self, data: Option<Value>) -> ReplyParts {
        let media_type = self.media_type();
        ReplyParts::new(self.status, media_type.as_deref(), &self.body, data)
    }

    /// Whether a header explains why a bearer token was refused, as the service is required to do (RFC 6750 section 3).
    fn is_challenge(&self) -> bool {
        let mut challenges = self.headers.get_all(WWW_AUTHENTICATE).iter();
        let is_bearer = challenges.any(|challenge| {
            let scheme = challenge.as_bytes().get(..6).unwrap_or_default();
            scheme.eq_ignore_ascii_case(b"bearer")
        });
        is_bearer && matches!(self.status, 401 | 403)
    }
}

/// The content encoding (RFC 9110 section 8.4), if it changes the body; "?" for several encodings, or one with a non-text name.
pub(super) fn content_encoding(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(CONTENT_ENCODING).iter();
    let first = lines.next()?;
    let second = lines.next();
    let name = first
        .to_str()
        .ok()
        .filter(|_| second.is_none())
        .unwrap_or("?")
        .trim();
    Some(name).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
}

/// `Retry-After` (seconds or an HTTP date, RFC 9110 section 10.2.3), else `x-ratelimit-reset` (seconds since 1970, as sent by
/// Auth0). Dates are compared with the server's own clock if the reply has it, because `now` may be hours off.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let now = server_time(headers).unwrap_or(now);
    let until = |at: SystemTime| at.duration_since(now).unwrap_or_default();
    if let Some(wait) = text(RETRY_AFTER.as_str()) {
        if let Some(wait) = delta_seconds(wait) {
            return Some(wait);
        }
        if let Ok(date) = httpdate::parse_http_date(wait) {
            return Some(until(date));
        }
    }
    let reset = text("x-ratelimit-reset")?.parse().ok()?;
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(reset))?;
    Some(until(at))
}

/// How long `Cache-Control` allows the reply to be reused: `max-age`, or zero if it must not be stored (RFC 9111 section 5.2.2).
pub(crate) fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let lines = headers
        .get_all(CACHE_CONTROL)
        .iter()
        .filter_map(|line| line.to_str().ok());
    let mut max_age = None;
    for directive in lines.flat_map(|line| line.split(',')) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-cache" | "no-store" => return Some(Duration::ZERO),
            "max-age" => {
                let value = value.trim().trim_matches('"');
                // A value that is not a number means stale (section 4.2.1).
                max_age = Some(delta_seconds(value).unwrap_or_default());
            }
            _ => {}
        }
    }
    max_age
}

/// A number of seconds; a number too large for an integer becomes the longest time.
fn delta_seconds(text: &str) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
}

/// The server's own time (RFC 9110 section 6.6.1).
pub(crate) fn server_time(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?.trim()).ok()
}

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn seconds_dates_and_auth0s_reset_are_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for row in rows(
            "
            retry-after       | 120                                      | 120
            retry-after       | Sun, 06 Nov 1994 08:50:37 GMT            | 60
            retry-after       | Sun, 06 Nov 1994 08:00:00 GMT            | 0
            retry-after       | 0000000000000000000000000000000000000007 | 7
            retry-after       | 9999999999999999999999999999999999999999 | 18446744073709551615
            retry-after       | 86401                                    | 86401
            retry-after       | Fri, 31 Dec 9999 23:59:59 GMT            | 252618189022
            retry-after       |                                          | none
            retry-after       | -1                                       | none
            retry-after       | +1                                       | none
            retry-after       | soon                                     | none
            x-ratelimit-reset | 784111787                                | 10
            x-ratelimit-reset | 18446744073709551615                     | none
            ",
        ) {
            let wait = retry_after(&headers(row[0], row[1]), now);
            let wait = wait.map_or("none".to_owned(), |wait| wait.as_secs().to_string());
            assert_eq!(wait, row[2], "{row:?}");
        }
    }

    #[test]
    fn a_date_is_compared_with_the_clock_of_the_server() {
        let mut headers = headers("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT");
        headers.insert(DATE, "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap());
        for hours_ahead in [0, 11, 100_000] {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(hours_ahead * 3_600);
            let wait = retry_after(&headers, now);
            assert_eq!(wait, Some(Duration::from_secs(60)), "{hours_ahead}");
        }
    }
}
