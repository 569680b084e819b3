//! Constructors of authentication errors, and the error codes of providers.

use crate::error::{AuthProblem, Error, Repr};

pub(super) fn auth(problem: AuthProblem) -> Error {
    Error::new(Repr::Auth(problem))
}

/// The login ended; `code` is the provider's or one of this crate, never free text.
pub(super) fn login_refused(code: &str) -> Error {
    auth(AuthProblem::LoginRefused {
        code: code.to_owned(),
    })
}

/// The login ended with this error code of the provider (RFC 6749 section 4.1.2.1, OIDC Core 3.1.2.6).
pub(super) fn login_error(code: &str) -> Error {
    let owned = code.to_owned();
    match code {
        "server_error" | "temporarily_unavailable" => {
            unavailable("the identity provider has a temporary problem")
        }
        _ if wants_interaction(code) => auth(AuthProblem::InteractionRequired { code: owned }),
        _ if blames_settings(code) => misconfigured(code),
        _ => login_refused(code),
    }
}

/// The client's settings do not fit the provider.
pub(super) fn misconfigured(code: &str) -> Error {
    auth(AuthProblem::Misconfigured {
        code: code.to_owned(),
    })
}

/// No user is logged in.
pub(super) fn no_tokens() -> Error {
    auth(AuthProblem::NoTokens)
}

pub(super) fn reauth(reason: &'static str) -> Error {
    auth(AuthProblem::ReauthRequired { reason })
}

pub(super) fn unavailable(what: &'static str) -> Error {
    auth(AuthProblem::Unavailable { what })
}

/// The provider's error code if it looks like one (RFC 6749 section 5.2 allows nearly any text, which may be a value).
pub(super) fn error_code(text: &str) -> String {
    let is_code = (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if is_code { text } else { "unreadable_code" }.to_owned()
}

/// Codes that need the user, not other settings (OIDC Core 3.1.2.6; `mfa_required` is Auth0's).
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

/// Codes that mean wrong settings of the client (RFC 6749 sections 4.1.2.1 and 5.2).
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

    #[test]
    fn a_code_that_may_hold_a_value_is_not_repeated() {
        assert_eq!(error_code("access_denied"), "access_denied");
        for text in ["", "Sam Sample", "code=s3cr3t", &"a".repeat(65)] {
            assert_eq!(error_code(text), "unreadable_code");
        }
    }
}
