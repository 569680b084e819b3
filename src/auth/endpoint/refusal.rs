//! Classifies replies of the token endpoint. Pure.

use std::time::SystemTime;

use super::issued::{Issued, ReplyFields};
use crate::auth::Provider;
use crate::auth::client_authentication::clock_problem;
use crate::auth::failure::{
    blames_settings, error_code, interaction_required, login_refused, misconfigured, reauth,
    refresh_refused, unavailable, unreachable, wants_interaction,
};
use crate::auth::secret_json::from_json;
use crate::error::{Error, ErrorKind, Repr};
use crate::model::json_text;
use crate::secret::Secret;
use crate::transport::header::RETRY_AFTER;
use crate::transport::{Reply, retry_after, server_time};

/// The kind of request to the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    Code,
    RefreshToken,
    DeviceCode,
}

/// The consequence of a failed request for its grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) enum Class {
    /// The request certainly did not reach the server.
    NotSent,
    /// The server is busy and did not process the request.
    Busy,
    /// The request may have been processed, with the new tokens lost.
    Ambiguous,
    /// Like `Ambiguous`, and the request may still be under way.
    TimedOut,
    /// Device code: the user has not decided yet.
    Pending,
    /// Like `Pending`, and all further polls must be less frequent.
    SlowDown,
    /// The code or refresh token is no longer accepted.
    Dead,
    /// The grant is still valid, but an early retry is unlikely to help.
    Refused,
}

impl Class {
    /// Whether new tokens may have been issued and lost.
    pub(in crate::auth) fn is_ambiguous(self) -> bool {
        matches!(self, Self::Ambiguous | Self::TimedOut)
    }
}

pub(in crate::auth) struct Refusal {
    pub(in crate::auth) class: Class,
    pub(in crate::auth) error: Error,
    /// A new refresh token recovered from a reply that is otherwise unusable.
    pub(in crate::auth) salvaged: Option<Secret>,
}

impl Refusal {
    fn new(class: Class, error: Error) -> Self {
        Self {
            class,
            error,
            salvaged: None,
        }
    }

    /// The request could not be built, so nothing was sent.
    pub(super) fn without_request(error: Error) -> Self {
        if error.is_retryable() {
            Self::new(Class::NotSent, error)
        } else {
            Self::new(Class::Refused, error)
        }
    }

    /// No complete reply arrived.
    pub(super) fn without_reply(error: Error) -> Self {
        let class = match error.repr() {
            // The server rejected the certificate before processing anything.
            Repr::Said(ErrorKind::Config, _) => return Self::without_request(error),
            // A reply that is not HTTP is still a reply: the request may have been processed.
            Repr::Said(ErrorKind::Protocol, _) => Class::Ambiguous,
            Repr::Said(..) if !error.was_sent() => Class::NotSent,
            Repr::Said(ErrorKind::Timeout, _) => Class::TimedOut,
            Repr::Said(..) => Class::Ambiguous,
            _ => Class::Refused,
        };
        Self::new(class, unreachable("token", error))
    }

    /// If a client that signs with the time is not accepted, mentions the clock as the likely cause.
    pub(super) fn with_clock_problem(mut self, provider: &Provider, reply: &Reply) -> Self {
        let settings = &provider.0;
        if settings.authentication.signs()
            && self.error.code() == Some("invalid_client")
            && let Some(server) = server_time(&reply.headers)
            && let Some(problem) = clock_problem(settings.clock.now(), server)
        {
            self.error = self.error.with_source(problem);
        }
        self
    }

    /// The body was truncated. It may contain the new refresh token.
    pub(super) fn of_cut_reply(reply: &Reply, error: Error) -> Self {
        let granted = (200..=299).contains(&reply.status);
        Self {
            salvaged: granted.then(|| salvage(&reply.body)).flatten(),
            ..Self::without_reply(error)
        }
    }
}

