//! Refreshes that fail, and the tokens after them.

use serde_json::json;

use super::bench::{
    Bench, DAY, SECOND, advance_until, call, call_after_loss, error, event, needs_login, refusal,
    renewed, reply, token, yields,
};
use crate::auth::{Event, TokenSource};
use crate::error::ErrorKind;

/// Row 32.
#[tokio::test]
async fn a_failed_early_refresh_leaves_the_token_in_use_and_is_not_repeated_at_once() {
    let (bench, manager) = Bench::in_use().await;
    let mut events = manager.events();
    bench.clock.advance(DAY / 100 * 81);
    for _ in 0..2 {
        let busy = reply(429, "").header("retry-after", "600");
        bench.idp.reply(busy);
        let sent = bench.idp.refreshes();
        assert_eq!(token(&manager).await, "at-1");
        let failed = event(&mut events, "RefreshFailed").await;
        let Event::RefreshFailed { error, retry_at } = failed else {
            unreachable!()
        };
        assert!(error.is_retryable());
        assert_eq!(retry_at, bench.clock.now() + 600 * SECOND);
        for _ in 0..50 {
            assert_eq!(token(&manager).await, "at-1");
        }
        assert!(manager.flush(DAY).await);
        assert_eq!(bench.idp.refreshes(), sent + 1);
        bench.clock.advance(601 * SECOND);
        // The renewal is due again.
        assert!(manager.current().is_none());
    }
    token(&manager).await;
    assert!(manager.flush(DAY).await);
    assert_eq!(token(&manager).await, "at-2");
}

/// Row 32. Every caller gets the failure until then.
#[tokio::test]
async fn retry_after_is_kept_in_each_of_its_formats() {
    // The clock of the test stands at 1,700,000,000 s, a Tuesday.
    for (header, value, seconds) in [
        ("retry-after", "600", 600),
        ("retry-after", "Tue, 14 Nov 2023 22:23:20 GMT", 600),
        ("x-ratelimit-reset", "1700000600", 600),
        ("x-other", "600", 1),
    ] {
        let bench = Bench::expired().await;
        let manager = bench.manager();
        bench.idp.reply(reply(429, "").header(header, value));
        let wait = refusal(&manager).await.retry_after().unwrap();
        assert!(wait >= seconds * SECOND, "{header}: {wait:?}");
        bench.clock.advance(wait.saturating_sub(SECOND / 1_000));
        for _ in 0..20 {
            assert!(refusal(&manager).await.is_retryable());
        }
        assert_eq!(bench.idp.refreshes(), 1, "{header}");
        bench.clock.advance(SECOND / 1_000);
        assert_eq!(token(&manager).await, "at-2");
    }
}

/// Row 23.
#[tokio::test]
async fn a_refused_refresh_token_does_not_delete_a_newer_record() {
    let bench = Bench::expired().await;
    let held = bench.idp.hold_refusal(error(403, "invalid_grant"));
    let caller = call(&bench.manager());
    held.arrived().await;
    // A process that takes no locks has renewed the tokens.
    bench.put_tokens(9).await;
    held.open();
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-9");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-9");
}

/// Row 35. RFC 6749 section 5.2: they say nothing about the grant.
#[tokio::test]
async fn errors_about_settings_or_interaction_keep_the_tokens() {
    for (status, code, answers) in [
        (401, "invalid_client", [true, false, false]),
        (400, "invalid_request", [true, false, false]),
        (403, "access_denied", [false, true, false]),
        (403, "mfa_required", [false, false, true]),
        (418, "never_heard_of", [false, true, false]),
    ] {
        let bench = Bench::expired().await;
        let manager = bench.manager();
        let body = json!({"error": code, "error_description": "Blocked by a rule"});
        bench.idp.reply(reply(status, body));
        let error = refusal(&manager).await;
        let found = [
            error.kind() == ErrorKind::Config,
            error.kind() == ErrorKind::RefreshRefused,
            error.is_reauth_required(),
        ];
        assert_eq!(found, answers, "{code}");
        assert_eq!(error.server_message().as_deref(), Some("Blocked by a rule"));
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
        // The right settings continue the session.
        bench.clock.advance(90 * SECOND);
        assert_eq!(token(&manager).await, "at-2", "{code}");
    }
}

/// Row 33. Row 34. After one to two seconds.
#[tokio::test]
async fn a_temporary_problem_is_retried_once() {
    let limit = r#"{"error":"access_denied","error_description":"Global limit has been reached"}"#;
    let cut = r#"{"access_token":"at-2","refresh_token":"rt-2","expi"#;
    for (status, body, stored) in [
        (503, "", "rt-1"),
        (500, limit, "rt-1"),
        (200, "<html>", "rt-1"),
        // A rotated token is salvaged.
        (200, cut, "rt-2"),
    ] {
        let bench = Bench::expired().await;
        let manager = bench.manager();
        let mut events = manager.events();
        if stored == "rt-2" {
            bench.idp.rotate_and_reply(reply(status, body));
        } else {
            bench.idp.reply(reply(status, body));
        }
        let caller = call(&manager);
        event(&mut events, "RotationAmbiguous").await;
        assert_eq!(bench.stored_refresh_token().await.unwrap(), stored);
        bench.clock.advance(std::time::Duration::from_millis(999));
        yields(20).await;
        assert_eq!(bench.idp.refreshes(), 1);
        bench.clock.advance(SECOND + SECOND / 1_000);
        caller.await.unwrap().unwrap();
        let next = if stored == "rt-2" { "rt-3" } else { "rt-2" };
        assert_eq!(bench.stored_refresh_token().await.unwrap(), next, "{body}");
    }
}

