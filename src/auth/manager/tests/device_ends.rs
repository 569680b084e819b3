//! How a login on another device ends without tokens.

use std::time::Duration;

use serde_json::json;
use wiremock::ResponseTemplate;

use super::bench::{Bench, ScriptedReply};
use super::device::{Polling, error, pending, script};
use crate::auth::{TokenManager, TokenSource};
use crate::error::Error;

/// The error of a login whose first poll gets this reply; no second one is sent.
async fn end(reply: ResponseTemplate) -> Error {
    let bench = Bench::new().await;
    script(&bench, [reply]);
    let polling = Polling::start(&bench).await;
    polling.next_poll().await;
    assert!(polling.login.is_finished(), "a second poll would come");
    let error = polling.login.await.unwrap().unwrap_err();
    assert!(bench.stored().await.is_none());
    error
}

/// Row 55.
#[tokio::test]
async fn rfc_8628_3_5_a_user_who_refuses_ends_the_login() {
    let denied = json!({"error": "access_denied", "error_description": "Sam declined"});
    let error = end(ResponseTemplate::new(403).set_body_json(denied)).await;
    assert!(error.is_login_refused() && !error.is_retryable());
    assert!(error.to_string().contains("access_denied"), "{error}");
    assert_eq!(error.error_description(), Some("Sam declined"));
}

/// Row 55.
#[tokio::test]
async fn rfc_8628_3_5_expired_token_ends_the_login() {
    let error = end(error(400, "expired_token")).await;
    assert!(error.is_login_refused());
    assert!(error.to_string().contains("login_expired"), "{error}");
}

/// Row 55.
#[tokio::test]
async fn rfc_8628_3_5_any_other_error_ends_the_polls() {
    assert!(end(error(403, "invalid_grant")).await.is_login_refused());
    assert!(end(error(403, "never_heard_of")).await.is_login_refused());
    assert!(end(error(401, "invalid_client")).await.is_config());
    assert!(end(error(403, "mfa_required")).await.is_reauth_required());
    assert!(
        end(error(400, "temporarily_unavailable"))
            .await
            .is_retryable()
    );
    assert!(end(ResponseTemplate::new(307)).await.is_config());
}

