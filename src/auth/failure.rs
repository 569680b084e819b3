//! Constructors of authentication errors, and the error codes of providers.

use crate::error::{Error, ErrorCase, ErrorKind};

/// The reason is an error code of the provider or of this crate, never free text.
fn coded(kind: ErrorKind, what: &str, code: &str) -> Error {
    Error::said(kind, format!("{what} ({code})")).with_code(code)
}

/// The login ended with an error from the provider, or with a callback of another login.
pub(super) fn login_refused(code: &str) -> Error {
    coded(ErrorKind::LoginRefused, "the login was refused", code)
}

/// The user pasted something other than the address of the last page.
pub(super) fn no_address() -> Error {
    let what = "the login was refused: the text is not an address";
    coded(ErrorKind::LoginRefused, what, "not_an_address")
}

/// The login ended with this provider error code (RFC 6749 section 4.1.2.1, OIDC Core 3.1.2.6).
pub(super) fn login_error(code: &str) -> Error {
    match code {
        "server_error" | "temporarily_unavailable" => {
            unavailable("the identity provider has a temporary problem")
        }
        _ if wants_interaction(code) => interaction_required(code),
        _ if blames_settings(code) => misconfigured(code),
        _ => login_refused(code),
    }
}

/// The provider requires user interaction. The tokens may still be valid.
pub(super) fn interaction_required(code: &str) -> Error {
    let what = "the identity provider requires the user to log in again";
    coded(ErrorKind::ReauthRequired, what, code)
}

/// The client's settings do not match the provider. The tokens are kept.
pub(super) fn misconfigured(code: &str) -> Error {
    let what = "the identity provider does not accept the client's settings";
    coded(ErrorKind::Config, what, code)
}

/// The provider refused a refresh for a reason that does not invalidate the tokens. They are kept.
pub(super) fn refresh_refused(code: &str) -> Error {
    let what = "the identity provider refused to renew the token";
    coded(ErrorKind::RefreshRefused, what, code)
}

/// No user is logged in, or the user was logged out.
pub(super) fn no_tokens() -> Error {
    Error::said(ErrorKind::ReauthRequired, "no user is logged in").with_case(ErrorCase::NoUser)
}

/// The refresh token is no longer valid.
pub(super) fn reauth(reason: &str) -> Error {
    let what = format!("the user has to log in again: {reason}");
    Error::said(ErrorKind::ReauthRequired, what)
}

/// Currently no token is available.
pub(super) fn unavailable(what: &str) -> Error {
    let what = format!("no token is available for now: {what}");
    Error::said(ErrorKind::TokenUnavailable, what).with_passes(true)
}

/// An endpoint of the provider sent no complete reply. The message includes a known cause, because some programs show only the
/// outermost error.
pub(super) fn unreachable(endpoint: &str, error: Error) -> Error {
    let what = match error.connect_cause() {
        Some(_) => format!("at the {endpoint} endpoint, {error}"),
        None => format!("the {endpoint} endpoint could not be reached"),
    };
    unavailable(&what).with_source(error)
}

/// The provider's error code, if it looks like a code. RFC 6749 section 5.2 allows almost any text, which may contain private
/// data.
pub(super) fn error_code(text: &str) -> String {
    let is_code = (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if is_code { text } else { "unreadable_code" }.to_owned()
}

/// Codes that require user interaction, not different settings (OIDC Core 3.1.2.6; `mfa_required` is Auth0's).
pub(super) fn wants_interaction(code: &str) -> bool {
    matches!(
        code,
        "login_required"
            | "interaction_required"
            | "consent_required"
            | "account_selection_required"
            | "mfa_required"
    )
}

/// Codes that indicate wrong client settings (RFC 6749 sections 4.1.2.1 and 5.2).
pub(super) fn blames_settings(code: &str) -> bool {
    matches!(
        code,
        "invalid_client"
            | "unauthorized_client"
            | "invalid_request"
            | "invalid_scope"
            | "invalid_target"
            | "unsupported_grant_type"
            | "unsupported_response_type"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{StoreError, StoreErrorKind};
    use crate::error::ConnectCause;

    #[test]
    fn each_failure_has_its_kind_and_its_words() {
        let store = |kind| Error::from(StoreError::new(kind, "x"));
        for (error, said) in [
            (no_tokens(), "ReauthRequired: no user"),
            (reauth("why"), "ReauthRequired: why"),
            (interaction_required("c0de"), "ReauthRequired: (c0de)"),
            (misconfigured("c0de"), "Config: (c0de)"),
            (login_refused("c0de"), "LoginRefused: (c0de)"),
            (refresh_refused("c0de"), "RefreshRefused: (c0de)"),
            (unavailable("why"), "TokenUnavailable retryable: why"),
            (
                unreachable("token", Error::no_reply(false, true)),
                "TokenUnavailable retryable: the token endpoint could not be reached",
            ),
            (
                unreachable("token", Error::not_connected(ConnectCause::Proxy, "why")),
                "TokenUnavailable retryable: at the token endpoint, no connection could be made: why",
            ),
            (store(StoreErrorKind::Other), "Store: failed"),
            (
                store(StoreErrorKind::Unreachable),
                "Store retryable: answer",
            ),
            (store(StoreErrorKind::LockTimeout), "Store retryable: lock"),
            (store(StoreErrorKind::AnotherClient), "Config: client_id"),
        ] {
            let retryable = if error.is_retryable() {
                " retryable"
            } else {
                ""
            };
            let (kind, text) = said.split_once(": ").unwrap();
            assert_eq!(format!("{:?}{retryable}", error.kind()), kind, "{error}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn a_code_that_may_hold_a_value_is_not_repeated() {
        assert_eq!(error_code("access_denied"), "access_denied");
        for text in ["", "Sam Sample", "code=s3cr3t", &"a".repeat(65)] {
            assert_eq!(error_code(text), "unreadable_code");
        }
    }
}
