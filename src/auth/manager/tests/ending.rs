//! Shutdown, a runtime that ends, panics, and revocations that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::bench::{Bench, DAY, SECOND, advance_until, call, refusal, token, yields};
use crate::auth::store::{HookedStore, StoreCall, counts_down};
use crate::auth::{TokenManager, TokenSource};

fn shutdown(manager: &TokenManager, limit: Duration) -> tokio::task::JoinHandle<bool> {
    let manager = manager.clone();
    tokio::spawn(async move { manager.shutdown(limit).await })
}

/// Row 13.
#[tokio::test]
async fn a_shutdown_waits_for_a_refresh_and_starts_no_other() {
    let (bench, manager) = Bench::in_use().await;
    bench.clock.advance(DAY / 100 * 81);
    let held = bench.idp.hold();
    token(&manager).await;
    held.arrived().await;
    let mut ending = shutdown(&manager, 60 * SECOND);
    yields(20).await;
    assert!(!ending.is_finished());
    held.open();
    assert!((&mut ending).await.unwrap());
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(token(&manager).await, "at-2");
    bench.clock.advance(DAY);
    assert!(refusal(&manager).await.is_retryable());
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 13.
#[tokio::test]
async fn a_shutdown_gives_up_at_its_limit() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    let held = bench.idp.hold();
    let caller = call(&manager);
    held.arrived().await;
    let ending = shutdown(&manager, 5 * SECOND);
    tokio::task::yield_now().await;
    bench.clock.advance(5 * SECOND);
    assert!(!ending.await.unwrap());
    held.open();
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
}

/// Row 13. Row 18.
#[test]
fn a_runtime_that_ends_during_a_refresh_leaves_a_mark_for_the_next_start() {
    let program = Runtime::new().unwrap();
    let bench = program.block_on(async {
        let bench = Bench::expired().await;
        let held = bench.idp.hold();
        call(&bench.manager());
        held.arrived().await;
        bench
    });
    drop(program);
    Runtime::new().unwrap().block_on(async {
        let mark = bench.record().await.record.refresh_mark;
        assert_eq!(mark.unwrap().generation, 1);
        // The first request was processed, so the second is refused: the error names the reason.
        let error = refusal(&bench.manager()).await;
        assert!(error.is_reauth_required() && error.to_string().contains("lost"));
    });
}

/// Row 15.
#[tokio::test]
async fn a_panic_under_the_lock_frees_it_and_the_next_call_works() {
    let bench = Bench::expired().await;
    let panics = Arc::new(AtomicUsize::new(0));
    let left = panics.clone();
    let store = HookedStore::new(&bench.store, move |call| {
        // The first write stands under the lock.
        let panics = matches!(call, StoreCall::Swap(_)) && counts_down(&left);
        assert!(!panics, "planned");
        Ok(())
    });
    let manager = bench.manager_on(store);
    for _ in 0..3 {
        panics.store(1, Ordering::SeqCst);
        assert!(refusal(&manager).await.is_retryable());
        assert!(bench.lock_is_free().await);
    }
    assert_eq!(token(&manager).await, "at-2");
    assert!(manager.flush(Duration::ZERO).await);
}

/// Row 48.
#[tokio::test]
async fn a_failed_revocation_is_retried_and_reported_after_the_wipe() {
    for (faults, problems) in [(2, 0), (3, 1)] {
        let (bench, manager) = Bench::in_use().await;
        bench.idp.refuse_revocations(faults);
        let logout = tokio::spawn(manager.logout(None));
        assert!(manager.current().is_none());
        advance_until(&bench, async || logout.is_finished()).await;
        let report = logout.await.unwrap();
        assert_eq!(report.problems.len(), problems, "{:?}", report.problems);
        assert_eq!(bench.idp.revoked().len(), 3);
        assert!(bench.stored().await.is_none() && manager.current().is_none());
    }
}
