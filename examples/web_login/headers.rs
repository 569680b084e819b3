//! Headers of all replies.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use url::Url;

use super::cli::Failure;
use super::pages::Problem;

/// What all replies say, and which origin may change something.
#[derive(Clone)]
pub(crate) struct Headers {
    policy: HeaderValue,
    origin: HeaderValue,
}

impl Headers {
    /// The pages load their style from the application and nothing else. The form of the logout goes on to the identity
    /// provider, and browsers hold such a redirect to `form-action`.
    pub(crate) fn of(home: &Url, logout: &Url) -> Result<Self, Failure> {
        let provider = logout.origin().ascii_serialization();
        let policy = format!(
            "default-src 'none'; style-src 'self'; img-src data:; form-action 'self' {provider}; base-uri 'none'; frame-ancestors 'none'"
        );
        Ok(Self {
            policy: policy.parse()?,
            origin: home.origin().ascii_serialization().parse()?,
        })
    }
}

/// Refuses a change that a page of another origin sends, and sets the headers of the reply. `SameSite` alone lets a page on
/// another port of this machine log a user out.
pub(crate) async fn secure(
    State(headers): State<Headers>,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(ORIGIN);
    let is_foreign = origin.is_some_and(|origin| *origin != headers.origin);
    let is_change = !matches!(*request.method(), Method::GET | Method::HEAD);
    let mut reply = if is_foreign && is_change {
        Problem::OtherOrigin.into_response()
    } else {
        next.run(request).await
    };
    let own = reply.headers_mut();
    // Personal data, and redirects with codes. The style sets its own.
    own.entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    own.insert(CONTENT_SECURITY_POLICY, headers.policy);
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // The address of the callback holds the code. Not `no-referrer`, under which browsers send no `Origin`.
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
