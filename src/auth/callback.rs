//! Checks the callback of a login. Does no I/O.

use std::collections::HashMap;

use url::form_urlencoded;
use zeroize::Zeroizing;

use super::Provider;
use super::claims::ExpectedIdToken;
use super::failure::{error_code, login_error, login_refused};
use crate::error::Result;
use crate::secret::Secret;

/// A callback that belongs to its login and carries a code, ready to be exchanged once.
#[derive(Debug)]
pub(crate) struct CheckedCallback {
    pub(super) provider: Provider,
    pub(super) code: Secret,
    pub(super) verifier: Secret,
    pub(super) expected: ExpectedIdToken,
}

pub(super) type CallbackParameters = HashMap<String, Secret>;

/// What stands around an address that was copied from a mail or a chat, besides white space.
const AROUND: &str = "\"'<>`\u{201c}\u{201d}\u{2018}\u{2019}\u{ab}\u{bb}";

/// Without what mail programs and people add to an address: characters without a width, line ends, quotes, `&amp;`. None of it
/// stands in the address of a browser, which encodes it.
fn as_in_the_browser(pasted: &str) -> String {
    let is_invisible = |c: char| {
        matches!(
            c,
            '\t' | '\n' | '\r' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
        )
    };
    let visible = Zeroizing::new(pasted.replace(is_invisible, ""));
    let is_around = |c: char| c.is_whitespace() || AROUND.contains(c);
    visible.trim_matches(is_around).replace("&amp;", "&")
}

/// The parameters of an address or of a query alone.
pub(super) fn parameters(callback: &str) -> Result<CallbackParameters> {
    let callback = Zeroizing::new(as_in_the_browser(callback));
    let callback = callback.split('#').next().unwrap_or_default();
    let query = match callback.split_once('?') {
        // An address stands before the question mark, unless it is a parameter already.
        Some((before, query)) if !before.contains('=') => query,
        _ => callback,
    };
    let mut parameters = CallbackParameters::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        // RFC 6749 section 3.1: a parameter must not be repeated.
        let value = Secret::new(value);
        if parameters.insert(name.into_owned(), value).is_some() {
            return Err(login_refused("repeated_parameter"));
        }
    }
    Ok(parameters)
}

/// Whether the callback has the state of this login; compared in constant time.
pub(super) fn has_state(parameters: &CallbackParameters, state: &Secret) -> bool {
    state.matches(parameters.get("state").map_or("", Secret::expose))
}

/// What the parameter `iss` must be (RFC 9207 section 2.4).
#[derive(Clone, Copy)]
pub(super) struct ExpectedIssuer<'a> {
    pub(super) name: Option<&'a str>,
    /// Whether it must be present.
    pub(super) is_required: bool,
}

impl ExpectedIssuer<'_> {
    /// Also of an error, which otherwise could be another provider's.
    fn check(self, parameters: &CallbackParameters) -> Result<()> {
        match (parameters.get("iss"), self.name) {
            (Some(iss), Some(name)) if iss.expose() != name => {
                Err(login_refused("issuer_mismatch"))
            }
            (None, _) if self.is_required => Err(login_refused("missing_issuer")),
            _ => Ok(()),
        }
    }
}

