//! What a manager reports for support.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, KEY, ScriptedReply, events_so_far, log_in, tokens};
use crate::auth::store::{HookedStore, StoreCall};
use crate::auth::{Record, SessionState, StoreError, TokenSource, TokenStore};

fn reply(status: u16, code: &str) -> ScriptedReply {
    ScriptedReply::Reply(ResponseTemplate::new(status).set_body_json(json!({"error": code})))
}

/// A store that fails its reads or its writes while the switch is on.
fn failing(bench: &Bench, fails_reads: bool) -> (HookedStore, Arc<AtomicBool>) {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = is_down.clone();
    let store = HookedStore::new(bench.store.clone(), move |call| {
        let concerned = match call {
            StoreCall::Load => fails_reads,
            // A mark of a refresh can be written, new tokens cannot.
            StoreCall::Swap(new) => !fails_reads && new.refresh_began_at().is_none(),
            StoreCall::Remove | StoreCall::Lock => false,
        };
        if concerned && down.load(Ordering::SeqCst) {
            return Err(StoreError::new("the disk is gone"));
        }
        Ok(())
    });
    (store, is_down)
}

#[tokio::test]
async fn a_report_tells_who_is_logged_in_since_when_and_until_when() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    let nobody = manager.inspect().await;
    assert!(matches!(nobody.state, SessionState::LoggedOut));
    assert!(nobody.subject.is_none() && nobody.generation.is_none() && !nobody.is_stored);
    assert!(nobody.last_failure.is_none() && nobody.store_error.is_none());
    log_in(&bench, &manager, "sam").await;
    let login = bench.clock.now();
    bench.clock.advance(DAY);
    manager.access_token().await.unwrap();
    let sent = bench.idp.refreshes();
    // The same in the process that renewed the tokens, and in one that has just started.
    for process in [&manager, &bench.manager()] {
        let session = process.inspect().await;
        assert!(matches!(session.state, SessionState::LoggedIn));
        assert_eq!(session.subject.as_deref(), Some("sam"));
        assert_eq!(session.account, KEY);
        assert_eq!(session.store, "memory of this process");
        assert_eq!(session.logged_in_at, Some(login));
        assert_eq!(session.renewed_at, Some(login + DAY));
        assert_eq!(session.access_token_ends_at, Some(login + 2 * DAY));
        assert_eq!((session.generation, session.is_stored), (Some(2), true));
        assert!(session.session_ends_at.is_none() && session.refresh_began_at.is_none());
    }
    // It renews nothing, not even when no token can be served.
    bench.clock.advance(2 * DAY);
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedIn));
    assert!(session.access_token_ends_at < Some(bench.clock.now()));
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.refreshes(), sent);
}

#[tokio::test]
async fn a_report_has_the_last_failure_and_the_time_of_the_next_attempt() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    bench.idp.next(reply(429, "too_many_requests"));
    let error = manager.access_token().await.unwrap_err();
    let session = manager.inspect().await;
    let SessionState::BackingOff { until } = session.state else {
        panic!("{session:?}");
    };
    assert_eq!(Some(until), error.retry_at());
    let failure = session.last_failure.unwrap();
    assert_eq!(failure.at, bench.clock.now());
    assert_eq!(failure.error.to_string(), error.to_string());
    // The failure is kept after the next success.
    let failed_at = failure.at;
    bench.clock.advance(DAY);
    manager.access_token().await.unwrap();
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedIn));
    assert_eq!(session.last_failure.unwrap().at, failed_at);
    // The provider wants the user: waiting does not help.
    bench.clock.advance(DAY);
    bench.idp.next(reply(403, "mfa_required"));
    manager.access_token().await.unwrap_err();
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::NeedsLogin { .. }));
}

