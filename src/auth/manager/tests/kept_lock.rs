//! New tokens that could not be stored keep the lock.

use std::error::Error as _;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::bench::{Bench, DAY, SECOND, advance_until, begin_login, event, refusal, token};
use crate::auth::store::{HookedStore, StoreCall, counts_down, fault};
use crate::auth::{Record, StoreError, StoreErrorKind, TokenManager, TokenSource};
use crate::error::Error;

/// A disk that is full for all tokens but the first.
struct Disk {
    is_full: Arc<AtomicBool>,
    locks: Arc<AtomicUsize>,
}

impl Disk {
    fn make_room(&self) {
        self.is_full.store(false, Ordering::SeqCst);
    }

    fn locks(&self) -> usize {
        self.locks.load(Ordering::SeqCst)
    }
}

fn has_token(record: &Record, token: &str) -> bool {
    let stored = record.tokens().refresh_token();
    stored.is_some_and(|stored| stored.matches(token))
}

/// A manager that has renewed its tokens and could not store them.
async fn unsaved() -> (Bench, Disk, TokenManager) {
    let bench = Bench::expired().await;
    let locks = Arc::new(AtomicUsize::new(0));
    let count = locks.clone();
    let full = ErrorKind::StorageFull;
    let (store, is_full) = HookedStore::failing(&bench.store, full, move |call| match call {
        StoreCall::Lock => {
            count.fetch_add(1, Ordering::SeqCst);
            false
        }
        StoreCall::Swap(new) => !has_token(new, "rt-1"),
        _ => false,
    });
    let manager = bench.manager_on(store);
    assert_eq!(token(&manager).await, "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    (bench, Disk { is_full, locks }, manager)
}

/// Another process that does not wait for locks.
fn another(bench: &Bench) -> TokenManager {
    bench.builder().lock_wait(Duration::ZERO).build().unwrap()
}

pub(super) fn is_lock_timeout(error: &Error) -> bool {
    let below = error
        .source()
        .and_then(|source| source.downcast_ref::<StoreError>());
    error.is_retryable() && below.is_some_and(|it| it.kind() == StoreErrorKind::LockTimeout)
}

async fn until_stored(bench: &Bench) -> Duration {
    advance_until(bench, async || bench.lock_is_free().await).await
}

/// Row 50.
#[tokio::test]
async fn no_other_process_sends_a_token_whose_successor_is_not_stored() {
    let (bench, disk, manager) = unsaved().await;
    let other = another(&bench);
    for _ in 0..30 {
        let error = refusal(&other).await;
        assert!(is_lock_timeout(&error), "{error:?}");
        bench.clock.advance(10 * SECOND);
    }
    assert_eq!(token(&manager).await, "at-2");
    disk.make_room();
    // At most ten seconds between two attempts.
    let took = until_stored(&bench).await;
    assert!(took <= 10 * SECOND, "{took:?}");
    assert_eq!(token(&other).await, "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
    assert!(!bench.idp.session_over());
    assert_eq!(disk.locks(), 1);
}

/// Row 17. As when it leaves a cache of managers: its task goes on, and keeps the lock.
#[tokio::test]
async fn a_manager_that_is_dropped_stores_its_tokens() {
    let (bench, disk, manager) = unsaved().await;
    drop(manager);
    let other = another(&bench);
    for _ in 0..30 {
        let error = refusal(&other).await;
        assert!(is_lock_timeout(&error), "{error:?}");
        bench.clock.advance(10 * SECOND);
    }
    disk.make_room();
    until_stored(&bench).await;
    assert_eq!(token(&other).await, "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 50.
#[tokio::test]
async fn a_logout_uses_the_kept_lock_and_frees_it() {
    let (bench, disk, manager) = unsaved().await;
    let report = manager.logout(None).await;
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(bench.stored().await.is_none() && manager.current().is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2", "rt-1"]);
    assert_eq!(disk.locks(), 1);
    assert!(bench.lock_is_free().await);
    // The saver ends, and stores nothing.
    disk.make_room();
    assert!(manager.flush(DAY).await);
    assert!(bench.stored().await.is_none());
}

/// Row 50.
#[tokio::test]
async fn a_login_uses_the_kept_lock_and_its_tokens_are_stored() {
    for full_for_longer in [false, true] {
        let (bench, disk, manager) = unsaved().await;
        if !full_for_longer {
            disk.make_room();
        }
        begin_login(&bench, &manager, "kim").await.unwrap().unwrap();
        assert_eq!(manager.current().unwrap().expose(), "at-3");
        if full_for_longer {
            assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
            assert!(!bench.lock_is_free().await);
            disk.make_room();
        }
        until_stored(&bench).await;
        assert_eq!(bench.stored().await.unwrap().subject(), Some("kim"));
        assert_eq!(disk.locks(), 1);
        assert!(manager.flush(DAY).await);
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    }
}

/// Row 50.
#[tokio::test]
async fn a_login_in_another_process_is_not_overwritten_by_tokens_that_come_late() {
    let (bench, disk, manager) = unsaved().await;
    let other = another(&bench);
    // Without the lock, which is not free: versions are compared.
    begin_login(&bench, &other, "sam").await.unwrap().unwrap();
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    disk.make_room();
    until_stored(&bench).await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    assert_eq!(manager.current().unwrap().expose(), "at-3");
    assert!(bench.idp.revoked().is_empty());
}

/// Row 50.
#[tokio::test]
async fn after_a_logout_in_another_process_tokens_that_come_late_are_revoked_and_not_stored() {
    let (bench, disk, manager) = unsaved().await;
    let mut events = manager.events();
    another(&bench).logout(None).await;
    assert!(bench.stored().await.is_none());
    disk.make_room();
    until_stored(&bench).await;
    event(&mut events, "LoggedOut").await;
    assert!(manager.flush(DAY).await);
    assert!(bench.stored().await.is_none() && manager.current().is_none());
    assert_eq!(bench.idp.revoked(), ["rt-1", "rt-2"]);
}

/// Row 50.
#[tokio::test]
async fn a_refresh_that_is_due_while_tokens_are_not_stored_uses_the_kept_lock() {
    let (bench, disk, manager) = unsaved().await;
    bench.clock.advance(DAY);
    assert_eq!(token(&manager).await, "at-3");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    assert!(!bench.lock_is_free().await);
    disk.make_room();
    until_stored(&bench).await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    assert_eq!(disk.locks(), 1);
    assert!(!bench.idp.session_over());
}

/// Row 50. Row 24.
#[tokio::test]
async fn a_logout_in_the_middle_of_storing_leaves_nothing_behind() {
    // At the first attempt, in the refresh, and at the fourth, in the saver.
    for failures in [0, 3] {
        let bench = Bench::expired().await;
        let manager = Arc::new(OnceLock::<TokenManager>::new());
        let (logging_out, left) = (manager.clone(), AtomicUsize::new(failures));
        let store = HookedStore::new(&bench.store, move |call| {
            if let StoreCall::Swap(new) = call
                && new.tokens().generation() == 2
            {
                if counts_down(&left) {
                    return Err(fault(ErrorKind::StorageFull));
                }
                if let Some(manager) = logging_out.get() {
                    // Memory is wiped here, the write succeeds, and the rest of the logout comes after it.
                    drop(manager.logout(None));
                }
            }
            Ok(())
        });
        let built = bench.builder().store(store).build().unwrap();
        let manager = manager.get_or_init(|| built);
        let token = manager.access_token().await;
        assert_eq!(token.is_ok(), failures > 0, "{token:?}");
        advance_until(&bench, async || manager.flush(Duration::ZERO).await).await;
        assert!(bench.stored().await.is_none() && manager.current().is_none());
        assert!(bench.idp.revoked().contains(&"rt-2".to_owned()));
        assert!(bench.lock_is_free().await);
    }
}

/// Row 50. Row 13.
#[tokio::test]
async fn a_shutdown_waits_until_tokens_are_stored() {
    let (bench, disk, manager) = unsaved().await;
    assert!(!manager.flush(Duration::ZERO).await);
    let ending = tokio::spawn({
        let manager = manager.clone();
        async move { manager.shutdown(DAY).await }
    });
    let later = bench.clock.monotonic() + 60 * SECOND;
    advance_until(&bench, async || bench.clock.monotonic() >= later).await;
    assert!(!ending.is_finished());
    disk.make_room();
    advance_until(&bench, async || ending.is_finished()).await;
    assert!(ending.await.unwrap());
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert!(bench.lock_is_free().await);
}

/// Row 50. Row 13.
#[test]
fn the_lock_outlives_the_runtime_and_ends_with_the_manager() {
    let runtime = || Runtime::new().unwrap();
    let (bench, disk, manager) = runtime().block_on(unsaved());
    // The tokens are still in its memory.
    assert!(!runtime().block_on(bench.lock_is_free()));
    disk.make_room();
    runtime().block_on(async {
        // The next check of the store finds them, and starts the saver.
        bench.clock.advance(60 * SECOND);
        assert_eq!(token(&manager).await, "at-2");
        until_stored(&bench).await;
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    });
    let (bench, _full, manager) = runtime().block_on(unsaved());
    drop(manager);
    assert!(runtime().block_on(bench.lock_is_free()));
}

/// Row 50. Row 15.
#[tokio::test]
async fn a_store_that_panics_with_new_tokens_is_retried() {
    let bench = Bench::expired().await;
    let panics = Arc::new(AtomicUsize::new(2));
    let left = panics.clone();
    let store = HookedStore::new(&bench.store, move |call| {
        if let StoreCall::Swap(new) = call
            && has_token(new, "rt-2")
        {
            assert!(!counts_down(&left), "planned");
        }
        Ok(())
    });
    let manager = bench.manager_on(store);
    assert!(refusal(&manager).await.is_retryable());
    assert!(!bench.lock_is_free().await);
    // The second attempt panics in the saver; the next call is the third.
    advance_until(&bench, async || panics.load(Ordering::SeqCst) == 0).await;
    assert_eq!(token(&manager).await, "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert!(bench.lock_is_free().await);
    assert_eq!(bench.idp.refreshes(), 1);
}
