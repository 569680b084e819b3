//! Changes of the stored session by other processes while this one serves tokens from memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, KEY, ScriptedReply, callback, event, events_so_far, log_in};
use crate::auth::store::{HookedStore, StoreCall};
use crate::auth::{Event, StoreError, TokenManager, TokenSource, TokenStore};

const CHECK: Duration = Duration::from_secs(60);

/// A manager with tokens in use, and how often it reads the store.
async fn counted(bench: &Bench) -> (TokenManager, Arc<AtomicUsize>, Arc<AtomicBool>) {
    bench.seed(Duration::ZERO).await;
    let (loads, works) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(true)),
    );
    let (count, is_up) = (loads.clone(), works.clone());
    let store = HookedStore::new(bench.store.clone(), move |call| {
        if let StoreCall::Load = call {
            count.fetch_add(1, Ordering::SeqCst);
            if !is_up.load(Ordering::SeqCst) {
                return Err(StoreError::io(
                    "the database does not answer",
                    std::io::ErrorKind::TimedOut.into(),
                ));
            }
        }
        Ok(())
    });
    let manager = bench.builder().store(store).build().unwrap();
    manager.access_token().await.unwrap();
    loads.store(0, Ordering::SeqCst);
    (manager, loads, works)
}

/// Row 52.
#[tokio::test]
async fn a_logout_in_another_process_is_noticed_by_the_store_check() {
    let bench = Bench::new().await;
    let (manager, loads, _) = counted(&bench).await;
    let mut events = manager.events();
    bench.manager().logout(None).await;
    bench
        .clock
        .advance(CHECK.saturating_sub(Duration::from_secs(1)));
    assert_eq!(manager.current().unwrap().expose(), "at-1");
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    assert_eq!(loads.load(Ordering::SeqCst), 0);
    bench.clock.advance(Duration::from_secs(1));
    // Served once more while the store is read in the background.
    assert!(manager.current().is_none());
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    assert!(manager.flush(DAY).await);
    event(&mut events, |event| {
        matches!(event, Event::LoggedOut { elsewhere: true })
    })
    .await;
    assert!(manager.current().is_none());
    let error = manager.access_token().await.unwrap_err();
    assert!(error.is_reauth_required());
    assert_eq!(bench.idp.refreshes(), 0);
}

/// What the managers of other processes do is noticed by a use after the time of the store check.
async fn use_after_check(bench: &Bench, manager: &TokenManager) {
    bench.clock.advance(CHECK);
    // OK to ignore: the events are what counts.
    let _ = manager.access_token().await;
    assert!(manager.flush(DAY).await);
}

/// Row 52.
#[tokio::test]
async fn a_login_of_another_user_in_another_process_ends_the_session() {
    let bench = Bench::new().await;
    let (manager, other) = (bench.manager(), bench.manager());
    log_in(&bench, &manager, "sam").await;
    let mut events = manager.events();
    log_in(&bench, &other, "kim").await;
    use_after_check(&bench, &manager).await;
    assert!(manager.current().is_none());
    for _ in 0..2 {
        let error = manager.access_token().await.unwrap_err();
        assert!(error.is_reauth_required() && error.to_string().contains("another user"));
    }
    // Once, however often the store is read.
    let replaced = |generation| format!("UserReplaced {{ generation: {generation} }}");
    let expected = [replaced(2), "ReauthRequired".to_owned()];
    assert_eq!(events_so_far(&mut events), expected);
    assert_eq!(bench.stored().await.unwrap().subject(), Some("kim"));
    assert_eq!(other.access_token().await.unwrap().expose(), "at-3");
    // A third user, then the first one again.
    log_in(&bench, &other, "lee").await;
    manager.access_token().await.unwrap_err();
    assert_eq!(events_so_far(&mut events), [replaced(3)]);
    log_in(&bench, &other, "sam").await;
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-5");
    let back = "LoggedIn { generation: 4, elsewhere: true }";
    assert_eq!(events_so_far(&mut events), [back]);
}

/// Row 52.
#[tokio::test]
async fn a_login_of_the_same_user_in_another_process_is_adopted() {
    let bench = Bench::new().await;
    let (manager, other) = (bench.manager(), bench.manager());
    log_in(&bench, &manager, "sam").await;
    let mut events = manager.events();
    log_in(&bench, &other, "sam").await;
    bench.clock.advance(CHECK);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert!(manager.flush(DAY).await);
    assert_eq!(manager.current().unwrap().expose(), "at-3");
    let login = "LoggedIn { generation: 2, elsewhere: true }";
    assert_eq!(events_so_far(&mut events), [login]);
    // A refresh in the other process is no login.
    bench.clock.advance(DAY);
    assert_eq!(other.access_token().await.unwrap().generation(), 3);
    assert_eq!(manager.access_token().await.unwrap().generation(), 3);
    assert_eq!(events_so_far(&mut events), ["Adopted { generation: 3 }"]);
}

