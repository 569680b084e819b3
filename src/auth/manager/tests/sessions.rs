//! Login and logout, also during a refresh.

use serde_json::json;
use tokio::task::yield_now;

use super::bench::{
    Bench, DAY, begin_login, call, callback, callback_of, event, id_token, log_in, needs_login,
    refusal, renewed, reply, token, yields,
};
use crate::auth::{PendingLogin, TokenManager, TokenSource};
use crate::error::ErrorKind;

/// Row 44.
#[tokio::test]
async fn a_login_whose_caller_is_dropped_is_completed_and_stored() {
    let bench = Bench::new();
    let manager = bench.manager();
    let held = bench.idp.hold();
    let caller = begin_login(&bench, &manager, "sam");
    held.arrived().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    held.open();
    while manager.current().is_none() {
        yield_now().await;
    }
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(manager.subject().as_deref(), Some("sam"));
    let forms = bench.idp.forms("/oauth/token");
    assert_eq!((forms.len(), forms[0]["code"].as_str()), (1, "c-1"));
    bench.clock.advance(DAY);
    assert_eq!(token(&manager).await, "at-3");
}

/// Row 45.
#[tokio::test]
async fn an_id_token_of_another_login_is_refused_and_its_tokens_are_revoked() {
    let bench = Bench::new();
    let manager = bench.manager();
    let (login, callback) = callback(&bench, &manager, "sam");
    bench.idp.log_in_as("sam", "another-nonce");
    let error = manager.complete_login(login, &callback).await.unwrap_err();
    assert!(error.kind() == ErrorKind::LoginRefused);
    assert!(bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

/// Row 45. A second user of the machine may have completed the login.
#[tokio::test]
async fn a_login_of_an_unexpected_user_is_refused_and_its_tokens_are_revoked() {
    let bench = Bench::new();
    let manager = bench.manager();
    for (user, refused) in [("kim", true), ("sam", false)] {
        let login = manager.provider().authorization().expected_subject("sam");
        let login = login.start().unwrap();
        // As in a web application: the expected subject must not be lost.
        let login = PendingLogin::from_secret_json(manager.provider(), &login.to_secret_json());
        let (login, callback) = callback_of(&bench, login.unwrap(), user);
        let outcome = manager.complete_login(login, &callback).await;
        assert_eq!(
            outcome.is_err_and(|e| e.kind() == ErrorKind::LoginRefused),
            refused
        );
        assert_eq!(bench.stored().await.is_none(), refused);
    }
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

/// Row 25.
#[tokio::test]
async fn a_login_replaces_tokens_and_discards_a_refresh_of_the_old_ones() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    let refresh = bench.idp.hold();
    let caller = call(&manager);
    refresh.arrived().await;
    let login = begin_login(&bench, &manager, "kim");
    yield_now().await;
    refresh.open();
    login.await.unwrap().unwrap();
    caller.await.unwrap().unwrap();
    assert_eq!(manager.subject().as_deref(), Some("kim"));
    let stored = bench.stored().await.unwrap();
    assert_eq!(stored.subject(), Some("kim"));
    let served = manager.current().unwrap();
    assert_eq!(served.expose(), stored.access_token().expose());
}

/// Row 48.
#[tokio::test]
async fn a_logout_wipes_deletes_revokes_and_returns_the_address() {
    let (bench, manager) = Bench::in_use().await;
    let mut events = manager.events();
    let report = manager.logout(Some("https://app.example/bye")).await;
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(report.url.unwrap().path(), "/v2/logout");
    assert!(manager.current().is_none() && bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-1"]);
    event(&mut events, "LoggedOut").await;
    assert!(needs_login(&manager).await);
}

/// In a manager that serves tokens, and in one that has read nothing yet.
#[tokio::test]
async fn a_logout_wipes_memory_before_the_first_await_and_outlives_its_caller() {
    let (bench, manager) = Bench::in_use().await;
    for manager in [manager, bench.manager()] {
        if bench.stored().await.is_none() {
            bench.seed(DAY).await;
        }
        let revoked = bench.idp.revoked().len();
        drop(manager.logout(None));
        assert!(manager.current().is_none());
        while bench.idp.revoked().len() == revoked {
            yield_now().await;
        }
        assert!(bench.stored().await.is_none());
    }
    assert_eq!(bench.idp.revoked(), ["rt-1", "rt-1"]);
}

/// Row 24.
#[tokio::test]
async fn a_refresh_that_completes_after_a_logout_is_revoked_and_not_stored() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    let refresh = bench.idp.hold();
    let caller = call(&manager);
    refresh.arrived().await;
    let logout = tokio::spawn(manager.logout(None));
    refresh.open();
    assert!(logout.await.unwrap().problems.is_empty());
    assert!(caller.await.unwrap().unwrap_err().is_reauth_required());
    while !bench.idp.revoked().contains(&"rt-2".to_owned()) {
        yield_now().await;
    }
    assert!(bench.stored().await.is_none() && manager.current().is_none());
}

/// Row 24.
#[tokio::test]
async fn a_logout_during_a_login_wins_and_the_late_tokens_are_revoked() {
    let bench = Bench::new();
    let manager = bench.manager();
    let exchange = bench.idp.hold();
    let caller = begin_login(&bench, &manager, "sam");
    exchange.arrived().await;
    manager.logout(None).await;
    exchange.open();
    assert!(caller.await.unwrap().unwrap_err().kind() == ErrorKind::LoginRefused);
    assert!(manager.current().is_none() && bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

#[tokio::test]
async fn a_login_of_another_provider_is_refused_without_a_request() {
    let bench = Bench::new();
    let manager = bench.manager();
    let device = manager.provider().authorization();
    let device = device.start_device().await.unwrap();
    let (login, callback) = callback(&bench, &manager, "sam");
    let other = bench.provider().token_url("http://127.0.0.1:9/token");
    let other = TokenManager::builder(other.build().unwrap())
        .build()
        .unwrap();
    for outcome in [
        other.complete_login(login, &callback).await,
        other.complete_device_login(device).await,
    ] {
        assert!(outcome.unwrap_err().kind() == ErrorKind::Config);
    }
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 45.
#[tokio::test]
async fn a_refresh_that_returns_another_users_tokens_is_refused() {
    let bench = Bench::new();
    let manager = bench.manager();
    log_in(&bench, &manager, "sam").await;
    bench.clock.advance(DAY);
    let mut body = renewed(9);
    body["id_token"] = id_token(&json!({"sub": "kim"})).into();
    bench.idp.reply(reply(200, body));
    // Refused for good: neither these tokens nor the old refresh token are tried again.
    for _ in 0..2 {
        assert!(refusal(&manager).await.is_reauth_required());
        assert_eq!(bench.idp.refreshes(), 2);
        assert_eq!(manager.subject().as_deref(), Some("sam"));
        // The provider has used it up, whatever the reply was.
        assert!(bench.stored_refresh_token().await.is_none());
        assert!(manager.flush(DAY).await);
        assert_eq!(bench.idp.revoked(), ["rt-9"]);
    }
}

/// OIDC Core 12.2.
#[tokio::test]
async fn an_id_token_of_a_refresh_for_another_client_is_not_kept() {
    let bench = Bench::new();
    let manager = bench.manager();
    let tokens = log_in(&bench, &manager, "sam").await;
    assert!(manager.session_ends_at().is_none());
    bench.clock.advance(DAY);
    let mut body = renewed(3);
    let other = json!({"sub": "sam", "aud": "other", "exp": 4_000_000_000_u64});
    body["id_token"] = id_token(&other).into();
    body["refresh_token_expires_in"] = 86_400.into();
    bench.idp.rotate_and_reply(reply(200, body));
    assert_eq!(token(&manager).await, "at-3");
    let stored = bench.stored().await.unwrap();
    let kept = stored.id_token.unwrap();
    assert!(kept.matches(tokens.id_token().unwrap().expose()));
    // The rest is kept, such as the end of the session.
    assert!(stored.refresh_token.unwrap().matches("rt-3"));
    let end = Some(bench.clock.now() + DAY);
    assert_eq!(
        (manager.session_ends_at(), stored.session_ends_at),
        (end, end)
    );
}

#[tokio::test]
async fn a_login_whose_reply_is_cut_off_leaves_no_session_behind() {
    let bench = Bench::new();
    let cut = r#"{"access_token":"at-2","refresh_token":"rt-2","expi"#;
    bench.idp.reply(reply(200, cut));
    let login = begin_login(&bench, &bench.manager(), "sam");
    assert!(login.await.unwrap().unwrap_err().is_retryable());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
    yields(20).await;
    assert_eq!(bench.idp.refreshes(), 1);
}
