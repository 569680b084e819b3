//! Refreshes that fail, and the tokens after them.

use std::time::Duration;

use serde_json::json;
use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, KEY, ScriptedReply, event, tokens};
use crate::auth::{Event, Record, TokenManager, TokenStore};

fn error_reply(status: u16, code: &str) -> ScriptedReply {
    ScriptedReply::Reply(ResponseTemplate::new(status).set_body_json(json!({"error": code})))
}

/// Row 32.
#[tokio::test]
async fn a_failed_early_refresh_leaves_the_token_in_use_and_is_not_repeated_at_once() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let mut events = manager.events();
    bench.clock.advance(DAY / 100 * 81);
    bench.idp.next(ScriptedReply::Reply(
        ResponseTemplate::new(429).insert_header("retry-after", "600"),
    ));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    let failed = event(&mut events, |event| {
        matches!(event, Event::RefreshFailed { .. })
    })
    .await;
    let Event::RefreshFailed { error, retry_at } = failed else {
        unreachable!()
    };
    assert!(error.is_retryable());
    assert_eq!(retry_at, bench.clock.now() + Duration::from_secs(600));
    for _ in 0..50 {
        assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    }
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.refreshes(), 1);
    bench.clock.advance(Duration::from_secs(601));
    manager.access_token().await.unwrap();
    assert!(manager.flush(DAY).await);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

#[tokio::test]
async fn a_failure_is_returned_to_all_callers_until_its_retry_time() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    bench.idp.next(error_reply(429, "too_many_requests"));
    for _ in 0..20 {
        let error = manager.access_token().await.unwrap_err();
        assert!(error.is_retryable() && error.retry_at().is_some());
    }
    assert_eq!(bench.idp.refreshes(), 1);
    bench.clock.advance(Duration::from_secs(2));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 35.
#[tokio::test]
async fn a_refused_refresh_token_requires_a_login_and_is_not_kept() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let mut events = manager.events();
    bench.idp.next(error_reply(403, "invalid_grant"));
    assert!(
        manager
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
    event(&mut events, |event| {
        matches!(event, Event::ReauthRequired { .. })
    })
    .await;
    assert!(bench.stored_refresh_token().await.is_none());
    assert!(
        manager
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
    assert_eq!(bench.idp.refreshes(), 1);
}

#[tokio::test]
async fn a_refused_refresh_token_leaves_a_valid_access_token_in_use() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.clock.advance(DAY / 100 * 81);
    bench.idp.next(error_reply(403, "invalid_grant"));
    manager.access_token().await.unwrap();
    assert!(manager.flush(DAY).await);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    bench.clock.advance(DAY / 5);
    assert!(
        manager
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 23.
#[tokio::test]
async fn a_refused_refresh_token_does_not_delete_a_newer_record() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let refusal = ResponseTemplate::new(403).set_body_json(json!({"error": "invalid_grant"}));
    let held = bench.idp.hold_and_reply(Some(refusal));
    let caller = tokio::spawn(async move { manager.access_token().await });
    held.arrived().await;
    // A process that takes no locks has renewed the tokens.
    let mut newer = tokens(bench.clock.now());
    newer.access_token = "at-9".into();
    newer.refresh_token = Some("rt-9".into());
    let current = bench.store.load(KEY).await.unwrap().unwrap().version;
    let swap = bench
        .store
        .swap(KEY, Some(current), &Record::new(newer))
        .await;
    assert!(swap.unwrap().is_some());
    held.open();
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-9");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-9");
}

/// Row 35.
#[tokio::test]
async fn errors_about_settings_or_interaction_keep_the_tokens() {
    for (status, code, reauth) in [
        (401, "invalid_client", false),
        (400, "invalid_request", false),
        (403, "access_denied", false),
        (403, "mfa_required", true),
        (418, "never_heard_of", false),
    ] {
        let bench = Bench::new().await;
        bench.seed(DAY).await;
        let manager = bench.manager();
        bench.idp.next(error_reply(status, code));
        let error = manager.access_token().await.unwrap_err();
        assert_eq!(error.is_reauth_required(), reauth, "{code}");
        assert_eq!(
            bench.stored_refresh_token().await.unwrap(),
            "rt-1",
            "{code}"
        );
        bench.clock.advance(Duration::from_secs(90));
        assert_eq!(
            manager.access_token().await.unwrap().expose(),
            "at-2",
            "{code}"
        );
    }
}