/// The code, if the callback is of this login and of this issuer.
pub(super) fn code(
    parameters: &CallbackParameters,
    state: &Secret,
    issuer: ExpectedIssuer<'_>,
) -> Result<Secret> {
    // The state is checked first: an error without it may come from anywhere, and must not end the login.
    if !has_state(parameters, state) {
        return Err(login_refused("state_mismatch"));
    }
    issuer.check(parameters)?;
    if let Some(error) = parameters.get("error") {
        let description = parameters.get("error_description").map(Secret::expose);
        return Err(login_error(&error_code(error.expose())).with_error_description(description));
    }
    match parameters.get("code") {
        Some(code) if !code.is_empty() => Ok(code.clone()),
        _ => Err(login_refused("missing_code")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn judge(callback: &str) -> Result<String> {
        judge_with(callback, false)
    }

    fn judge_with(callback: &str, is_required: bool) -> Result<String> {
        let name = Some("https://id.example/");
        let issuer = ExpectedIssuer { name, is_required };
        code(&parameters(callback)?, &Secret::new("st-1"), issuer)
            .map(|code| code.expose().to_owned())
    }

    #[test]
    fn addresses_paths_and_bare_queries_are_read() {
        for callback in [
            "https://app.example/cb?code=c%2F1&state=st-1",
            "com.example.app:/cb?state=st-1&code=c%2F1#_=_",
            "/cb?code=c%2F1&state=st-1",
            "?code=c%2F1&state=st-1",
            "code=c%2F1&state=st-1",
            "state=st-1&code=c/1&session_state=a?b",
            "code=c/1&state=st-1&iss=https%3A%2F%2Fid.example%2F",
        ] {
            assert_eq!(judge(callback).unwrap(), "c/1", "{callback}");
        }
    }

    #[test]
    fn what_is_pasted_with_an_address_does_not_change_it() {
        const ADDRESS: &str = "https://app.example/cb?code=c%2F1&state=st-1";
        for pasted in [
            "{}\n",
            "{}\r\n",
            "  {}\t",
            "\u{a0}{}\u{3000}",
            "\"{}\"",
            "'{}'",
            "`{}`",
            "\u{201c}{}\u{201d}",
            "\u{ab}\u{a0}{}\u{a0}\u{bb}",
            "<{}>",
            " \"<{}>\" \n",
            "\u{feff}{}",
            "\u{200b}{}\u{200e}\u{2060}\u{ad}\u{200f}",
        ] {
            let pasted = pasted.replace("{}", ADDRESS);
            assert_eq!(judge(&pasted).unwrap(), "c/1", "{pasted:?}");
        }
        for inside in [
            "https://app.example/cb?code=c%2F1&amp;state=st-1",
            "https://app.example/cb?code=c%\n2F1&st\r\nate=st-1",
            "code=c%2F1&sta\u{200b}te=st\u{ad}-1",
        ] {
            assert_eq!(judge(inside).unwrap(), "c/1", "{inside:?}");
        }
        // Encoded, such characters are part of a value.
        assert_eq!(judge("code=%22c%20%0A%22&state=st-1").unwrap(), "\"c \n\"");
    }

    /// Row 43.
    #[test]
    fn a_callback_of_another_login_is_refused() {
        for (callback, why) in [
            ("", "state_mismatch"),
            ("code=c", "state_mismatch"),
            ("code=c&state=", "state_mismatch"),
            ("code=c&state=st-2", "state_mismatch"),
            ("code=c&state=st-11", "state_mismatch"),
            ("error=access_denied", "state_mismatch"),
            ("error=access_denied&state=other", "state_mismatch"),
            ("code=c&state=st-1&state=st-1", "repeated_parameter"),
            ("code=c&code=d&state=st-1", "repeated_parameter"),
            (
                "code=c&state=st-1&iss=https://evil.example/",
                "issuer_mismatch",
            ),
            ("state=st-1", "missing_code"),
            ("state=st-1&code=", "missing_code"),
        ] {
            let error = judge(callback).unwrap_err();
            assert!(error.kind() == ErrorKind::LoginRefused, "{callback}");
            assert!(error.to_string().contains(why), "{callback}: {error}");
        }
    }

    #[test]
    fn rfc_9207_2_4_a_callback_without_the_required_iss_is_refused() {
        let iss = "iss=https%3A%2F%2Fid.example%2F";
        assert_eq!(
            judge_with(&format!("code=c&state=st-1&{iss}"), true).unwrap(),
            "c"
        );
        let cancelled = judge_with(&format!("error=access_denied&state=st-1&{iss}"), true);
        assert!(cancelled.unwrap_err().to_string().contains("access_denied"));
        for (callback, why) in [
            ("code=c&state=st-1", "missing_issuer"),
            // The issuer of an error is checked as well.
            ("error=access_denied&state=st-1", "missing_issuer"),
            ("code=c&state=st-1&iss=", "issuer_mismatch"),
            (
                "code=c&state=st-1&iss=https://id.example",
                "issuer_mismatch",
            ),
            // The state is checked first: the callback of another login must not end this one.
            ("code=c&state=other", "state_mismatch"),
        ] {
            let error = judge_with(callback, true).unwrap_err();
            assert!(error.kind() == ErrorKind::LoginRefused, "{callback}");
            assert!(error.to_string().contains(why), "{callback}: {error}");
        }
    }

    #[test]
    fn provider_errors_map_to_predicates() {
        let error = |code| judge(&format!("error={code}&state=st-1")).unwrap_err();
        assert!(error("access_denied").kind() == ErrorKind::LoginRefused);
        assert!(error("unauthorized").kind() == ErrorKind::LoginRefused);
        assert!(error("login_required").is_reauth_required());
        assert!(error("consent_required").is_reauth_required());
        assert!(error("temporarily_unavailable").is_retryable());
        assert!(error("invalid_scope").kind() != ErrorKind::LoginRefused);
        assert!(!error("Sam%20Sample").to_string().contains("Sam"));
        let described = error("access_denied&error_description=Sam+is+blocked");
        assert_eq!(
            described.server_message().as_deref(),
            Some("Sam is blocked")
        );
        assert!(!format!("{described} {described:?}").contains("Sam"));
        let foreign = judge("error=access_denied&error_description=x&state=other");
        assert_eq!(foreign.unwrap_err().server_message(), None);
    }
}
