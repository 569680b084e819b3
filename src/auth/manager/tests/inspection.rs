//! What a manager reports for support.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use super::bench::{
    Bench, DAY, KEY, error, events_so_far, log_in, needs_login, refusal, reply, token,
};
use crate::auth::store::{HookedStore, StoreCall};
use crate::auth::{Inspection, Record, SessionState, TokenSource};
use crate::error::ErrorKind;

/// A store that fails its reads or its writes while the switch is on.
fn failing(bench: &Bench, fails_reads: bool) -> (HookedStore, Arc<AtomicBool>) {
    HookedStore::failing(&bench.store, io::ErrorKind::Other, move |call| match call {
        StoreCall::Load => fails_reads,
        // A mark of a refresh can be written, new tokens cannot.
        StoreCall::Swap(new) => !fails_reads && new.refresh_began_at().is_none(),
        StoreCall::Remove | StoreCall::Lock => false,
    })
}

/// The state in short.
fn state(session: &Inspection) -> String {
    let state = format!("{:?}", session.state);
    state.split(' ').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_report_tells_who_is_logged_in_since_when_and_until_when() {
    let bench = Bench::new();
    let manager = bench.manager();
    let nobody = manager.inspect().await;
    assert_eq!(state(&nobody), "LoggedOut");
    assert!(nobody.subject.is_none() && nobody.generation.is_none() && !nobody.is_stored);
    assert!(nobody.last_failure.is_none() && nobody.store_error.is_none());
    log_in(&bench, &manager, "sam").await;
    let login = bench.clock.now();
    bench.clock.advance(DAY);
    token(&manager).await;
    let sent = bench.idp.refreshes();
    // The same in the process that renewed the tokens, and in one that has just started.
    for process in [&manager, &bench.manager()] {
        let session = process.inspect().await;
        assert_eq!(state(&session), "LoggedIn");
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
    assert_eq!(state(&session), "LoggedIn");
    assert!(session.access_token_ends_at < Some(bench.clock.now()));
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.refreshes(), sent);
}

#[tokio::test]
async fn a_report_has_the_last_failure_and_the_time_of_the_next_attempt() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    bench.idp.reply(error(429, "too_many_requests"));
    let failed = refusal(&manager).await;
    let session = manager.inspect().await;
    let SessionState::BackingOff { until } = session.state else {
        panic!("{session:?}");
    };
    assert_eq!(until, bench.clock.now() + failed.retry_after().unwrap());
    let failure = session.last_failure.unwrap();
    assert_eq!(failure.at, bench.clock.now());
    assert_eq!(failure.error.to_string(), failed.to_string());
    // The failure is kept after the next success.
    bench.clock.advance(DAY);
    token(&manager).await;
    let session = manager.inspect().await;
    assert_eq!(state(&session), "LoggedIn");
    assert_eq!(session.last_failure.unwrap().at, failure.at);
    // The provider wants the user: waiting does not help.
    bench.clock.advance(DAY);
    bench.idp.reply(error(403, "mfa_required"));
    assert!(needs_login(&manager).await);
    assert_eq!(state(&manager.inspect().await), "NeedsLogin");
}

/// Row 54.
#[tokio::test]
async fn a_new_process_reports_why_the_session_ended() {
    let bench = Bench::new();
    let manager = bench.manager();
    log_in(&bench, &manager, "sam").await;
    let login = bench.clock.now();
    bench.clock.advance(DAY);
    bench.idp.reply(error(403, "invalid_grant"));
    assert!(needs_login(&manager).await);
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
    let bench = Bench::new();
    bench.seed(Duration::ZERO).await;
    let mut tokens = bench.stored().await.unwrap();
    tokens.refresh_token = None;
    bench.put(&Record::new(tokens)).await;
    let manager = bench.manager();
    for expected in ["LoggedIn", "NeedsLogin"] {
        assert_eq!(state(&manager.inspect().await), expected);
        bench.clock.advance(DAY);
    }
}

/// Row 52.
#[tokio::test]
async fn a_report_notices_at_once_what_another_process_did() {
    let bench = Bench::new();
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
    assert_eq!(state(&session), "LoggedOut");
    assert!(session.subject.is_none() && !session.is_stored);
}

#[tokio::test]
async fn a_store_that_fails_is_reported_beside_what_memory_knows() {
    let bench = Bench::new();
    bench.seed(Duration::ZERO).await;
    let (store, is_down) = failing(&bench, true);
    is_down.store(false, Ordering::SeqCst);
    let manager = bench.manager_on(store.clone());
    token(&manager).await;
    is_down.store(true, Ordering::SeqCst);
    let session = manager.inspect().await;
    assert_eq!(state(&session), "LoggedIn");
    assert!(session.store_error.unwrap().kind() == ErrorKind::Store);
    assert!(session.last_failure.unwrap().error.kind() == ErrorKind::Store);
    let session = bench.manager_on(store).inspect().await;
    assert_eq!(state(&session), "Unknown");
    assert!(session.store_error.is_some() && session.generation.is_none());
    // An implementation that does not describe itself has a name at least.
    assert!(session.store.ends_with("HookedStore"), "{}", session.store);
}

#[tokio::test]
async fn tokens_that_are_not_stored_are_reported() {
    let bench = Bench::expired().await;
    let (store, _is_full) = failing(&bench, false);
    let manager = bench.manager_on(store);
    assert_eq!(token(&manager).await, "at-2");
    let session = manager.inspect().await;
    assert_eq!(state(&session), "LoggedIn");
    assert_eq!((session.generation, session.is_stored), (Some(2), false));
    assert!(session.refresh_began_at.is_some());
    assert!(session.last_failure.unwrap().error.kind() == ErrorKind::Store);
}

/// Row 47. Of a session with a failure that repeats tokens.
#[tokio::test]
async fn nothing_of_a_manager_shows_a_token_or_a_user() {
    let bench = Bench::new();
    let manager = bench.builder().account("sam@example.com").build().unwrap();
    let mut events = manager.events();
    let tokens = log_in(&bench, &manager, "auth0|sam").await;
    bench.clock.advance(DAY);
    let told = "rt-2 at-2 sam";
    let body = json!({"error": "invalid_client", "error_description": told});
    bench.idp.reply(reply(401, body));
    let error = refusal(&manager).await;
    let session = manager.inspect().await;
    let fields = [
        &session.store,
        &session.account,
        session.subject.as_ref().unwrap(),
    ];
    for token in ["at-2", "rt-2"] {
        assert!(fields.iter().all(|field| !field.contains(token)));
    }
    let report = manager.logout(Some("https://app.example/pr1vate")).await;
    assert!(report.url.as_ref().unwrap().as_str().contains("pr1vate"));
    let shown = format!(
        "{session:?} {error} {error:?} {manager:?} {tokens:?} {report:?} {:?} {:?} {:?}",
        bench.store,
        events.next().await,
        events.next().await
    );
    assert!(shown.contains("BackingOff") && shown.contains("host"));
    for hidden in ["sam", "example.com", "memory", "at-2", "rt-2", "pr1vate"] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
}
