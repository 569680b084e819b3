//! The contents of the store at each step, and failures of the store.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::bench::{Bench, DAY, KEY, event, tokens};
use crate::auth::store::{HookedStore, Intent, StoreCall, counts_down};
use crate::auth::{Event, Record, StoreError, TokenManager, TokenSource, TokenStore};

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
                    return Err(StoreError::new("the disk is full"));
                }
            }
            StoreCall::Remove | StoreCall::Lock => {}
        }
        Ok(())
    }
}

async fn watched(bench: &Bench, strict: bool) -> (Arc<Watched>, TokenManager) {
    let watched = Arc::new(Watched::default());
    let watch = watched.clone();
    let store = HookedStore::new(bench.store.clone(), move |call| watch.watch(call));
    bench.seed(DAY).await;
    let manager = bench.builder().store(store).strict(strict).build().unwrap();
    watched.manager.set(manager.clone()).unwrap();
    (watched, manager)
}

/// Row 16.
#[tokio::test]
async fn new_tokens_are_stored_before_they_are_served() {
    let bench = Bench::new().await;
    let (store, manager) = watched(&bench, false).await;
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    let writes = store.writes.lock().unwrap().clone();
    // First the mark on the old record, then the new record, while no token is served.
    assert_eq!(
        writes,
        [("at-1".to_owned(), None), ("at-2".to_owned(), None)]
    );
    assert!(
        bench
            .store
            .load(KEY)
            .await
            .unwrap()
            .unwrap()
            .record
            .intent
            .is_none()
    );
}

/// Row 17.
#[tokio::test]
async fn a_failed_write_is_retried() {
    let bench = Bench::new().await;
    let (store, manager) = watched(&bench, true).await;
    store.failures.store(1, Ordering::SeqCst);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 17.
#[tokio::test]
async fn a_store_failure_is_reported_and_retried_while_memory_serves() {
    let bench = Bench::new().await;
    let (store, manager) = watched(&bench, false).await;
    let mut events = manager.events();
    store.failures.store(3, Ordering::SeqCst);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    event(&mut events, |event| {
        matches!(event, Event::PersistFailed { .. })
    })
    .await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    saved_in_time(&bench).await;
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 17.
#[tokio::test]
async fn a_strict_manager_withholds_tokens_until_they_are_stored() {
    let bench = Bench::new().await;
    let (store, manager) = watched(&bench, true).await;
    store.failures.store(3, Ordering::SeqCst);
    assert!(manager.access_token().await.is_err());
    assert!(manager.current().is_none());
    // The next call stores the cached tokens and sends nothing.
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

async fn saved_in_time(bench: &Bench) {
    for _ in 0..1_000 {
        if bench.stored_refresh_token().await.unwrap() == "rt-2" {
            return;
        }
        bench.clock.advance(Duration::from_millis(100));
        tokio::task::yield_now().await;
    }
    panic!("not stored");
}

/// Row 22.
#[tokio::test]
async fn tokens_of_another_process_are_adopted_without_a_request() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let mut events = manager.events();
    bench.clock.advance(DAY);
    let mut newer = tokens(bench.clock.now());
    newer.access_token = "at-7".into();
    newer.refresh_token = Some("rt-7".into());
    newer.generation = 7;
    let version = bench.store.load(KEY).await.unwrap().unwrap().version;
    bench
        .store
        .swap(KEY, Some(version), &Record::new(newer))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-7");
    event(&mut events, |event| {
        matches!(event, Event::Adopted { generation: 7 })
    })
    .await;
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 25.
#[tokio::test]
async fn tokens_of_another_user_under_the_same_key_are_not_served() {
    let bench = Bench::new().await;
    let mut sams = tokens(bench.clock.now());
    sams.subject = Some("sam".to_owned());
    let version = bench
        .store
        .swap(KEY, None, &Record::new(sams))
        .await
        .unwrap();
    let manager = bench.manager();
    manager.access_token().await.unwrap();
    bench.clock.advance(DAY);
    let mut kims = tokens(bench.clock.now());
    kims.subject = Some("kim".to_owned());
    kims.access_token = "at-kim".into();
    bench
        .store
        .swap(KEY, version, &Record::new(kims))
        .await
        .unwrap()
        .unwrap();
    for _ in 0..3 {
        assert!(
            manager
                .access_token()
                .await
                .unwrap_err()
                .is_reauth_required()
        );
    }
    assert_eq!(
        bench.stored().await.unwrap().access_token().expose(),
        "at-kim"
    );
}

/// Row 18.
#[tokio::test]
async fn a_marked_token_found_at_the_start_is_sent_at_once() {
    let bench = Bench::new().await;
    let mut record = Record::new(tokens(bench.clock.now()));
    let at = bench.clock.now();
    record.intent = Some(Intent {
        generation: 1,
        at,
        owner: None,
    });
    bench.store.swap(KEY, None, &record).await.unwrap().unwrap();
    let manager = bench.manager();
    let mut events = manager.events();
    // The access token is served meanwhile.
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    event(&mut events, |event| {
        matches!(event, Event::Refreshed { .. })
    })
    .await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 26.
#[tokio::test]
async fn a_lock_that_is_never_free_is_an_error_and_no_request() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.builder().lock_wait(Duration::ZERO).build().unwrap();
    let _guard = bench.store.lock(KEY, Duration::ZERO).await.unwrap();
    assert!(manager.access_token().await.unwrap_err().is_retryable());
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 15.
#[tokio::test]
async fn a_store_that_panics_is_an_error_and_the_next_call_works() {
    let bench = Bench::new().await;
    let (store, manager) = watched(&bench, false).await;
    for _ in 0..2 {
        store.panics.store(1, Ordering::SeqCst);
        assert!(manager.access_token().await.unwrap_err().is_retryable());
    }
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}
