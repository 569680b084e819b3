//! What a reply of the token endpoint means. Pure.

use std::time::{Duration, SystemTime};

use super::issued::{Issued, ReplyFields};
use crate::auth::failure::{
    auth, blames_settings, error_code, login_refused, reauth, unavailable, wants_interaction,
};
use crate::error::{AuthProblem, Error, Kind, Unsent};
use crate::secret::Secret;
use crate::transport::{Reply, retry_after, server_time};

/// What was sent to the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    Code,
    RefreshToken,
}

/// What a failed request means for the grant that it carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) enum Class {
    /// It surely did not reach the server.
    NotSent,
    /// The server is busy and did not process it.
    Busy,
    /// It may have been processed, and the new tokens are lost.
    Ambiguous,
    /// As above, and it may still be on its way.
    TimedOut,
    /// The code or refresh token is not accepted any more.
    Dead,
    /// The grant is still good; an early retry may not help.
    Refused,
}

pub(in crate::auth) struct Refusal {
    pub(in crate::auth) class: Class,
    pub(in crate::auth) error: Error,
    pub(in crate::auth) retry_after: Option<Duration>,
    /// A new refresh token found in a reply that cannot be used as a whole.
    pub(in crate::auth) salvaged: Option<Secret>,
}

impl Refusal {
    /// Of a request without a complete reply.
    pub(super) fn without_reply(error: Error) -> Self {
        let class = match error.kind() {
            Kind::Transport(failure) if failure.unsent == Unsent::Surely => Class::NotSent,
            Kind::Transport(failure) if failure.timeout => Class::TimedOut,
            // Also a reply that is not HTTP: something replied, so the request may have been processed.
            Kind::Transport(_) | Kind::Protocol(_) => Class::Ambiguous,
            _ => Class::Refused,
        };
        Self {
            class,
            error: unavailable("the token endpoint could not be reached").with_source(error),
            retry_after: None,
            salvaged: None,
        }
    }

    /// Of a reply whose body ended too early: it may hold the new refresh token.
    pub(super) fn of_cut_reply(reply: &Reply, error: Error) -> Self {
        let granted = (200..=299).contains(&reply.status);
        Self {
            salvaged: granted.then(|| salvage(&reply.body)).flatten(),
            ..Self::without_reply(error)
        }
    }
}

/// Decides by the error code, whatever the status: Auth0 sends `invalid_grant` with 403, and a global limit with
/// 500 `access_denied`.
pub(super) fn read_reply(reply: &Reply, grant: Grant, now: SystemTime) -> Result<Issued, Refusal> {
    let fields: Option<ReplyFields> = serde_json::from_slice(&reply.body).ok();
    let code = fields.as_ref().and_then(|fields| fields.error.as_str());
    let code = code.map(error_code);
    let granted = code.is_none() && (200..=299).contains(&reply.status);
    let (class, error) = match (code, reply.status) {
        (Some(code), status) => {
            let (class, error) = refused(&code, status, grant);
            let fields = fields.as_ref();
            let description = fields.and_then(|fields| fields.error_description.as_str());
            (class, error.with_error_description(description))
        }
        // A retry would get the same reply, and use up another refresh token.
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
        // Redirects are not followed: the credentials would go to an address that is not configured.
        (None, 300..=399) => (Class::Refused, misconfigured("redirect")),
        (None, _) => (
            Class::Refused,
            unavailable("a proxy before the token endpoint refused the request"),
        ),
    };
    Err(Refusal {
        class,
        error,
        retry_after: retry_after(&reply.headers, now),
        salvaged: granted.then(|| salvage(&reply.body)).flatten(),
    })
}

/// RFC 6749 section 5.2 and its extensions.
fn refused(code: &str, status: u16, grant: Grant) -> (Class, Error) {
    let owned = code.to_owned();
    match code {
        "invalid_grant" => (
            Class::Dead,
            reauth("the identity provider does not accept the refresh token any more"),
        ),
        "too_many_requests" | "slow_down" => (Class::Busy, busy()),
        _ if status == 429 => (Class::Busy, busy()),
        _ if blames_settings(code) => (Class::Refused, misconfigured(code)),
        _ if wants_interaction(code) => (
            Class::Refused,
            auth(AuthProblem::InteractionRequired { code: owned }),
        ),
        "server_error" | "temporarily_unavailable" => (Class::Ambiguous, transient()),
        _ if status >= 500 => (Class::Ambiguous, transient()),
        _ if grant == Grant::Code => (Class::Refused, login_refused(code)),
        _ => (
            Class::Refused,
            auth(AuthProblem::RefreshRefused { code: owned }),
        ),
    }
}

