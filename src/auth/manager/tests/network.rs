//! Failures between the manager and the token endpoint.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, KEY, ScriptedReply, event};
use super::wire::{Wire, WireServer, announced, reply};
use crate::auth::{Event, TokenManager, TokenStore};

const RENEWED: &str =
    r#"{"access_token":"at-2","refresh_token":"rt-2","expires_in":86400,"token_type":"Bearer"}"#;

/// A manager whose token endpoint is at this address.
fn manager_at(bench: &Bench, token_url: &str) -> TokenManager {
    let provider = bench.provider().token_url(token_url).build().unwrap();
    let builder = TokenManager::builder(provider).store(bench.store.clone());
    builder.account(KEY).wait(30 * DAY).build().unwrap()
}

/// Gets a token, and advances the clock by two seconds when the first reply is lost.
async fn token_after_a_loss(bench: &Bench, manager: TokenManager) -> crate::error::Result<String> {
    let mut events = manager.events();
    let caller = tokio::spawn(async move { manager.access_token().await });
    event(&mut events, |event| {
        matches!(event, Event::RotationAmbiguous)
    })
    .await;
    bench.clock.advance(Duration::from_secs(2));
    let token = caller.await.unwrap()?;
    Ok(token.expose().to_owned())
}

/// Row 28.
#[tokio::test]
async fn a_reply_lost_within_the_overlap_is_retried_in_time() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    bench.idp.allow_overlap();
    let overlap = Duration::from_secs(10);
    // Also after a time-out, after which the retry waits for 30 seconds if there is no overlap.
    let provider = bench.provider().rotation_overlap(overlap).build().unwrap();
    let builder = TokenManager::builder(provider).store(bench.store.clone());
    let manager = builder.account(KEY).wait(30 * DAY).build().unwrap();
    let lost = ScriptedReply::RotateAndReply(ResponseTemplate::new(502));
    bench.idp.next(lost);
    assert_eq!(token_after_a_loss(&bench, manager).await.unwrap(), "at-3");
    assert!(!bench.idp.session_over());
}

/// Row 29.
#[tokio::test]
async fn an_unsent_request_is_retried_later() {
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = deaf.local_addr().unwrap().port();
    // Accepts connections and completes no TLS handshake.
    tokio::spawn(async move { while deaf.accept().await.is_ok() {} });
    let no_name = format!("https://{}.invalid/token", "a".repeat(64));
    for url in [
        "http://127.0.0.1:9/token",
        &format!("https://127.0.0.1:{port}/token"),
        // Longer than a host name can be, so that no name server is used.
        &no_name,
    ] {
        let bench = Bench::new().await;
        bench.seed(DAY).await;
        let manager = manager_at(&bench, url);
        let mut events = manager.events();
        let error = manager.access_token().await.unwrap_err();
        assert!(error.is_retryable() && error.retry_at().is_some(), "{url}");
        let first = events.next().await.unwrap();
        assert!(
            matches!(first, Event::RefreshFailed { .. }),
            "{url}: {first:?}"
        );
        let stored = bench.store.load(KEY).await.unwrap().unwrap();
        assert!(stored.record.intent.is_none(), "{url}");
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    }
}

/// Row 30.
#[tokio::test]
async fn a_connection_dropped_before_processing_costs_a_retry_and_no_login() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let server = WireServer::start(vec![Wire::Drop, reply(RENEWED)]).await;
    let manager = manager_at(&bench, &server.url);
    assert_eq!(token_after_a_loss(&bench, manager).await.unwrap(), "at-2");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.contains("rt-1")));
}

