//! Refuses requests from other sites, and sets the headers of all replies.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use url::{Position, Url};

use super::Failure;
use super::bodies::read_body;

/// Keeps other sites out of an application.
#[derive(Clone)]
pub(crate) struct Guard {
    policy: HeaderValue,
    origin: HeaderValue,
    host: Option<HeaderValue>,
}

impl Guard {
    /// The pages may load the sources in `policy`, and styles from the application.
    pub(crate) fn new(home: &Url, policy: &str) -> Result<Self, Failure> {
        let policy = format!(
            "default-src 'none'; {policy}; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
        );
        Ok(Self {
            policy: policy.parse()?,
            origin: home.origin().ascii_serialization().parse()?,
            host: None,
        })
    }

    /// Refuses other host names, because a site can point its name at this machine (DNS rebinding), and changes without an
    /// origin. Do not use it behind a proxy, which may forward a different name.
    pub(crate) fn only_host_of(mut self, home: &Url) -> Result<Self, Failure> {
        let host = &home[Position::BeforeHost..Position::AfterPort];
        self.host = Some(host.parse()?);
        Ok(self)
    }

    /// Wraps the application in the guard, with limits for the size and time of bodies.
    pub(crate) fn protect(self, application: Router) -> Router {
        application
            .layer(from_fn(read_body))
            .layer(from_fn_with_state(self, check))
    }

    /// The reason to refuse a request. `SameSite` cookies alone would let a page on another port of this machine send changes.
    fn refusal(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        let header = |name| request.headers().get(name);
        if self.host.is_some() && header(HOST) != self.host.as_ref() {
            return Some((StatusCode::MISDIRECTED_REQUEST, "another host name"));
        }
        let is_change = !matches!(*request.method(), Method::GET | Method::HEAD);
        let origin = header(ORIGIN);
        let is_foreign = origin.map_or(self.host.is_some(), |origin| *origin != self.origin);
        let text = "Another page sent this request. Nothing was changed.";
        (is_change && is_foreign).then_some((StatusCode::FORBIDDEN, text))
    }
}

/// Refuses requests from other pages, and sets the headers of the reply.
async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut reply = match guard.refusal(&request) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let own = reply.headers_mut();
    // Do not cache personal data and redirects with codes. Files set their own header.
    own.entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    own.insert(CONTENT_SECURITY_POLICY, guard.policy);
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // The address of a callback contains a code. `no-referrer` would also remove the `Origin` header.
        (REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        own.insert(name, HeaderValue::from_static(value));
    }
    reply
}
