//! Shutdown, a runtime that ends, panics, and the results of a logout.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::bench::{Bench, DAY, KEY, event};
use crate::auth::store::{HookedStore, StoreCall, counts_down};
use crate::auth::{Event, StoreError, TokenSource, TokenStore};

/// Row 13.
#[tokio::test]
async fn a_shutdown_waits_for_a_refresh_and_starts_no_other() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.clock.advance(DAY / 100 * 81);
    let held = bench.idp.hold();
    manager.access_token().await.unwrap();
    held.arrived().await;
    let mut ending = tokio::spawn({
        let manager = manager.clone();
        async move { manager.shutdown(Duration::from_secs(60)).await }
    });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert!(!ending.is_finished());
    held.open();
    assert!((&mut ending).await.unwrap());
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    bench.clock.advance(DAY);
    assert!(manager.access_token().await.unwrap_err().is_retryable());
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 13.
#[tokio::test]
async fn a_shutdown_gives_up_at_its_limit() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let held = bench.idp.hold();
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.access_token().await }
    });
    held.arrived().await;
    let ending = tokio::spawn({
        let manager = manager.clone();
        async move { manager.shutdown(Duration::from_secs(5)).await }
    });
    tokio::task::yield_now().await;
    bench.clock.advance(Duration::from_secs(5));
    assert!(!ending.await.unwrap());
    held.open();
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
}

/// Row 13. Row 18.
#[test]
fn a_runtime_that_ends_during_a_refresh_leaves_a_mark_for_the_next_start() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let servers = runtime();
    let bench = servers.block_on(async {
        let bench = Bench::new().await;
        bench.seed(DAY).await;
        bench
    });
    let program = runtime();
    let held = bench.idp.hold();
    program.block_on(async {
        let manager = bench.manager();
        tokio::spawn(async move { manager.access_token().await });
        held.arrived().await;
    });
    drop(program);
    held.open();
    servers.block_on(async {
        let stored = bench.store.load(KEY).await.unwrap().unwrap();
        assert_eq!(stored.record.intent.unwrap().generation, 1);
        // The first request was processed, so the second is refused: the error names the reason.
        while bench.idp.refreshes() == 0 {
            tokio::task::yield_now().await;
        }
        let error = bench.manager().access_token().await.unwrap_err();
        assert!(error.is_reauth_required() && error.to_string().contains("lost"));
    });
}

/// Row 15.
#[tokio::test]
async fn a_panic_under_the_lock_frees_it_and_the_next_call_works() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let panics = Arc::new(AtomicUsize::new(0));
    let left = panics.clone();
    let store = HookedStore::new(bench.store.clone(), move |call| {
        // The first write stands under the lock.
        let panics = matches!(call, StoreCall::Swap(_)) && counts_down(&left);
        assert!(!panics, "planned");
        Ok(())
    });
    let manager = bench.builder().store(store).build().unwrap();
    for _ in 0..3 {
        panics.store(1, Ordering::SeqCst);
        assert!(manager.access_token().await.unwrap_err().is_retryable());
        bench.store.lock(KEY, Duration::ZERO).await.unwrap();
    }
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert!(manager.flush(Duration::ZERO).await);
}

/// Row 48.
#[tokio::test]
async fn a_failed_revocation_is_retried_and_reported_after_the_wipe() {
    for (faults, problems) in [(2, 0), (3, 1)] {
        let bench = Bench::new().await;
        let manager = bench.running().await;
        bench.idp.refuse_revocations(faults);
        let logout = tokio::spawn(manager.logout(None));
        assert!(manager.current().is_none());
        while !logout.is_finished() {
            bench.clock.advance(Duration::from_millis(100));
            tokio::task::yield_now().await;
        }
        let report = logout.await.unwrap();
        assert_eq!(report.problems.len(), problems, "{:?}", report.problems);
        assert_eq!(bench.idp.revoked().len(), 3);
        assert!(bench.stored().await.is_none() && manager.current().is_none());
    }
}

/// Row 48.
#[tokio::test]
async fn a_record_that_cannot_be_deleted_is_reported_and_its_token_revoked() {
    let bench = Bench::new().await;
    bench.seed(Duration::ZERO).await;
    let store = HookedStore::new(bench.store.clone(), |call| match call {
        StoreCall::Remove => Err(StoreError::new("the disk is read-only")),
        _ => Ok(()),
    });
    let manager = bench.builder().store(store).build().unwrap();
    manager.access_token().await.unwrap();
    let mut events = manager.events();
    let report = manager.logout(Some("nowhere")).await;
    // The record, and the address to return to.
    assert_eq!(report.problems.len(), 2, "{:?}", report.problems);
    assert_eq!(bench.idp.revoked(), ["rt-1"]);
    assert!(manager.current().is_none() && manager.subject().is_none());
    event(&mut events, |event| {
        matches!(event, Event::LoggedOut { .. })
    })
    .await;
}
