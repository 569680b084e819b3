//! Login and logout, also during a refresh.

use super::bench::{Bench, DAY, KEY, callback, callback_of, event};
use crate::auth::{Event, PendingLogin, TokenSource};

#[tokio::test]
async fn a_login_stores_its_tokens_and_serves_them() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    let tokens = manager.complete_login(login, &callback).await.unwrap();
    assert_eq!(tokens.subject(), Some("sam"));
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(manager.current().unwrap().expose(), "at-2");
    assert_eq!(manager.subject().as_deref(), Some("sam"));
    let forms = bench.idp.forms("/oauth/token");
    assert_eq!(forms[0]["grant_type"], "authorization_code");
    assert_eq!(forms[0]["code"], "c-1");
    assert_eq!(forms[0]["code_verifier"].len(), 43);
    bench.clock.advance(DAY);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-3");
}

/// Row 44.
#[tokio::test]
async fn a_login_whose_caller_is_dropped_is_completed_and_stored() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    let held = bench.idp.hold();
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.complete_login(login, &callback).await }
    });
    held.arrived().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    held.open();
    while manager.current().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 45.
#[tokio::test]
async fn an_id_token_of_another_login_is_refused_and_its_tokens_are_revoked() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    bench.idp.log_in_as("sam", "another-nonce");
    let error = manager.complete_login(login, &callback).await.unwrap_err();
    assert!(error.is_login_refused());
    assert!(bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

/// Row 45. A second user of the machine may have completed the login.
#[tokio::test]
async fn a_login_of_an_unexpected_user_is_refused_and_its_tokens_are_revoked() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    for (user, refused) in [("kim", true), ("sam", false)] {
        let login = manager.provider().authorization().expected_subject("sam");
        let login = login.start().unwrap();
        // As in a web application: the expected subject must not be lost.
        let login = PendingLogin::from_secret_json(manager.provider(), &login.to_secret_json());
        let (login, callback) = callback_of(&bench, login.unwrap(), user);
        let outcome = manager.complete_login(login, &callback).await;
        assert_eq!(
            outcome.is_err_and(|error| error.is_login_refused()),
            refused
        );
        assert_eq!(bench.stored().await.is_none(), refused);
    }
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

/// Row 25.
#[tokio::test]
async fn a_login_replaces_tokens_and_discards_a_refresh_of_the_old_ones() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "kim");
    let refresh = bench.idp.hold();
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.access_token().await }
    });
    refresh.arrived().await;
    let login = tokio::spawn({
        let manager = manager.clone();
        async move { manager.complete_login(login, &callback).await }
    });
    tokio::task::yield_now().await;
    refresh.open();
    login.await.unwrap().unwrap();
    caller.await.unwrap().unwrap();
    assert_eq!(manager.subject().as_deref(), Some("kim"));
    let stored = bench.stored().await.unwrap();
    assert_eq!(stored.subject(), Some("kim"));
    assert_eq!(
        manager.current().unwrap().expose(),
        stored.access_token().expose()
    );
}

/// Row 48.
#[tokio::test]
async fn a_logout_wipes_deletes_revokes_and_returns_the_address() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let mut events = manager.events();
    let report = manager.logout(Some("https://app.example/bye")).await;
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let url = report.url.unwrap();
    assert_eq!(url.path(), "/v2/logout");
    assert_eq!(
        url.query(),
        Some("client_id=app&returnTo=https%3A%2F%2Fapp.example%2Fbye")
    );
    assert!(manager.current().is_none() && bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-1"]);
    event(&mut events, |event| {
        matches!(event, Event::LoggedOut { .. })
    })
    .await;
    assert!(
        manager
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
}

#[tokio::test]
async fn a_logout_wipes_memory_before_the_first_await() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    drop(manager.logout(None));
    assert!(manager.current().is_none());
    while bench.idp.revoked().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(bench.stored().await.is_none());
}

#[tokio::test]
async fn a_logout_of_a_manager_that_has_read_nothing_yet_ends_the_stored_session() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    bench.manager().logout(None).await;
    assert!(bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-1"]);
}

/// Row 24.
#[tokio::test]
async fn a_refresh_that_completes_after_a_logout_is_revoked_and_not_stored() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let refresh = bench.idp.hold();
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.access_token().await }
    });
    refresh.arrived().await;
    let logout = tokio::spawn(manager.logout(None));
    refresh.open();
    assert!(logout.await.unwrap().problems.is_empty());
    assert!(caller.await.unwrap().unwrap_err().is_reauth_required());
    while !bench.idp.revoked().contains(&"rt-2".to_owned()) {
        tokio::task::yield_now().await;
    }
    assert!(bench.stored().await.is_none() && manager.current().is_none());
}