/// Row 32.
#[tokio::test]
async fn retry_after_is_kept_in_each_of_its_formats() {
    // The clock of the test stands at 1,700,000,000 s, a Tuesday.
    for (header, value, seconds) in [
        ("retry-after", "600", 600),
        ("retry-after", "Tue, 14 Nov 2023 22:23:20 GMT", 600),
        ("x-ratelimit-reset", "1700000600", 600),
        ("x-other", "600", 1),
    ] {
        let bench = Bench::new().await;
        bench.seed(DAY).await;
        let manager = bench.manager();
        let busy = ResponseTemplate::new(429).insert_header(header, value);
        bench.idp.next(ScriptedReply::Reply(busy));
        let start = bench.clock.now();
        let error = manager.access_token().await.unwrap_err();
        let wait = error.retry_at().unwrap().duration_since(start).unwrap();
        assert!(wait >= Duration::from_secs(seconds), "{header}: {wait:?}");
        bench
            .clock
            .advance(wait.saturating_sub(Duration::from_millis(1)));
        let error = manager.access_token().await.unwrap_err();
        assert!(error.is_retryable());
        assert_eq!(bench.idp.refreshes(), 1, "{header}");
        bench.clock.advance(Duration::from_millis(1));
        assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    }
}

/// Row 33.
#[tokio::test]
async fn a_rotated_token_is_salvaged_from_a_transfer_that_breaks_off() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let cut = r#"{"access_token":"at-2","refresh_token":"rt-2","expi"#;
    let next = RENEWED.replace("-2", "-3");
    let server = WireServer::start(vec![announced(cut, 200), reply(&next)]).await;
    let manager = manager_at(&bench, &server.url);
    assert_eq!(token_after_a_loss(&bench, manager).await.unwrap(), "at-3");
    assert!(server.requests()[1].contains("rt-2"));
}

/// Row 34.
#[tokio::test]
async fn a_global_limit_under_status_500_is_a_temporary_problem() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let body =
        json!({"error": "access_denied", "error_description": "Global limit has been reached"});
    let limit = ResponseTemplate::new(500).set_body_json(body);
    bench.idp.next(ScriptedReply::Reply(limit));
    let manager = bench.manager();
    assert_eq!(token_after_a_loss(&bench, manager).await.unwrap(), "at-2");
}

/// Row 36.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Bench::new().await;
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let target = format!("{}/oauth/token", elsewhere.server.uri());
    for status in [302, 307, 308] {
        let redirect = ResponseTemplate::new(status).insert_header("location", target.as_str());
        bench.idp.next(ScriptedReply::Reply(redirect));
        let error = manager.access_token().await.unwrap_err();
        assert!(!error.is_reauth_required(), "{status}");
        bench.clock.advance(Duration::from_secs(1_000));
    }
    assert_eq!((bench.idp.refreshes(), elsewhere.idp.refreshes()), (3, 0));
}

/// Row 36.
#[tokio::test]
async fn a_reply_over_a_mebibyte_is_not_read() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let huge = format!("{{\"x\":\"{}\"}}", "a".repeat(2 << 20));
    let server = WireServer::start(vec![reply(&huge), reply(RENEWED)]).await;
    let manager = manager_at(&bench, &server.url);
    assert_eq!(token_after_a_loss(&bench, manager).await.unwrap(), "at-2");
}

/// Row 35. RFC 6749 section 7.1. Retries would use up one refresh token after the other.
#[tokio::test]
async fn a_token_of_another_type_is_a_protocol_error_and_its_refresh_token_is_kept() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let body = json!({"access_token": "at-2", "refresh_token": "rt-2", "token_type": "DPoP"});
    let response = ResponseTemplate::new(200).set_body_json(body);
    bench.idp.next(ScriptedReply::RotateAndReply(response));
    let error = manager.access_token().await.unwrap_err();
    assert!(error.is_protocol() && !error.is_retryable(), "{error}");
    assert_eq!(bench.idp.refreshes(), 1);
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    // When the provider issues bearer tokens again, the session continues.
    bench.clock.advance(Duration::from_secs(120));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-3");
    assert!(!bench.idp.session_over());
}

/// Row 35.
#[tokio::test]
async fn a_refused_refresh_reports_the_reason_and_keeps_the_tokens() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let body = json!({"error": "access_denied", "error_description": "Blocked by a rule"});
    let response = ResponseTemplate::new(403).set_body_json(body);
    bench.idp.next(ScriptedReply::Reply(response));
    let error = manager.access_token().await.unwrap_err();
    assert!(error.is_refresh_refused() && !error.is_reauth_required());
    assert_eq!(error.error_description(), Some("Blocked by a rule"));
    assert!(error.retry_at().is_some() && bench.stored().await.is_some());
    bench.clock.advance(Duration::from_secs(120));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}