fn busy() -> Error {
    unavailable("the token endpoint is busy")
}

fn transient() -> Error {
    unavailable("the token endpoint has a transient failure")
}

fn misconfigured(code: &str) -> Error {
    auth(AuthProblem::Misconfigured {
        code: code.to_owned(),
    })
}

/// Finds a whole refresh token in a reply that is cut off or framed by something else: it may be the only copy.
fn salvage(body: &[u8]) -> Option<Secret> {
    const NAME: &[u8] = b"\"refresh_token\"";
    let start = body.windows(NAME.len()).position(|bytes| bytes == NAME)? + NAME.len();
    let rest = body[start..].trim_ascii_start().strip_prefix(b":")?;
    // Reads one value and ignores what follows; a text without its closing quote is an error.
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
    let token = values.next()?.ok()?;
    (!token.is_empty()).then(|| Secret::new(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;
    use crate::transport::header::HeaderMap;

    fn reply(status: u16, body: &str) -> Reply {
        Reply {
            status,
            headers: HeaderMap::new(),
            body: body.to_owned().into(),
        }
    }

    fn refusal(status: u16, body: &str) -> Refusal {
        refusal_of(Grant::RefreshToken, status, body)
    }

    fn refusal_of(grant: Grant, status: u16, body: &str) -> Refusal {
        read_reply(&reply(status, body), grant, SystemTime::UNIX_EPOCH)
            .err()
            .unwrap()
    }

    /// Row 34.
    #[test]
    fn the_code_decides_and_not_the_status() {
        for (status, body, class) in [
            (400, r#"{"error":"invalid_grant"}"#, Class::Dead),
            (401, r#"{"error":"invalid_grant"}"#, Class::Dead),
            (
                403,
                r#"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#,
                Class::Dead,
            ),
            (200, r#"{"error":"invalid_grant"}"#, Class::Dead),
            (429, r#"{"error":"too_many_requests"}"#, Class::Busy),
            (400, r#"{"error":"slow_down"}"#, Class::Busy),
            (429, "slow", Class::Busy),
            (
                500,
                r#"{"error":"access_denied","error_description":"Global limit has been reached"}"#,
                Class::Ambiguous,
            ),
            (403, r#"{"error":"access_denied"}"#, Class::Refused),
            (401, r#"{"error":"invalid_client"}"#, Class::Refused),
            (403, r#"{"error":"mfa_required"}"#, Class::Refused),
            (418, r#"{"error":"never_heard_of"}"#, Class::Refused),
            (500, "", Class::Ambiguous),
            (502, "<html>", Class::Ambiguous),
            (503, "{", Class::Ambiguous),
            (200, "<html>", Class::Ambiguous),
            (200, "", Class::Ambiguous),
            (200, "[]", Class::Ambiguous),
            (302, "", Class::Refused),
            (404, "<html>", Class::Refused),
        ] {
            assert_eq!(refusal(status, body).class, class, "{status} {body}");
        }
    }

    #[test]
    fn only_a_dead_grant_or_an_interaction_requires_a_login() {
        assert!(
            refusal(403, r#"{"error":"invalid_grant"}"#)
                .error
                .is_reauth_required()
        );
        assert!(
            refusal(403, r#"{"error":"mfa_required"}"#)
                .error
                .is_reauth_required()
        );
        for body in [
            r#"{"error":"invalid_client"}"#,
            r#"{"error":"access_denied"}"#,
            "<html>",
        ] {
            assert!(!refusal(403, body).error.is_reauth_required(), "{body}");
        }
        assert!(refusal(503, "").error.is_retryable());
    }

    #[test]
    fn a_rotated_token_is_salvaged_from_a_broken_reply() {
        let salvaged = |body| refusal(200, body).salvaged;
        let cut = r#"{"access_token":"a","refresh_token" : "r\u002d2","expires_i"#;
        assert!(salvaged(cut).unwrap().matches("r-2"));
        let framed = r#"warning: x{"refresh_token":"r-2"}"#;
        assert!(salvaged(framed).unwrap().matches("r-2"));
        for nothing in [
            r#"{"refresh_token":"r-"#,
            r#"{"refresh_token":"" x"#,
            r#"{"refresh_token""#,
            "",
        ] {
            assert!(salvaged(nothing).is_none(), "{nothing}");
        }
    }

    #[test]
    fn retry_after_is_passed_on() {
        let mut reply = reply(429, "");
        reply.headers.insert("retry-after", "7".parse().unwrap());
        let refusal = read_reply(&reply, Grant::RefreshToken, SystemTime::UNIX_EPOCH)
            .err()
            .unwrap();
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(7)));
    }

    #[test]
    fn transport_failures_are_classified_by_what_may_have_been_received() {
        for (unsent, timeout, class) in [
            (Unsent::Surely, false, Class::NotSent),
            (Unsent::Surely, true, Class::NotSent),
            (Unsent::Perhaps, false, Class::Ambiguous),
            (Unsent::Perhaps, true, Class::TimedOut),
        ] {
            let what = "x";
            let failure = Failure {
                what,
                timeout,
                unsent,
                refused_locally: false,
            };
            let refusal = Refusal::without_reply(Error::new(Kind::Transport(failure)));
            assert_eq!(refusal.class, class);
            assert!(refusal.error.is_retryable());
        }
    }

    /// RFC 6749 section 7.1: a client must not use an access token whose type it does not know.
    #[test]
    fn a_token_of_another_type_is_a_protocol_error_and_its_refresh_token_is_salvaged() {
        for kind in ["DPoP", "mac", ""] {
            let body = format!(
                r#"{{"access_token":"a","token_type":"{kind}","refresh_token":"r-2","expires_in":60}}"#
            );
            for grant in [Grant::Code, Grant::RefreshToken] {
                let refusal = refusal_of(grant, 200, &body);
                assert!(refusal.error.is_protocol() && !refusal.error.is_retryable());
                // Not asked again: each try would use up a refresh token.
                assert_eq!(refusal.class, Class::Refused);
                assert!(refusal.salvaged.unwrap().matches("r-2"));
            }
        }
    }

    #[test]
    fn a_refused_refresh_is_not_a_refused_login() {
        for code in ["access_denied", "never_heard_of"] {
            let body = format!(r#"{{"error":"{code}"}}"#);
            let refresh = refusal_of(Grant::RefreshToken, 403, &body).error;
            assert!(refresh.is_refresh_refused() && !refresh.is_login_refused());
            let said = refresh.to_string();
            assert!(said.contains(code) && !said.contains("login"), "{said}");
            let login = refusal_of(Grant::Code, 403, &body).error;
            assert!(login.is_login_refused() && !login.is_refresh_refused());
        }
    }

    /// RFC 6749 section 5.2.
    #[test]
    fn the_description_of_an_error_is_kept_and_not_shown() {
        for (status, code) in [
            (400, "invalid_grant"),
            (401, "invalid_client"),
            (403, "access_denied"),
            (403, "mfa_required"),
            (500, "server_error"),
            (429, "too_many_requests"),
        ] {
            let body =
                format!(r#"{{"error":"{code}","error_description":"Sam is blocked. \u001b[2J"}}"#);
            let error = refusal(status, &body).error;
            assert_eq!(error.error_description(), Some("Sam is blocked. \u{1b}[2J"));
            assert!(!format!("{error} {error:?}").contains("blocked"));
            assert!(error.report().contains("Sam is blocked. \\u{1b}"));
        }
        for body in [
            r#"{"error":"invalid_grant"}"#,
            r#"{"error":"invalid_grant","error_description":""}"#,
            r#"{"error":"invalid_grant","error_description":["Sam"]}"#,
        ] {
            assert_eq!(refusal(400, body).error.error_description(), None);
        }
        let long = format!(
            r#"{{"error":"invalid_grant","error_description":"{}"}}"#,
            "\u{e4}".repeat(5_000)
        );
        let kept = refusal(400, &long).error;
        assert_eq!(kept.error_description().unwrap(), "\u{e4}".repeat(1_000));
    }

    #[test]
    fn a_reply_that_is_not_http_is_ambiguous() {
        let refusal = Refusal::without_reply(Error::protocol("x"));
        assert_eq!(refusal.class, Class::Ambiguous);
    }

    #[test]
    fn errors_do_not_repeat_the_reply() {
        let body =
            r#"{"error":"s3cr3t token","error_description":"s3cr3t","refresh_token":"s3cr3t"}"#;
        for status in [200, 400, 500] {
            let error = refusal(status, body).error;
            assert!(!format!("{error} {error:?}").contains("s3cr3t"));
        }
    }
}