/// Row 33.
#[tokio::test]
async fn a_temporary_problem_is_retried_once_after_one_to_two_seconds() {
    for (status, body) in [
        (503, ""),
        (500, r#"{"error":"access_denied"}"#),
        (200, "<html>"),
    ] {
        let bench = Bench::new().await;
        bench.seed(DAY).await;
        let manager = bench.manager();
        let mut events = manager.events();
        bench.idp.next(ScriptedReply::Reply(
            ResponseTemplate::new(status).set_body_string(body),
        ));
        let caller = tokio::spawn(async move { manager.access_token().await });
        event(&mut events, |event| {
            matches!(event, Event::RotationAmbiguous)
        })
        .await;
        assert_eq!(bench.idp.refreshes(), 1);
        bench.clock.advance(Duration::from_secs(2));
        assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
        assert!(!bench.idp.session_over());
    }
}

/// Row 28.
#[tokio::test]
async fn a_lost_reply_after_rotation_requires_a_login_and_names_the_reason() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let mut events = manager.events();
    bench
        .idp
        .next(ScriptedReply::RotateAndReply(ResponseTemplate::new(502)));
    let caller = tokio::spawn(async move { manager.access_token().await });
    event(&mut events, |event| {
        matches!(event, Event::RotationAmbiguous)
    })
    .await;
    bench.clock.advance(Duration::from_secs(2));
    let error = caller.await.unwrap().unwrap_err();
    assert!(
        error.is_reauth_required() && error.to_string().contains("lost"),
        "{error}"
    );
}

/// Row 33.
#[tokio::test]
async fn a_rotated_token_is_salvaged_from_a_reply_that_is_cut_off() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let mut events = manager.events();
    let cut = r#"{"access_token":"at-2","refresh_token":"rt-2","expi"#;
    bench.idp.next(ScriptedReply::RotateAndReply(
        ResponseTemplate::new(200).set_body_string(cut),
    ));
    let caller = tokio::spawn(async move { manager.access_token().await });
    event(&mut events, |event| {
        matches!(event, Event::RotationAmbiguous)
    })
    .await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    bench.clock.advance(Duration::from_secs(2));
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-3");
    assert!(!bench.idp.session_over());
}

/// Row 31.
#[tokio::test]
async fn after_a_time_out_the_retry_waits_for_the_request_in_flight() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let provider = bench
        .provider()
        // Long enough for a busy machine to connect: a time-out before that would be another case.
        .timeout(Duration::from_secs(1))
        .build()
        .unwrap();
    let builder = TokenManager::builder(provider).store(bench.store.clone());
    let manager = builder.account(KEY).wait(DAY).build().unwrap();
    let mut events = manager.events();
    let held = bench.idp.hold();
    let caller = tokio::spawn(async move { manager.access_token().await });
    event(&mut events, |event| {
        matches!(event, Event::RotationAmbiguous)
    })
    .await;
    bench.clock.advance(Duration::from_secs(29));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.idp.refreshes(), 1);
    held.open();
    bench.clock.advance(Duration::from_secs(1));
    // The first one was processed after all, so its reply is lost.
    assert!(caller.await.unwrap().unwrap_err().is_reauth_required());
    assert_eq!(bench.idp.refreshes(), 2);
}

/// Row 37.
#[tokio::test]
async fn a_day_of_outage_causes_a_bounded_number_of_requests() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    for _ in 0..400 {
        bench.idp.next(error_reply(429, "too_many_requests"));
    }
    for _ in 0..24 * 60 {
        bench.clock.advance(Duration::from_secs(60));
        assert!(
            !manager
                .access_token()
                .await
                .unwrap_err()
                .is_reauth_required()
        );
    }
    assert!(bench.idp.refreshes() <= 300, "{}", bench.idp.refreshes());
    bench.idp.end_script();
    bench.clock.advance(Duration::from_secs(360));
    manager.access_token().await.unwrap();
}

/// Row 29.
#[tokio::test]
async fn an_unreachable_server_is_retried_later() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let provider = bench
        .provider()
        .token_url("http://127.0.0.1:9/oauth/token")
        .build()
        .unwrap();
    let builder = TokenManager::builder(provider).store(bench.store.clone());
    let manager = builder.account(KEY).build().unwrap();
    let error = manager.access_token().await.unwrap_err();
    assert!(error.is_retryable() && error.retry_at().is_some());
    assert!(
        bench
            .store
            .load(KEY)
            .await
            .unwrap()
            .unwrap()
            .record
            .intent
            .is_none()
    );
}
