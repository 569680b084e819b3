//! New tokens that could not be stored keep the lock.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::bench::{Bench, DAY, KEY, advance_until, callback, event};
use crate::auth::store::{HookedStore, StoreCall, counts_down};
use crate::auth::{Event, StoreError, TokenManager, TokenSource, TokenStore};
use crate::error::Error;

/// A store that refuses tokens with this refresh token (and any other but the first) while the disk is full.
struct Disk {
    full: Arc<AtomicBool>,
    locks: Arc<AtomicUsize>,
    store: HookedStore,
}

impl Disk {
    fn full(bench: &Bench) -> Self {
        let full = Arc::new(AtomicBool::new(true));
        let locks = Arc::new(AtomicUsize::new(0));
        let (is_full, count) = (full.clone(), locks.clone());
        let store = HookedStore::new(bench.store.clone(), move |call| {
            match call {
                StoreCall::Lock => {
                    count.fetch_add(1, Ordering::SeqCst);
                }
                StoreCall::Swap(new) if is_full.load(Ordering::SeqCst) => {
                    let token = new.tokens().refresh_token();
                    if !token.is_some_and(|token| token.matches("rt-1")) {
                        return Err(StoreError::io(
                            "the disk is full",
                            std::io::ErrorKind::StorageFull.into(),
                        ));
                    }
                }
                _ => {}
            }
            Ok(())
        });
        Self { full, locks, store }
    }

    fn make_room(&self) {
        self.full.store(false, Ordering::SeqCst);
    }

    fn locks(&self) -> usize {
        self.locks.load(Ordering::SeqCst)
    }
}

/// A manager that has renewed its tokens and could not store them.
async fn unsaved(bench: &Bench) -> (Disk, TokenManager) {
    bench.seed(DAY).await;
    let disk = Disk::full(bench);
    let manager = bench.builder().store(disk.store.clone()).build().unwrap();
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    (disk, manager)
}

/// Another process that does not wait for locks.
fn another(bench: &Bench) -> TokenManager {
    bench.builder().lock_wait(Duration::ZERO).build().unwrap()
}

fn is_lock_timeout(error: &Error) -> bool {
    let below = error
        .source()
        .and_then(|source| source.downcast_ref::<StoreError>());
    error.is_retryable() && below.is_some_and(StoreError::is_lock_timeout)
}

async fn lock_is_free(bench: &Bench) -> bool {
    bench.store.lock(KEY, Duration::ZERO).await.is_ok()
}