/// Classifies by the error code, whatever the status: Auth0 sends `invalid_grant` with 403, and a global limit as
/// `access_denied` with 500.
pub(super) fn read_reply(reply: &Reply, grant: Grant, now: SystemTime) -> Result<Issued, Refusal> {
    let fields: Option<ReplyFields> = from_json(&reply.body);
    let code = fields
        .as_ref()
        .and_then(|fields| fields.error.as_str())
        .map(error_code);
    let granted = code.is_none() && (200..=299).contains(&reply.status);
    let (class, error) = match (code, reply.status) {
        (Some(code), status) => {
            let (class, error) = match grant {
                Grant::DeviceCode => poll_refused(&code, status),
                Grant::Code | Grant::RefreshToken => refused(&code, status, grant),
            };
            let fields = fields.as_ref();
            let description = fields.and_then(|fields| fields.error_description.as_str());
            (class, error.with_error_description(description))
        }
        // A retry would get the same reply and use up another refresh token.
        (None, 200..=299) if fields.as_ref().is_some_and(ReplyFields::is_foreign) => (
            Class::Refused,
            Error::protocol("the token endpoint issued a token of another type than Bearer"),
        ),
        (None, 200..=299) => {
            match fields.and_then(|fields| fields.into_issued(server_time(&reply.headers))) {
                Some(issued) => return Ok(issued),
                None => (
                    Class::Ambiguous,
                    unavailable("the token endpoint's reply is not readable"),
                ),
            }
        }
        (None, 429) => (Class::Busy, busy()),
        (None, 408 | 500..) => (Class::Ambiguous, transient()),
        // Redirects are not followed: that would send the credentials to an address that is not configured.
        (None, 300..=399) => (Class::Refused, misconfigured("redirect")),
        (None, _) => (
            Class::Refused,
            unavailable("a proxy before the token endpoint refused the request"),
        ),
    };
    let polls_go_on = matches!(class, Class::Pending | Class::SlowDown);
    let may_wait = !polls_go_on || reply.headers.contains_key(RETRY_AFTER);
    // Auth0 includes the reset time of its rate limit in every reply, which must not slow down polling.
    let wait = retry_after(&reply.headers, now).filter(|_| may_wait);
    Err(Refusal {
        class,
        error: error.with_retry_after(wait),
        salvaged: granted.then(|| salvage(&reply.body)).flatten(),
    })
}

/// RFC 6749 section 5.2 and its extensions.
fn refused(code: &str, status: u16, grant: Grant) -> (Class, Error) {
    match code {
        "invalid_grant" => (
            Class::Dead,
            reauth("the identity provider does not accept the refresh token any more"),
        ),
        "too_many_requests" | "slow_down" => (Class::Busy, busy()),
        _ if status == 429 => (Class::Busy, busy()),
        _ if blames_settings(code) => (Class::Refused, misconfigured(code)),
        _ if wants_interaction(code) => (Class::Refused, interaction_required(code)),
        "server_error" | "temporarily_unavailable" => (Class::Ambiguous, transient()),
        _ if status >= 500 => (Class::Ambiguous, transient()),
        _ if grant != Grant::RefreshToken => (Class::Refused, login_refused(code)),
        _ => (Class::Refused, refresh_refused(code)),
    }
}

/// RFC 8628 section 3.5. Any code other than the first two ends the polls, unless the status is one with which RFC 6749 section
/// 5.2 refuses nothing: a busy or failing server has not evaluated the device code.
fn poll_refused(code: &str, status: u16) -> (Class, Error) {
    match code {
        "authorization_pending" => (
            Class::Pending,
            unavailable("the user has not answered the login yet"),
        ),
        "slow_down" => (Class::SlowDown, busy()),
        "expired_token" => (Class::Refused, login_refused("login_expired")),
        _ => match refused(code, status, Grant::Code) {
            (Class::Busy | Class::Ambiguous, error) if status < 500 && status != 429 => {
                (Class::Refused, error)
            }
            other => other,
        },
    }
}

fn busy() -> Error {
    unavailable("the token endpoint is busy")
}

fn transient() -> Error {
    unavailable("the token endpoint has a transient failure")
}

/// Finds a complete refresh token in a reply that is truncated or wrapped in something else. It may be the only copy.
fn salvage(body: &[u8]) -> Option<Secret> {
    const NAME: &[u8] = b"\"refresh_token\"";
    let start = body.windows(NAME.len()).position(|bytes| bytes == NAME)? + NAME.len();
    let rest = body.get(start..)?.trim_ascii_start().strip_prefix(b":")?;
    // Reads one value and ignores the rest. A string without its closing quote is an error.
    let (token, _): (String, _) = json_text::first(rest)?;
    (!token.is_empty()).then(|| Secret::new(token))
}

#[cfg(test)]
mod tests;
