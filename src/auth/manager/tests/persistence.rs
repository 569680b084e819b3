//! The contents of the store at each step, and failures of the store.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::bench::{Bench, DAY, KEY, advance_until, event, refusal, token};
use crate::auth::store::{HookedStore, StoreCall, StoredMark, counts_down, fault};
use crate::auth::{StoreError, TokenManager, TokenSource, TokenStore};

/// A write, and the token that the manager served at that time.
type Write = (String, Option<String>);

/// The calls of a store, and how many of them still fail.
#[derive(Default)]
struct Watched {
    manager: OnceLock<TokenManager>,
    writes: Mutex<Vec<Write>>,
    failures: AtomicUsize,
    panics: AtomicUsize,
}

impl Watched {
    /// Records the token that the manager serves at each write, and fails the set number of times.
    fn watch(&self, call: StoreCall<'_>) -> Result<(), StoreError> {
        match call {
            StoreCall::Load => assert!(!counts_down(&self.panics), "planned"),
            StoreCall::Swap(new) => {
                let written = new.tokens().access_token().expose().to_owned();
                let current = self.manager.get().and_then(TokenSource::current);
                let current = current.map(|token| token.expose().to_owned());
                let renewed = written != "at-1";
                self.writes.lock().unwrap().push((written, current));
                if renewed && counts_down(&self.failures) {
                    return Err(fault(ErrorKind::StorageFull));
                }
            }
            StoreCall::Remove | StoreCall::Lock => {}
        }
        Ok(())
    }
}

async fn watched(failures: usize, strict: bool) -> (Bench, Arc<Watched>, TokenManager) {
    let bench = Bench::expired().await;
    let watched = Arc::new(Watched::default());
    watched.failures.store(failures, Ordering::SeqCst);
    let watch = watched.clone();
    let store = HookedStore::new(&bench.store, move |call| watch.watch(call));
    let manager = bench.builder().store(store).strict(strict).build().unwrap();
    watched.manager.set(manager.clone()).unwrap();
    (bench, watched, manager)
}

/// Row 16.
#[tokio::test]
async fn new_tokens_are_stored_before_they_are_served() {
    let (bench, store, manager) = watched(0, false).await;
    assert_eq!(token(&manager).await, "at-2");
    let writes = store.writes.lock().unwrap().clone();
    // First the mark on the old record, then the new record, while no token is served.
    let expected = [("at-1".to_owned(), None), ("at-2".to_owned(), None)];
    assert_eq!(writes, expected);
    assert!(bench.record().await.record.refresh_mark.is_none());
}

/// Row 17.
#[tokio::test]
async fn a_store_failure_is_reported_and_retried_while_memory_serves() {
    let (bench, _store, manager) = watched(3, false).await;
    let mut events = manager.events();
    assert_eq!(token(&manager).await, "at-2");
    event(&mut events, "PersistFailed").await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    let is_saved = async || bench.stored_refresh_token().await.unwrap() == "rt-2";
    let took = advance_until(&bench, is_saved).await;
    assert!(took < Duration::from_secs(100), "{took:?}");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 17.
#[tokio::test]
async fn a_strict_manager_withholds_tokens_until_they_are_stored() {
    // One failure is retried at once.
    for (failures, fails) in [(1, false), (3, true)] {
        let (bench, _store, manager) = watched(failures, true).await;
        assert_eq!(manager.access_token().await.is_err(), fails);
        assert_eq!(manager.current().is_none(), fails);
        // The next call stores the cached tokens and sends nothing.
        assert_eq!(token(&manager).await, "at-2");
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
        assert_eq!(bench.idp.refreshes(), 1);
    }
}

/// Row 22.
#[tokio::test]
async fn tokens_of_another_process_are_adopted_without_a_request() {
    let (bench, manager) = Bench::in_use().await;
    let mut events = manager.events();
    bench.clock.advance(DAY);
    bench.put_tokens(7).await;
    assert_eq!(token(&manager).await, "at-7");
    event(&mut events, "Adopted { generation: 7 }").await;
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 18.
#[tokio::test]
async fn a_marked_token_found_at_the_start_is_sent_at_once() {
    let bench = Bench::new();
    bench.seed(Duration::ZERO).await;
    let mut record = bench.record().await.record;
    record.refresh_mark = Some(StoredMark {
        generation: 1,
        at: bench.clock.now(),
        owner: None,
    });
    bench.put(&record).await;
    let manager = bench.manager();
    let mut events = manager.events();
    // The access token is served meanwhile.
    for _ in 0..2 {
        assert_eq!(token(&manager).await, "at-1");
    }
    event(&mut events, "Refreshed").await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 26.
#[tokio::test]
async fn a_lock_that_is_never_free_is_an_error_and_no_request() {
    let bench = Bench::expired().await;
    let manager = bench
        .builder()
        .timing(|it| it.lock_wait = Duration::ZERO)
        .build()
        .unwrap();
    let _guard = bench.store.lock(KEY, Duration::ZERO).await.unwrap();
    assert!(refusal(&manager).await.is_retryable());
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 15.
#[tokio::test]
async fn a_store_that_panics_is_an_error_and_the_next_call_works() {
    let (_bench, store, manager) = watched(0, false).await;
    for _ in 0..2 {
        store.panics.store(1, Ordering::SeqCst);
        assert!(refusal(&manager).await.is_retryable());
    }
    assert_eq!(token(&manager).await, "at-2");
}