/// Row 52.
#[tokio::test]
async fn a_program_without_a_user_notices_a_login_in_another_process() {
    let bench = Bench::new().await;
    let (manager, other) = (bench.manager(), bench.manager());
    let mut events = manager.events();
    // At its start it asks for a login.
    assert!(
        manager
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
    log_in(&bench, &other, "sam").await;
    manager.access_token().await.unwrap();
    let login = |generation, elsewhere| {
        format!("LoggedIn {{ generation: {generation}, elsewhere: {elsewhere} }}")
    };
    let logout = |elsewhere| format!("LoggedOut {{ elsewhere: {elsewhere} }}");
    assert_eq!(events_so_far(&mut events), [login(1, true)]);
    // Any user may follow a logout.
    manager.logout(None).await;
    log_in(&bench, &other, "kim").await;
    manager.access_token().await.unwrap();
    assert_eq!(events_so_far(&mut events), [logout(false), login(2, true)]);
    other.logout(None).await;
    use_after_check(&bench, &manager).await;
    log_in(&bench, &manager, "sam").await;
    assert_eq!(events_so_far(&mut events), [logout(true), login(3, false)]);
    // A session that the store had before is no news.
    let third = bench.manager();
    let mut events = third.events();
    third.access_token().await.unwrap();
    assert!(events_so_far(&mut events).is_empty());
}

/// Row 52.
#[tokio::test]
async fn the_store_is_read_at_most_once_a_minute_and_a_failure_changes_nothing() {
    let bench = Bench::new().await;
    let (manager, loads, works) = counted(&bench).await;
    let mut events = manager.events();
    for up in [true, false] {
        works.store(up, Ordering::SeqCst);
        loads.store(0, Ordering::SeqCst);
        for _ in 0..60 {
            bench.clock.advance(Duration::from_secs(10));
            for _ in 0..3 {
                assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
                assert!(manager.flush(DAY).await);
                assert_eq!(manager.current().unwrap().expose(), "at-1");
            }
        }
        assert_eq!(loads.load(Ordering::SeqCst), 10);
    }
    // An account that is not used causes no read either.
    works.store(true, Ordering::SeqCst);
    loads.store(0, Ordering::SeqCst);
    bench.clock.advance(CHECK * 60);
    assert_eq!(loads.load(Ordering::SeqCst), 0);
    drop(manager);
    assert!(events.next().await.is_none());
}

/// Row 52.
#[tokio::test]
async fn after_a_shutdown_tokens_are_served_without_store_checks() {
    let bench = Bench::new().await;
    let (manager, loads, _) = counted(&bench).await;
    assert!(manager.shutdown(DAY).await);
    bench.clock.advance(CHECK);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    assert!(manager.current().is_some());
    assert_eq!(loads.load(Ordering::SeqCst), 0);
}

/// Row 54. Row 35.
#[tokio::test]
async fn every_process_reports_why_a_session_ended() {
    let refused = || ResponseTemplate::new(403).set_body_json(json!({"error": "invalid_grant"}));
    for (lost, reason) in [(false, "does not accept"), (true, "lost")] {
        let bench = Bench::new().await;
        bench.seed(DAY / 10 * 9).await;
        let (manager, other) = (bench.manager(), bench.builder());
        let other = other.background(false).build().unwrap();
        for early in [&manager, &other] {
            assert_eq!(early.access_token().await.unwrap().expose(), "at-1");
        }
        bench.clock.advance(DAY / 20);
        bench.idp.next(if lost {
            ScriptedReply::RotateAndReply(ResponseTemplate::new(502))
        } else {
            ScriptedReply::Reply(refused())
        });
        let mut events = manager.events();
        manager.access_token().await.unwrap();
        if lost {
            let is_lost = |event: &Event| matches!(event, Event::RotationAmbiguous);
            event(&mut events, is_lost).await;
            bench.clock.advance(Duration::from_secs(2));
        }
        assert!(manager.flush(DAY).await);
        // It is served until it expires in each process; the end is known earlier.
        for served in [&manager, &other] {
            assert_eq!(served.access_token().await.unwrap().expose(), "at-1");
            assert!(served.flush(DAY).await);
        }
        let sent = bench.idp.refreshes();
        bench.clock.advance(DAY / 10);
        for process in [&manager, &other, &bench.manager(), &bench.manager()] {
            for _ in 0..2 {
                let error = process.access_token().await.unwrap_err();
                assert!(error.is_reauth_required(), "{error:?}");
                assert!(error.to_string().contains(reason), "{error}");
            }
        }
        assert_eq!(bench.idp.refreshes(), sent);
        // No token is left in the store.
        let stored = bench.store.load(KEY).await.unwrap().unwrap();
        let text = stored.record.to_secret_json();
        assert!(!text.expose().contains("at-1") && !text.expose().contains("rt-1"));
        // A login ends it.
        let (login, address) = callback(&bench, &manager, "sam");
        manager.complete_login(login, &address).await.unwrap();
        let token = bench.manager().access_token().await.unwrap();
        assert_eq!(token.generation(), 2);
    }
}