/// Row 54.
#[tokio::test]
async fn a_new_process_reports_why_the_session_ended() {
    let bench = Bench::new().await;
    let manager = bench.manager();
    log_in(&bench, &manager, "sam").await;
    let login = bench.clock.now();
    bench.clock.advance(DAY);
    bench.idp.next(reply(403, "invalid_grant"));
    manager.access_token().await.unwrap_err();
    for process in [&manager, &bench.manager()] {
        let session = process.inspect().await;
        let SessionState::NeedsLogin { reason } = &session.state else {
            panic!("{session:?}");
        };
        assert!(reason.to_string().contains("does not accept"), "{reason}");
        assert_eq!(session.subject.as_deref(), Some("sam"));
        assert_eq!(session.logged_in_at, Some(login));
        assert_eq!((session.generation, session.is_stored), (Some(1), true));
    }
    let session = bench.manager().inspect().await;
    assert!(session.access_token_ends_at.is_none());
}

#[tokio::test]
async fn without_a_refresh_token_the_session_ends_with_the_access_token() {
    let bench = Bench::new().await;
    let mut tokens = tokens(bench.clock.now());
    tokens.refresh_token = None;
    let record = Record::new(tokens);
    bench.store.swap(KEY, None, &record).await.unwrap().unwrap();
    let manager = bench.manager();
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedIn));
    bench.clock.advance(DAY);
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::NeedsLogin { .. }));
}

/// Row 52.
#[tokio::test]
async fn a_report_notices_at_once_what_another_process_did() {
    let bench = Bench::new().await;
    let (manager, other) = (bench.manager(), bench.manager());
    log_in(&bench, &manager, "sam").await;
    let mut events = manager.events();
    log_in(&bench, &other, "kim").await;
    let session = manager.inspect().await;
    let SessionState::NeedsLogin { reason } = &session.state else {
        panic!("{session:?}");
    };
    assert!(reason.to_string().contains("another user"), "{reason}");
    assert_eq!(session.subject.as_deref(), Some("kim"));
    assert_eq!(events_so_far(&mut events).len(), 2);
    assert!(manager.current().is_none());
    log_in(&bench, &manager, "sam").await;
    other.logout(None).await;
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedOut));
    assert!(session.subject.is_none() && !session.is_stored);
}

#[tokio::test]
async fn a_store_that_fails_is_reported_beside_what_memory_knows() {
    let bench = Bench::new().await;
    bench.seed(Duration::ZERO).await;
    let (store, is_down) = failing(&bench, true);
    let process = || bench.builder().store(store.clone()).build().unwrap();
    let manager = process();
    manager.access_token().await.unwrap();
    is_down.store(true, Ordering::SeqCst);
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedIn));
    assert!(session.store_error.unwrap().is_store());
    assert!(session.last_failure.unwrap().error.is_store());
    let session = process().inspect().await;
    assert!(matches!(session.state, SessionState::Unknown));
    assert!(session.store_error.is_some() && session.generation.is_none());
    // An implementation that does not describe itself has a name at least.
    assert!(session.store.ends_with("HookedStore"), "{}", session.store);
}

#[tokio::test]
async fn tokens_that_are_not_stored_are_reported() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let (store, is_full) = failing(&bench, false);
    is_full.store(true, Ordering::SeqCst);
    let manager = bench.builder().store(store).build().unwrap();
    assert_eq!(manager.access_token().await.unwrap().generation(), 2);
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedIn));
    assert_eq!((session.generation, session.is_stored), (Some(2), false));
    assert!(session.refresh_began_at.is_some());
    assert!(session.last_failure.unwrap().error.is_store());
}

/// Row 47.
#[tokio::test]
async fn a_report_holds_no_token_and_its_debug_no_user() {
    let bench = Bench::new().await;
    let manager = bench.builder().account("sam@example.com").build().unwrap();
    log_in(&bench, &manager, "auth0|sam").await;
    bench.clock.advance(DAY);
    bench.idp.next(ScriptedReply::Reply(
        ResponseTemplate::new(401)
            .set_body_string(r#"{"error":"invalid_client","error_description":"rt-2 at-2 sam"}"#),
    ));
    manager.access_token().await.unwrap_err();
    let session = manager.inspect().await;
    let shown = format!("{session:?}");
    assert!(shown.contains("BackingOff"), "{shown}");
    for hidden in ["sam", "example.com", "memory", "at-2", "rt-2"] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
    let fields = [&session.store, &session.account, &session.subject.unwrap()];
    for token in ["at-2", "rt-2"] {
        assert!(fields.iter().all(|field| !field.contains(token)));
    }
}
