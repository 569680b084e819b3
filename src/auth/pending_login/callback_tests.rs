//! Which callbacks are accepted.

use test_support::script::rows;

use super::*;
use crate::error::tests::assert_fails;

fn judge(callback: &str) -> Result<String> {
    judge_with(callback, false)
}

fn judge_with(callback: &str, is_required: bool) -> Result<String> {
    let name = Some("https://id.example/");
    let issuer = ExpectedIssuer { name, is_required };
    code(&parameters(callback)?, &Secret::new("st-1"), issuer).map(|code| code.expose().to_owned())
}

/// Checks a table of callbacks against their code or the reason for refusal.
fn check(table: &'static str, is_required: bool) {
    for row in rows(table) {
        let judged = judge_with(row[0], is_required);
        match row[1].split_once(": ") {
            Some(_) => assert_fails(judged, row[1]),
            None => assert_eq!(judged.unwrap(), row[1], "{row:?}"),
        }
    }
}

#[test]
fn addresses_paths_and_bare_queries_are_read() {
    check(
        "
        https://app.example/cb?code=c%2F1&state=st-1        | c/1
        com.example.app:/cb?state=st-1&code=c%2F1#_=_       | c/1
        /cb?code=c%2F1&state=st-1                           | c/1
        ?code=c%2F1&state=st-1                              | c/1
        code=c%2F1&state=st-1                               | c/1
        state=st-1&code=c/1&session_state=a?b               | c/1
        code=c/1&state=st-1&iss=https%3A%2F%2Fid.example%2F | c/1
        ",
        false,
    );
}

#[test]
fn what_is_pasted_with_an_address_does_not_change_it() {
    const ADDRESS: &str = "https://app.example/cb?code=c%2F1&state=st-1";
    let around = "{}\n|{}\r\n|  {}\t|\u{a0}{}\u{3000}|\"{}\"|'{}'|`{}`|\u{201c}{}\u{201d}|<{}>| \"<{}>\" \n\
        |\u{ab}\u{a0}{}\u{a0}\u{bb}|\u{feff}{}|\u{200b}{}\u{200e}\u{2060}\u{ad}\u{200f}";
    for pasted in around.split('|') {
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
    // Percent-encoded characters are part of a value.
    assert_eq!(judge("code=%22c%20%0A%22&state=st-1").unwrap(), "\"c \n\"");
}

/// Row 43.
#[test]
fn a_callback_of_another_login_is_refused() {
    check(
        "
        https://app.example/cb          | LoginRefused: state_mismatch
        com.example.app:/cb             | LoginRefused: state_mismatch
        /cb                             | LoginRefused: state_mismatch
        code=c                          | LoginRefused: state_mismatch
        code=c&state=                   | LoginRefused: state_mismatch
        code=c&state=st-2               | LoginRefused: state_mismatch
        code=c&state=st-11              | LoginRefused: state_mismatch
        error=access_denied             | LoginRefused: state_mismatch
        error=access_denied&state=other | LoginRefused: state_mismatch
        code=c&state=st-1&state=st-1    | LoginRefused: repeated_parameter
        code=c&code=d&state=st-1        | LoginRefused: repeated_parameter
        state=st-1                      | LoginRefused: missing_code
        state=st-1&code=                | LoginRefused: missing_code
        code=c&state=st-1&iss=https://evil.example/ | LoginRefused: issuer_mismatch
        ",
        false,
    );
}

#[test]
fn a_text_that_is_no_address_differs_from_the_callback_of_another_login() {
    check(
        "
                                    | LoginRefused: not an address
        yes                         | LoginRefused: not an address
        C-900000101                 | LoginRefused: not an address
        Re: your login              | LoginRefused: not an address
        state                       | LoginRefused: state_mismatch
        heads=12                    | LoginRefused: not an address
        s3cr3t                      | LoginRefused: not an address & !s3cr3t
        ",
        false,
    );
}

#[test]
fn rfc_9207_2_4_a_callback_without_the_required_iss_is_refused() {
    check(
        "
        code=c&state=st-1&iss=https%3A%2F%2Fid.example%2F              | c
        error=access_denied&state=st-1&iss=https%3A%2F%2Fid.example%2F | LoginRefused: access_denied
        code=c&state=st-1                         | LoginRefused: missing_issuer
        # The issuer of an error is checked as well.
        error=access_denied&state=st-1            | LoginRefused: missing_issuer
        code=c&state=st-1&iss=                    | LoginRefused: issuer_mismatch
        code=c&state=st-1&iss=https://id.example  | LoginRefused: issuer_mismatch
        # The state is checked first: the callback of another login must not end this one.
        code=c&state=other                        | LoginRefused: state_mismatch
        ",
        true,
    );
}

#[test]
fn provider_errors_map_to_kinds() {
    check(
        "
        error=access_denied&state=st-1           | LoginRefused: access_denied
        error=unauthorized&state=st-1            | LoginRefused: unauthorized
        error=login_required&state=st-1          | ReauthRequired: login_required
        error=consent_required&state=st-1        | ReauthRequired: consent_required
        error=temporarily_unavailable&state=st-1 | TokenUnavailable retryable: temporary problem
        error=invalid_scope&state=st-1           | Config: invalid_scope
        error=Sam%20Sample&state=st-1            | LoginRefused: !Sam
        ",
        false,
    );
    let described = |callback: &str| judge(callback).unwrap_err();
    let own = described("error=access_denied&error_description=Sam+is+blocked&state=st-1");
    assert_eq!(own.server_message().as_deref(), Some("Sam is blocked"));
    assert!(!format!("{own} {own:?}").contains("Sam"));
    let foreign = described("error=access_denied&error_description=x&state=other");
    assert_eq!(foreign.server_message(), None);
}