/// Row 32. Row 39. The calendar is set back by a day during the pause.
#[tokio::test]
async fn the_end_of_a_pause_follows_a_calendar_that_is_set_back() {
    let bench = Bench::new();
    bench.seed(3 * DAY).await;
    let manager = bench.manager();
    let busy = reply(429, "").header("retry-after", "5");
    bench.idp.reply(busy);
    let left = async || refusal(&manager).await.retry_after().unwrap();
    assert_eq!(left().await, 5 * SECOND);
    bench.clock.advance(SECOND);
    bench.clock.set_wall(bench.clock.now() - DAY);
    assert_eq!(left().await, 4 * SECOND);
    bench.clock.advance(4 * SECOND);
    assert_eq!(token(&manager).await, "at-2");
}

/// Row 33. A token that the service refuses early, while none can be renewed.
#[tokio::test]
async fn a_rejection_during_an_outage_ends_with_the_failure_of_the_refresh() {
    let busy = r#"{"error":"temporarily_unavailable"}"#;
    for (status, body, wait) in [
        (503, "", "x"),
        (502, "<html>", "x"),
        (200, "<html>", "x"),
        (429, "", "7"),
        (400, busy, "x"),
    ] {
        let (bench, manager) = Bench::in_use().await;
        let rejected = manager.access_token().await.unwrap();
        let renew = || {
            let (manager, rejected) = (manager.clone(), rejected.clone());
            tokio::spawn(async move { manager.renew(&rejected).await })
        };
        for _ in 0..3 {
            // One reply is for the repetition.
            for _ in 0..2 {
                let outage = reply(status, body).header("retry-after", wait);
                bench.idp.reply(outage);
            }
            let renewal = renew();
            advance_until(&bench, async || renewal.is_finished()).await;
            let error = renewal.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TokenUnavailable, "{error}");
            assert!(error.is_retryable());
            bench.clock.advance(error.retry_after().unwrap());
            bench.idp.end_script();
        }
        let renewed = renew().await.unwrap().unwrap();
        assert_eq!(renewed.expose(), "at-2", "{status}");
    }
}

/// Row 28.
#[tokio::test]
async fn a_reply_lost_within_the_overlap_is_retried_in_time() {
    let bench = Bench::expired().await;
    bench.idp.allow_overlap();
    // Also after a time-out, after which the retry waits for 30 seconds if there is no overlap.
    let manager = bench.manager_of(bench.provider().rotation_overlap(10 * SECOND));
    bench.idp.time_out();
    let retried = call_after_loss(&bench, &manager).await;
    assert_eq!(retried.unwrap(), "at-3");
    assert!(!bench.idp.session_over());
}

/// Row 31.
#[tokio::test]
async fn after_a_time_out_the_retry_waits_for_the_request_in_flight() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    let mut events = manager.events();
    bench.idp.time_out();
    let caller = call(&manager);
    event(&mut events, "RotationAmbiguous").await;
    bench.clock.advance(29 * SECOND);
    yields(20).await;
    assert_eq!(bench.idp.refreshes(), 1);
    bench.clock.advance(SECOND);
    // The first one was processed after all, so its reply is lost.
    assert!(caller.await.unwrap().unwrap_err().is_reauth_required());
    assert_eq!(bench.idp.refreshes(), 2);
}

/// The request may still arrive, and the next process under the lock would send the same token.
#[tokio::test]
async fn a_request_that_timed_out_is_waited_out_also_when_it_is_not_repeated() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    bench.idp.reply(reply(429, ""));
    assert!(refusal(&manager).await.is_retryable());
    bench.clock.advance(5 * SECOND);
    bench.idp.time_out();
    let caller = call(&manager);
    let took = advance_until(&bench, async || bench.lock_is_free().await).await;
    assert!(took >= 30 * SECOND, "{took:?}");
    assert!(caller.await.unwrap().unwrap_err().is_retryable());
    assert_eq!(bench.idp.refreshes(), 2);
}

/// Row 35. RFC 6749 section 7.1. Retries would use up one refresh token after the other.
#[tokio::test]
async fn a_token_of_another_type_is_a_protocol_error_and_its_refresh_token_is_kept() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    let mut body = renewed(2);
    body["token_type"] = json!("DPoP");
    bench.idp.rotate_and_reply(reply(200, body));
    let error = refusal(&manager).await;
    assert!(
        error.kind() == ErrorKind::Protocol && !error.is_retryable(),
        "{error}"
    );
    assert_eq!(bench.idp.refreshes(), 1);
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    // When the provider issues bearer tokens again, the session continues.
    bench.clock.advance(120 * SECOND);
    assert_eq!(token(&manager).await, "at-3");
}

/// Row 37.
#[tokio::test]
async fn a_day_of_outage_causes_a_bounded_number_of_requests() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    for _ in 0..400 {
        bench.idp.reply(error(429, "too_many_requests"));
    }
    for _ in 0..24 * 60 {
        bench.clock.advance(60 * SECOND);
        assert!(!needs_login(&manager).await);
    }
    assert!(bench.idp.refreshes() <= 300, "{}", bench.idp.refreshes());
    bench.idp.end_script();
    bench.clock.advance(360 * SECOND);
    token(&manager).await;
}
