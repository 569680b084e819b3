//! Changes of the stored session by other processes while this one serves tokens from memory.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::bench::{
    Bench, DAY, SECOND, error, event, events_so_far, log_in, needs_login, refusal, token,
};
use crate::auth::store::{HookedStore, StoreCall};
use crate::auth::{TokenManager, TokenSource};

const CHECK: Duration = Duration::from_secs(60);

/// A manager with tokens in use, how often it reads the store, and whether it cannot.
async fn counted() -> (Bench, TokenManager, Arc<AtomicUsize>, Arc<AtomicBool>) {
    let bench = Bench::new();
    bench.seed(Duration::ZERO).await;
    let loads = Arc::new(AtomicUsize::new(0));
    let count = loads.clone();
    let timed_out = ErrorKind::TimedOut;
    let (store, is_down) = HookedStore::failing(&bench.store, timed_out, move |call| {
        let is_load = matches!(call, StoreCall::Load);
        count.fetch_add(usize::from(is_load), Ordering::SeqCst);
        is_load
    });
    is_down.store(false, Ordering::SeqCst);
    let manager = bench.manager_on(store);
    token(&manager).await;
    loads.store(0, Ordering::SeqCst);
    (bench, manager, loads, is_down)
}

/// Row 52.
#[tokio::test]
async fn a_logout_in_another_process_is_noticed_by_the_store_check() {
    let (bench, manager, loads, _) = counted().await;
    let mut events = manager.events();
    bench.manager().logout(None).await;
    bench.clock.advance(CHECK.saturating_sub(SECOND));
    assert_eq!(manager.current().unwrap().expose(), "at-1");
    assert_eq!(token(&manager).await, "at-1");
    assert_eq!(loads.load(Ordering::SeqCst), 0);
    bench.clock.advance(SECOND);
    // Served once more while the store is read in the background.
    assert!(manager.current().is_none());
    assert_eq!(token(&manager).await, "at-1");
    assert!(manager.flush(DAY).await);
    event(&mut events, "LoggedOut { elsewhere: true }").await;
    assert!(manager.current().is_none());
    assert!(needs_login(&manager).await);
    assert_eq!(bench.idp.refreshes(), 0);
}

/// What the managers of other processes do is noticed by a use after the time of the store check.
async fn use_after_check(bench: &Bench, manager: &TokenManager) {
    bench.clock.advance(CHECK);
    // OK to ignore: the events are what counts.
    let _ = manager.access_token().await;
    assert!(manager.flush(DAY).await);
}

/// Row 52. Row 25.
#[tokio::test]
async fn a_login_of_another_user_in_another_process_ends_the_session() {
    let bench = Bench::new();
    let (manager, other) = (bench.manager(), bench.manager());
    log_in(&bench, &manager, "sam").await;
    let mut events = manager.events();
    log_in(&bench, &other, "kim").await;
    use_after_check(&bench, &manager).await;
    assert!(manager.current().is_none());
    for _ in 0..2 {
        let error = refusal(&manager).await;
        assert!(error.is_reauth_required() && error.to_string().contains("another user"));
    }
    // Once, however often the store is read.
    let replaced = |generation| format!("UserReplaced {{ generation: {generation} }}");
    let expected = [replaced(2), "ReauthRequired".to_owned()];
    assert_eq!(events_so_far(&mut events), expected);
    assert_eq!(bench.stored().await.unwrap().subject(), Some("kim"));
    assert_eq!(token(&other).await, "at-3");
    // A third user, then the first one again.
    log_in(&bench, &other, "lee").await;
    assert!(needs_login(&manager).await);
    assert_eq!(events_so_far(&mut events), [replaced(3)]);
    log_in(&bench, &other, "sam").await;
    assert_eq!(token(&manager).await, "at-5");
    let back = "LoggedIn { generation: 4, elsewhere: true }";
    assert_eq!(events_so_far(&mut events), [back]);
}

/// Row 52.
#[tokio::test]
async fn a_login_of_the_same_user_in_another_process_is_adopted() {
    let bench = Bench::new();
    let (manager, other) = (bench.manager(), bench.manager());
    log_in(&bench, &manager, "sam").await;
    let mut events = manager.events();
    log_in(&bench, &other, "sam").await;
    bench.clock.advance(CHECK);
    assert_eq!(token(&manager).await, "at-2");
    assert!(manager.flush(DAY).await);
    assert_eq!(manager.current().unwrap().expose(), "at-3");
    let login = "LoggedIn { generation: 2, elsewhere: true }";
    assert_eq!(events_so_far(&mut events), [login]);
    // A refresh in the other process is no login.
    bench.clock.advance(DAY);
    for process in [&other, &manager] {
        assert_eq!(token(process).await, "at-4");
    }
    assert_eq!(events_so_far(&mut events), ["Adopted { generation: 3 }"]);
}