#[tokio::test]
async fn a_logout_in_another_process_is_noticed_at_the_next_refresh() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.manager().logout(None).await;
    bench.clock.advance(DAY);
    assert!(
        manager
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
    assert_eq!(bench.idp.refreshes(), 0, "{KEY}");
}

#[tokio::test]
async fn a_login_of_another_provider_is_refused() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let other = Bench::new().await;
    let (login, callback) = callback(&other, &other.manager(), "sam");
    assert!(
        manager
            .complete_login(login, &callback)
            .await
            .unwrap_err()
            .is_config()
    );
    assert_eq!(bench.idp.refreshes() + other.idp.refreshes(), 0);
}

/// Row 45.
#[tokio::test]
async fn a_refresh_that_returns_another_users_tokens_is_refused() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    manager.complete_login(login, &callback).await.unwrap();
    bench.clock.advance(DAY);
    // {"sub":"kim"}
    let body = serde_json::json!({"access_token": "at-kim", "refresh_token": "rt-kim", "id_token": "e30.eyJzdWIiOiJraW0ifQ.s"});
    let response = wiremock::ResponseTemplate::new(200).set_body_json(body);
    bench.idp.next(super::bench::ScriptedReply::Reply(response));
    let error = manager.access_token().await.unwrap_err();
    assert!(error.is_reauth_required());
    assert_eq!(manager.subject().as_deref(), Some("sam"));
    // The provider has used it up, whatever the reply was.
    assert!(bench.stored_refresh_token().await.is_none());
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.revoked(), ["rt-kim"]);
    // Refused for good: neither these tokens nor the old refresh token are tried again.
    assert!(manager.access_token().await.is_err());
    assert_eq!(bench.idp.refreshes(), 2);
}

/// OIDC Core 12.2.
#[tokio::test]
async fn an_id_token_of_a_refresh_for_another_client_is_not_kept() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    let tokens = manager.complete_login(login, &callback).await.unwrap();
    bench.clock.advance(DAY);
    // {"sub":"sam","aud":"other","exp":4000000000}
    let id_token = "e30.eyJzdWIiOiJzYW0iLCJhdWQiOiJvdGhlciIsImV4cCI6NDAwMDAwMDAwMH0.s";
    let body =
        serde_json::json!({"access_token": "at-3", "refresh_token": "rt-3", "id_token": id_token});
    let response = wiremock::ResponseTemplate::new(200).set_body_json(body);
    bench
        .idp
        .next(super::bench::ScriptedReply::RotateAndReply(response));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-3");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    let kept = bench.stored().await.unwrap().id_token.unwrap();
    assert!(kept.matches(tokens.id_token().unwrap().expose()));
}

#[tokio::test]
async fn the_session_end_is_known_if_the_provider_returns_it() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    assert!(manager.session_ends_at().is_none());
    let body = serde_json::json!({"access_token": "at-2", "refresh_token": "rt-2", "refresh_token_expires_in": 86_400});
    let response = wiremock::ResponseTemplate::new(200).set_body_json(body);
    bench.idp.next(super::bench::ScriptedReply::Reply(response));
    manager.obtain(Some(1)).await.unwrap();
    let end = Some(bench.clock.now() + DAY);
    assert_eq!(manager.session_ends_at(), end);
    assert_eq!(bench.stored().await.unwrap().session_ends_at, end);
}

/// Row 24.
#[tokio::test]
async fn a_logout_during_a_login_wins_and_the_late_tokens_are_revoked() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    let exchange = bench.idp.hold();
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.complete_login(login, &callback).await }
    });
    exchange.arrived().await;
    manager.logout(None).await;
    exchange.open();
    assert!(caller.await.unwrap().unwrap_err().is_login_refused());
    assert!(manager.current().is_none() && bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

#[tokio::test]
async fn a_login_whose_reply_is_cut_off_leaves_no_session_behind() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    let cut = r#"{"access_token":"at-2","refresh_token":"rt-2","expi"#;
    let response = wiremock::ResponseTemplate::new(200).set_body_string(cut);
    bench.idp.next(super::bench::ScriptedReply::Reply(response));
    let error = manager.complete_login(login, &callback).await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
    assert_eq!(bench.idp.refreshes(), 1);
}