/// Row 56.
#[tokio::test]
async fn a_code_that_is_used_up_after_a_lost_reply_names_the_loss() {
    let bench = Bench::new().await;
    let lost = ScriptedReply::RotateAndReply(ResponseTemplate::new(502));
    bench.idp.next(lost);
    script(&bench, [error(403, "invalid_grant")]);
    let polling = Polling::start(&bench).await;
    assert_eq!(polling.next_poll().await, 5);
    assert_eq!(polling.next_poll().await, 10);
    let error = polling.login.await.unwrap().unwrap_err();
    assert!(error.is_login_refused());
    assert!(error.to_string().contains("tokens_lost"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

/// Row 56.
#[tokio::test]
async fn a_code_that_is_pending_after_a_lost_reply_was_not_used_up() {
    let bench = Bench::new().await;
    let replies = [
        ResponseTemplate::new(502),
        pending(),
        error(403, "invalid_grant"),
    ];
    script(&bench, replies);
    let polling = Polling::start(&bench).await;
    for _ in 0..3 {
        polling.next_poll().await;
    }
    let error = polling.login.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("invalid_grant"), "{error}");
}

/// Row 56.
#[tokio::test]
async fn tokens_that_cannot_be_used_are_revoked_and_not_asked_for_again() {
    for (body, is_lost) in [
        (r#"{"refresh_token":"rt-9","access_tok"#, true),
        (
            r#"{"access_token":"a","token_type":"DPoP","refresh_token":"rt-9"}"#,
            false,
        ),
    ] {
        let bench = Bench::new().await;
        script(
            &bench,
            [ResponseTemplate::new(200).set_body_raw(body, "application/json")],
        );
        let polling = Polling::start(&bench).await;
        polling.next_poll().await;
        let error = polling.login.await.unwrap().unwrap_err();
        assert_eq!(error.is_login_refused(), is_lost, "{error}");
        assert_eq!(error.is_protocol(), !is_lost, "{error}");
        assert_eq!(bench.idp.revoked(), ["rt-9"]);
        assert!(bench.stored().await.is_none());
    }
}

/// Row 45. The user code may have been typed by another user.
#[tokio::test]
async fn a_device_login_of_an_unexpected_user_is_refused_and_its_tokens_are_revoked() {
    for (user, refused) in [("kim", true), ("sam", false)] {
        let bench = Bench::new().await;
        let manager = bench.manager();
        bench.idp.log_in_as(user, "");
        let login = manager.provider().device_authorization();
        let login = login.expected_subject("sam").start().await.unwrap();
        bench.clock.advance(login.interval());
        let outcome = manager.complete_device_login(login).await;
        assert_eq!(outcome.is_err_and(|e| e.is_login_refused()), refused);
        assert_eq!(bench.stored().await.is_none(), refused);
        assert_eq!(bench.idp.revoked().len(), usize::from(refused));
    }
}

/// Row 45. The claims but `nonce` are checked as in any login (OIDC Core 3.1.3.7).
#[tokio::test]
async fn the_id_token_of_a_device_login_is_checked() {
    let tokens = |id_token: &str| {
        let body = json!({"access_token": "a", "refresh_token": "rt-9", "id_token": id_token});
        ResponseTemplate::new(200).set_body_json(body)
    };
    // {"sub":"sam","aud":"other","exp":4000000000}
    let foreign = tokens("e30.eyJzdWIiOiJzYW0iLCJhdWQiOiJvdGhlciIsImV4cCI6NDAwMDAwMDAwMH0.s");
    for (reply, code) in [
        (foreign, "id_token_audience"),
        (tokens(""), "id_token_missing"),
    ] {
        let error = end(reply).await;
        assert!(error.is_login_refused());
        assert!(error.to_string().contains(code), "{error}");
    }
}

/// Row 57.
#[tokio::test]
async fn a_logout_ends_a_device_login_before_its_next_poll() {
    let bench = Bench::new().await;
    script(&bench, [pending()]);
    let manager = bench.manager();
    let polling = Polling::start_in(&bench, &manager).await;
    polling.next_poll().await;
    manager.logout(None).await;
    polling.seconds_to_wake().await;
    polling.until_idle().await;
    let error = polling.login.await.unwrap().unwrap_err();
    assert!(error.is_login_refused());
    assert!(error.to_string().contains("overtaken"), "{error}");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 57.
#[tokio::test]
async fn a_logout_during_the_poll_of_a_device_login_wins_and_its_tokens_are_revoked() {
    let bench = Bench::new().await;
    script(&bench, []);
    let manager = bench.manager();
    let held = bench.idp.hold();
    let polling = Polling::start_in(&bench, &manager).await;
    polling.seconds_to_wake().await;
    held.arrived().await;
    // The server replies to one request at a time, but there is no token to revoke.
    manager.logout(None).await;
    held.open();
    let error = polling.login.await.unwrap().unwrap_err();
    assert!(error.is_login_refused());
    assert!(bench.stored().await.is_none() && manager.current().is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

#[tokio::test]
async fn a_device_login_of_another_provider_is_refused_without_a_request() {
    let bench = Bench::new().await;
    let login = bench.provider().build().unwrap().device_authorization();
    let login = login.start().await.unwrap();
    let other = bench.provider().token_url("http://127.0.0.1:9/token");
    let manager = TokenManager::builder(other.build().unwrap());
    let manager = manager.build().unwrap();
    let error = manager.complete_device_login(login).await.unwrap_err();
    assert!(error.is_config());
    assert_eq!(bench.idp.refreshes(), 0);
}

#[tokio::test]
async fn settings_that_cannot_start_a_device_login_are_named() {
    let bench = Bench::new().await;
    let provider = bench.provider().build().unwrap();
    let login = || provider.device_authorization();
    for (request, named) in [
        (login().param("client_secret", "s"), "client_secret"),
        (login().param("scope", "openid"), "scope"),
        (
            login().scopes(["email"]).expected_subject("sam"),
            "expected_subject",
        ),
    ] {
        let error = request.start().await.unwrap_err();
        assert!(error.is_config() && error.to_string().contains(named));
    }
    let without = crate::auth::Provider::builder("app")
        .authorize_url("http://127.0.0.1:9/authorize")
        .token_url("http://127.0.0.1:9/token")
        .audience("https://api.example")
        .redirect_uri("https://app.example/cb");
    let login = without.build().unwrap().device_authorization();
    let error = login.start().await.unwrap_err();
    assert!(error.to_string().contains("device_authorization_url"));
    assert!(bench.idp.forms("/oauth/device/code").is_empty());
}

#[tokio::test]
async fn debug_shows_neither_code_of_a_device_login() {
    let bench = Bench::new().await;
    let provider = bench.provider().build().unwrap();
    let request = provider.device_authorization().param("hint", "s3cr3t");
    let shown = format!("{:?}", request.expected_subject("s3cr3t"));
    assert!(!shown.contains("s3cr3t"), "{shown}");
    let login = provider.device_authorization().start().await.unwrap();
    assert_eq!(login.user_code(), "WDJB-MJHT");
    assert_eq!(login.verification_url().path(), "/activate");
    assert_eq!(login.verification_url_complete(), None);
    let shown = format!("{login:?}");
    assert!(!shown.contains("WDJB") && !shown.contains("d-1"), "{shown}");
    assert!(shown.contains("id.example"), "{shown}");
    assert!(login.interval() < Duration::from_secs(60));
}