/// Row 52.
#[tokio::test]
async fn a_program_without_a_user_notices_a_login_in_another_process() {
    let bench = Bench::new();
    let (manager, other) = (bench.manager(), bench.manager());
    let mut events = manager.events();
    // At its start it asks for a login.
    assert!(needs_login(&manager).await);
    log_in(&bench, &other, "sam").await;
    token(&manager).await;
    let login = |generation, elsewhere| {
        format!("LoggedIn {{ generation: {generation}, elsewhere: {elsewhere} }}")
    };
    let logout = |elsewhere| format!("LoggedOut {{ elsewhere: {elsewhere} }}");
    assert_eq!(events_so_far(&mut events), [login(1, true)]);
    // Any user may follow a logout.
    manager.logout(None).await;
    log_in(&bench, &other, "kim").await;
    token(&manager).await;
    assert_eq!(events_so_far(&mut events), [logout(false), login(2, true)]);
    other.logout(None).await;
    use_after_check(&bench, &manager).await;
    log_in(&bench, &manager, "sam").await;
    assert_eq!(events_so_far(&mut events), [logout(true), login(3, false)]);
    // A session that the store had before is no news.
    let third = bench.manager();
    let mut events = third.events();
    token(&third).await;
    assert!(events_so_far(&mut events).is_empty());
}

/// Row 52.
#[tokio::test]
async fn the_store_is_read_at_most_once_a_minute_and_a_failure_changes_nothing() {
    let (bench, manager, loads, is_down) = counted().await;
    let mut events = manager.events();
    for down in [false, true] {
        is_down.store(down, Ordering::SeqCst);
        loads.store(0, Ordering::SeqCst);
        for _ in 0..60 {
            bench.clock.advance(10 * SECOND);
            for _ in 0..3 {
                assert_eq!(token(&manager).await, "at-1");
                assert!(manager.flush(DAY).await);
                assert_eq!(manager.current().unwrap().expose(), "at-1");
            }
        }
        assert_eq!(loads.load(Ordering::SeqCst), 10);
    }
    // An account that is not used, or that was shut down, causes no read either.
    loads.store(0, Ordering::SeqCst);
    bench.clock.advance(CHECK * 60);
    assert!(manager.shutdown(DAY).await);
    assert_eq!(token(&manager).await, "at-1");
    assert!(manager.current().is_some());
    assert_eq!(loads.load(Ordering::SeqCst), 0);
    drop(manager);
    assert!(events.next().await.is_none());
}

/// Row 54. Row 35. Row 28.
#[tokio::test]
async fn every_process_reports_why_a_session_ended() {
    for (lost, reason) in [(false, "does not accept"), (true, "lost")] {
        let bench = Bench::new();
        bench.seed(DAY / 10 * 9).await;
        let (manager, other) = (bench.manager(), bench.builder());
        let other = other.background(false).build().unwrap();
        for early in [&manager, &other] {
            assert_eq!(token(early).await, "at-1");
        }
        bench.clock.advance(DAY / 20);
        let mut events = manager.events();
        if lost {
            bench.idp.lose_reply();
        } else {
            bench.idp.reply(error(403, "invalid_grant"));
        }
        token(&manager).await;
        if lost {
            event(&mut events, "RotationAmbiguous").await;
            bench.clock.advance(2 * SECOND);
        }
        event(&mut events, "ReauthRequired").await;
        assert!(manager.flush(DAY).await);
        // It is served until it expires in each process; the end is known earlier.
        for served in [&manager, &other] {
            assert_eq!(token(served).await, "at-1");
            assert!(served.flush(DAY).await);
        }
        let sent = bench.idp.refreshes();
        bench.clock.advance(DAY / 10);
        for process in [&manager, &other, &bench.manager(), &bench.manager()] {
            for _ in 0..2 {
                let error = refusal(process).await;
                assert!(error.is_reauth_required(), "{error:?}");
                assert!(error.to_string().contains(reason), "{error}");
            }
        }
        assert_eq!(bench.idp.refreshes(), sent);
        // No token is left in the store.
        let text = bench.record().await.record.to_secret_json();
        assert!(!text.expose().contains("at-1") && !text.expose().contains("rt-1"));
        // A login ends it.
        assert_eq!(log_in(&bench, &manager, "sam").await.generation, 2);
        token(&bench.manager()).await;
    }
}
