//! Replies of the token endpoint, and their classification.

use std::time::Duration;

use test_support::script::rows;

use super::*;
use crate::error::ErrorKind;
use crate::model::json_text::work;
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

#[test]
fn the_work_of_a_reply_grows_as_its_text() {
    let around = [["", ""], ["{\"refresh_token\":\"r\",\"scope\":", "}"]];
    work::assert_linear(&around, |text| {
        drop(read_reply(
            &reply(200, text),
            Grant::RefreshToken,
            SystemTime::UNIX_EPOCH,
        ));
    });
}

/// Row 34. Only a dead grant or a required interaction leads to a login.
#[test]
fn the_code_decides_and_not_the_status() {
    for row in rows(
        r#"
        Dead login   | 400 | {"error":"invalid_grant"}
        Dead login   | 401 | {"error":"invalid_grant"}
        Dead login   | 403 | {"error":"invalid_grant","error_description":"x"}
        Dead login   | 200 | {"error":"invalid_grant"}
        Busy         | 429 | {"error":"too_many_requests"}
        Busy         | 400 | {"error":"slow_down"}
        Busy         | 429 | slow
        Refused login| 403 | {"error":"mfa_required"}
        Refused      | 403 | {"error":"access_denied"}
        Refused      | 401 | {"error":"invalid_client"}
        Refused      | 418 | {"error":"never_heard_of"}
        Refused      | 302 |
        Refused      | 404 | <html>
        Busy         | 429 | {"error":"access_denied"}
        Ambiguous    | 408 |
        Ambiguous    | 408 | <html>
        Ambiguous    | 400 | {"error":"temporarily_unavailable"}
        Ambiguous    | 500 | {"error":"access_denied"}
        Ambiguous    | 500 |
        Ambiguous    | 502 | <html>
        Ambiguous    | 503 | {
        Ambiguous    | 200 | <html>
        Ambiguous    | 200 |
        Ambiguous    | 200 | []
        "#,
    ) {
        let refusal = refusal(row[1].parse().unwrap(), row[2]);
        let login = if refusal.error.is_reauth_required() {
            " login"
        } else {
            ""
        };
        assert_eq!(format!("{:?}{login}", refusal.class), row[0], "{row:?}");
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
    let refusal = read_reply(&reply, Grant::RefreshToken, SystemTime::UNIX_EPOCH);
    let refusal = refusal.err().unwrap();
    assert_eq!(refusal.error.retry_after(), Some(Duration::from_secs(7)));
}

#[test]
fn transport_failures_are_classified_by_what_may_have_been_received() {
    for (was_sent, is_timeout, class) in [
        (false, false, Class::NotSent),
        (false, true, Class::NotSent),
        (true, false, Class::Ambiguous),
        (true, true, Class::TimedOut),
    ] {
        let refusal = Refusal::without_reply(Error::no_reply(is_timeout, was_sent));
        assert_eq!(refusal.class, class);
        assert!(refusal.error.is_retryable());
    }
    // A reply that is not HTTP.
    let refusal = Refusal::without_reply(Error::protocol("x"));
    assert_eq!(refusal.class, Class::Ambiguous);
}

/// RFC 6749 section 7.1: a client must not use an access token of an unknown type.
#[test]
fn a_token_of_another_type_is_a_protocol_error_and_its_refresh_token_is_salvaged() {
    for kind in ["DPoP", "mac", ""] {
        let body = format!(
            r#"{{"access_token":"a","token_type":"{kind}","refresh_token":"r-2","expires_in":60}}"#
        );
        for grant in [Grant::Code, Grant::RefreshToken] {
            let refusal = refusal_of(grant, 200, &body);
            assert!(refusal.error.kind() == ErrorKind::Protocol && !refusal.error.is_retryable());
            // Not retried: each attempt would use up a refresh token.
            assert_eq!(refusal.class, Class::Refused);
            assert!(refusal.salvaged.unwrap().matches("r-2"));
        }
    }
}

#[test]
fn rfc_8628_3_5_two_codes_go_on_and_any_other_ends_the_polls() {
    for status in [200, 400, 403, 428, 429, 500] {
        for (code, class) in [
            ("authorization_pending", Class::Pending),
            ("slow_down", Class::SlowDown),
        ] {
            let body = format!(r#"{{"error":"{code}"}}"#);
            let refusal = refusal_of(Grant::DeviceCode, status, &body);
            assert_eq!(refusal.class, class, "{status} {code}");
        }
    }
    for code in "access_denied expired_token invalid_client unauthorized_client server_error temporarily_unavailable \
        too_many_requests mfa_required never_heard_of"
        .split(' ')
    {
        let body = format!(r#"{{"error":"{code}"}}"#);
        for status in [200, 400, 401, 403] {
            let refusal = refusal_of(Grant::DeviceCode, status, &body);
            assert_eq!(refusal.class, Class::Refused, "{status} {code}");
        }
    }
    // An overloaded server has not evaluated the device code.
    for (status, class) in [(429, Class::Busy), (500, Class::Ambiguous)] {
        let body = r#"{"error":"access_denied"}"#;
        assert_eq!(refusal_of(Grant::DeviceCode, status, body).class, class);
    }
}

#[test]
fn a_refused_refresh_is_not_a_refused_login() {
    for code in ["access_denied", "never_heard_of"] {
        let body = format!(r#"{{"error":"{code}"}}"#);
        let refresh = refusal_of(Grant::RefreshToken, 403, &body).error;
        assert_eq!(refresh.kind(), ErrorKind::RefreshRefused);
        let said = refresh.to_string();
        assert!(said.contains(code) && !said.contains("login"), "{said}");
        let login = refusal_of(Grant::Code, 403, &body).error;
        assert_eq!(login.kind(), ErrorKind::LoginRefused);
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
        let said = r"Sam is blocked. \u001b[2J";
        let body = format!(r#"{{"error":"{code}","error_description":"{said}"}}"#);
        let error = refusal(status, &body).error;
        assert_eq!(error.server_message().unwrap(), "Sam is blocked. \u{1b}[2J");
        assert!(!format!("{error} {error:?}").contains("blocked"));
        assert!(error.report().contains("Sam is blocked. \\u{1b}"));
    }
    for body in [
        r#"{"error":"invalid_grant"}"#,
        r#"{"error":"invalid_grant","error_description":""}"#,
        r#"{"error":"invalid_grant","error_description":["Sam"]}"#,
    ] {
        assert_eq!(refusal(400, body).error.server_message(), None);
    }
    let long = "\u{e4}".repeat(5_000);
    let long = format!(r#"{{"error":"invalid_grant","error_description":"{long}"}}"#);
    let kept = refusal(400, &long).error;
    assert_eq!(kept.server_message().unwrap(), "\u{e4}".repeat(1_000));
}

#[test]
fn errors_do_not_repeat_the_reply() {
    let body = r#"{"error":"s3cr3t token","error_description":"s3cr3t","refresh_token":"s3cr3t"}"#;
    for status in [200, 400, 500] {
        let error = refusal(status, body).error;
        assert!(!format!("{error} {error:?}").contains("s3cr3t"));
    }
}