/// Row 50.
#[tokio::test]
async fn no_other_process_sends_a_token_whose_successor_is_not_stored() {
    let bench = Bench::new().await;
    let (disk, manager) = unsaved(&bench).await;
    let other = another(&bench);
    for _ in 0..30 {
        let error = other.access_token().await.unwrap_err();
        assert!(is_lock_timeout(&error), "{error:?}");
        bench.clock.advance(Duration::from_secs(10));
    }
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    disk.make_room();
    // At most ten seconds between two attempts.
    let took = advance_until(&bench, async || lock_is_free(&bench).await).await;
    assert!(took <= Duration::from_secs(10), "{took:?}");
    assert_eq!(other.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
    assert!(!bench.idp.session_over());
    assert_eq!(disk.locks(), 1);
}

/// Row 50.
#[tokio::test]
async fn a_logout_uses_the_kept_lock_and_frees_it() {
    let bench = Bench::new().await;
    let (disk, manager) = unsaved(&bench).await;
    let report = manager.logout(None).await;
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(bench.stored().await.is_none() && manager.current().is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2", "rt-1"]);
    assert_eq!(disk.locks(), 1);
    assert!(lock_is_free(&bench).await);
    // The saver ends, and stores nothing.
    disk.make_room();
    assert!(manager.flush(DAY).await);
    assert!(bench.stored().await.is_none());
}

/// Row 50.
#[tokio::test]
async fn a_login_uses_the_kept_lock_and_its_tokens_are_stored() {
    for full_for_longer in [false, true] {
        let bench = Bench::new().await;
        let (disk, manager) = unsaved(&bench).await;
        if !full_for_longer {
            disk.make_room();
        }
        let (login, callback) = callback(&bench, &manager, "kim");
        manager.complete_login(login, &callback).await.unwrap();
        assert_eq!(manager.current().unwrap().expose(), "at-3");
        if full_for_longer {
            assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
            assert!(!lock_is_free(&bench).await);
            disk.make_room();
        }
        advance_until(&bench, async || lock_is_free(&bench).await).await;
        assert_eq!(bench.stored().await.unwrap().subject(), Some("kim"));
        assert_eq!(disk.locks(), 1);
        assert!(manager.flush(DAY).await);
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    }
}

/// Row 50.
#[tokio::test]
async fn a_login_in_another_process_is_not_overwritten_by_tokens_that_come_late() {
    let bench = Bench::new().await;
    let (disk, manager) = unsaved(&bench).await;
    let other = another(&bench);
    let (login, callback) = callback(&bench, &other, "sam");
    // Without the lock, which is not free: versions are compared.
    other.complete_login(login, &callback).await.unwrap();
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    disk.make_room();
    advance_until(&bench, async || lock_is_free(&bench).await).await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    assert_eq!(manager.current().unwrap().expose(), "at-3");
    assert!(bench.idp.revoked().is_empty());
}

/// Row 50.
#[tokio::test]
async fn after_a_logout_in_another_process_tokens_that_come_late_are_revoked_and_not_stored() {
    let bench = Bench::new().await;
    let (disk, manager) = unsaved(&bench).await;
    let mut events = manager.events();
    another(&bench).logout(None).await;
    assert!(bench.stored().await.is_none());
    disk.make_room();
    advance_until(&bench, async || lock_is_free(&bench).await).await;
    event(&mut events, |event| {
        matches!(event, Event::LoggedOut { .. })
    })
    .await;
    assert!(manager.flush(DAY).await);
    assert!(bench.stored().await.is_none() && manager.current().is_none());
    assert_eq!(bench.idp.revoked(), ["rt-1", "rt-2"]);
}

/// Row 50.
#[tokio::test]
async fn a_refresh_that_is_due_while_tokens_are_not_stored_uses_the_kept_lock() {
    let bench = Bench::new().await;
    let (disk, manager) = unsaved(&bench).await;
    bench.clock.advance(DAY);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-3");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    assert!(!lock_is_free(&bench).await);
    disk.make_room();
    advance_until(&bench, async || lock_is_free(&bench).await).await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
    assert_eq!(disk.locks(), 1);
    assert!(!bench.idp.session_over());
}

/// Row 50. Row 24.
#[tokio::test]
async fn a_logout_in_the_middle_of_storing_leaves_nothing_behind() {
    // At the first attempt, in the refresh, and at the fourth, in the saver.
    for failures in [0, 3] {
        let bench = Bench::new().await;
        bench.seed(DAY).await;
        let manager = Arc::new(OnceLock::<TokenManager>::new());
        let (logging_out, left) = (manager.clone(), AtomicUsize::new(failures));
        let store = HookedStore::new(bench.store.clone(), move |call| {
            if let StoreCall::Swap(new) = call
                && new.tokens().generation() == 2
            {
                if counts_down(&left) {
                    return Err(StoreError::io(
                        "the disk is full",
                        std::io::ErrorKind::StorageFull.into(),
                    ));
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
        assert!(lock_is_free(&bench).await);
    }
}

/// Row 50. Row 13.
#[tokio::test]
async fn a_shutdown_waits_until_tokens_are_stored() {
    let bench = Bench::new().await;
    let (disk, manager) = unsaved(&bench).await;
    assert!(!manager.flush(Duration::ZERO).await);
    let ending = tokio::spawn({
        let manager = manager.clone();
        async move { manager.shutdown(DAY).await }
    });
    let later = bench.clock.boot() + Duration::from_secs(60);
    advance_until(&bench, async || bench.clock.boot() >= later).await;
    assert!(!ending.is_finished());
    disk.make_room();
    advance_until(&bench, async || ending.is_finished()).await;
    assert!(ending.await.unwrap());
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert!(lock_is_free(&bench).await);
}

/// Row 50. Row 13.
#[test]
fn the_lock_outlives_the_runtime_and_ends_with_the_manager() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let servers = runtime();
    let bench = servers.block_on(Bench::new());
    let (disk, manager) = runtime().block_on(unsaved(&bench));
    // The tokens are still in its memory.
    servers.block_on(async { assert!(!lock_is_free(&bench).await) });
    disk.make_room();
    runtime().block_on(async {
        // The next check of the store finds them, and starts the saver.
        bench.clock.advance(Duration::from_secs(60));
        assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
        advance_until(&bench, async || lock_is_free(&bench).await).await;
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    });
    let other = servers.block_on(Bench::new());
    let (_full, manager) = runtime().block_on(unsaved(&other));
    drop(manager);
    servers.block_on(async { assert!(lock_is_free(&other).await) });
}

/// Row 50. Row 15.
#[tokio::test]
async fn a_store_that_panics_with_new_tokens_is_retried() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let panics = Arc::new(AtomicUsize::new(2));
    let left = panics.clone();
    let store = HookedStore::new(bench.store.clone(), move |call| {
        if let StoreCall::Swap(new) = call
            && new
                .tokens()
                .refresh_token()
                .is_some_and(|token| token.matches("rt-2"))
        {
            assert!(!counts_down(&left), "planned");
        }
        Ok(())
    });
    let manager = bench.builder().store(store).build().unwrap();
    assert!(manager.access_token().await.unwrap_err().is_retryable());
    assert!(!lock_is_free(&bench).await);
    // The second attempt panics in the saver; the next call is the third.
    advance_until(&bench, async || panics.load(Ordering::SeqCst) == 0).await;
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert!(lock_is_free(&bench).await);
    assert_eq!(bench.idp.refreshes(), 1);
}
