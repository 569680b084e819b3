//! Which callbacks are accepted.

use super::*;
use crate::error::ErrorKind;

fn judge(callback: &str) -> Result<String> {
    judge_with(callback, false)
}

fn judge_with(callback: &str, is_required: bool) -> Result<String> {
    let name = Some("https://id.example/");
    let issuer = ExpectedIssuer { name, is_required };
    code(&parameters(callback)?, &Secret::new("st-1"), issuer).map(|code| code.expose().to_owned())
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
