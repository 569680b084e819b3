//! Calls while a logout deletes the stored record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::bench::{Bench, DAY, KEY, callback, events_so_far, log_in};
use crate::auth::store::{HookedStore, StoreCall};
use crate::auth::{
    MemoryStore, Record, SessionState, StoreError, StoreFuture, StoreGuard, TokenManager,
    TokenSource, TokenStore, Version, Versioned,
};

/// Holds the first call that comes to it until it is opened.
struct Gate {
    is_closed: AtomicBool,
    arrived: Semaphore,
    opened: Semaphore,
}

impl Gate {
    fn new(is_closed: bool) -> Arc<Self> {
        Arc::new(Self {
            is_closed: is_closed.into(),
            arrived: Semaphore::new(0),
            opened: Semaphore::new(0),
        })
    }

    async fn pass(&self) {
        if self.is_closed.swap(false, Ordering::SeqCst) {
            self.arrived.add_permits(1);
            self.opened.acquire().await.unwrap().forget();
        }
    }

    async fn arrived(&self) {
        self.arrived.acquire().await.unwrap().forget();
    }

    fn open(&self) {
        self.opened.add_permits(1);
    }
}

/// A memory store that holds a record on its way to the reader, or a removal before it is done.
struct SlowStore {
    inner: MemoryStore,
    load: Arc<Gate>,
    remove: Arc<Gate>,
}

impl TokenStore for SlowStore {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            let stored = self.inner.load(key).await;
            self.load.pass().await;
            stored
        })
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        self.inner.swap(key, expected, new)
    }

    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            self.remove.pass().await;
            self.inner.remove(key, expected).await
        })
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        self.inner.lock(key, wait)
    }
}

/// A manager that has read nothing yet, and the gates of its store.
fn slow(bench: &Bench, holds_removal: bool) -> (TokenManager, Arc<Gate>, Arc<Gate>) {
    let (load, remove) = (Gate::new(false), Gate::new(holds_removal));
    let store = SlowStore {
        inner: bench.store.clone(),
        load: load.clone(),
        remove: remove.clone(),
    };
    let manager = bench.builder().store(store).build().unwrap();
    (manager, load, remove)
}

async fn assert_logged_out(manager: &TokenManager) {
    let error = manager.access_token().await.unwrap_err();
    assert!(error.is_reauth_required(), "{error:?}");
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedOut));
    assert!(manager.current().is_none() && manager.subject().is_none());
}

/// Row 24.
#[tokio::test]
async fn nobody_is_served_while_a_logout_waits_for_the_lock() {
    for age in [Duration::ZERO, DAY] {
        for has_read in [true, false] {
            let bench = Bench::new().await;
            bench.seed(age).await;
            let manager = bench.manager();
            if has_read && age.is_zero() {
                manager.access_token().await.unwrap();
            }
            let mut events = manager.events();
            let other = bench.store.lock(KEY, Duration::ZERO).await.unwrap();
            let logout = tokio::spawn(manager.logout(None));
            assert_logged_out(&manager).await;
            drop(other);
            assert!(logout.await.unwrap().problems.is_empty());
            assert_logged_out(&manager).await;
            assert!(bench.stored().await.is_none());
            assert_eq!(
                events_so_far(&mut events),
                ["LoggedOut { elsewhere: false }"]
            );
            assert_eq!((bench.idp.refreshes(), bench.idp.revoked().len()), (0, 1));
        }
    }
}

/// Row 24.
#[tokio::test]
async fn nobody_is_served_while_the_store_is_slow_to_delete_the_record() {
    let bench = Bench::new().await;
    bench.seed(Duration::ZERO).await;
    let (manager, _, remove) = slow(&bench, true);
    manager.access_token().await.unwrap();
    let logout = tokio::spawn(manager.logout(None));
    remove.arrived().await;
    assert_logged_out(&manager).await;
    remove.open();
    assert!(logout.await.unwrap().problems.is_empty());
    assert_logged_out(&manager).await;
    // Any user may follow.
    log_in(&bench, &bench.manager(), "kim").await;
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 24. The record is read before a logout, or while it runs, and arrives after it.
#[tokio::test]
async fn a_record_that_was_read_before_its_deletion_is_not_served_after_it() {
    for (before, elsewhere) in [(true, false), (false, false), (false, true)] {
        let bench = Bench::new().await;
        bench.seed(Duration::ZERO).await;
        let (manager, load, remove) = slow(&bench, !before && !elsewhere);
        let read = || {
            load.is_closed.store(true, Ordering::SeqCst);
            let manager = manager.clone();
            tokio::spawn(async move { manager.access_token().await })
        };
        let early = before.then(read);
        if before {
            load.arrived().await;
        }
        let lock = bench.store.lock(KEY, Duration::ZERO).await.unwrap();
        let logout = tokio::spawn(manager.logout(None));
        let caller = early.unwrap_or_else(read);
        if !before {
            load.arrived().await;
        }
        if elsewhere {
            // Another process deletes it first: this one finds nothing.
            let stored = bench.store.load(KEY).await.unwrap().unwrap();
            assert!(bench.store.remove(KEY, stored.version).await.unwrap());
        }
        drop(lock);
        remove.open();
        assert!(logout.await.unwrap().problems.is_empty());
        load.open();
        let error = caller.await.unwrap().unwrap_err();
        assert!(error.is_reauth_required(), "{error:?}");
        assert_logged_out(&manager).await;
    }
}

/// Row 24.
#[tokio::test]
async fn a_login_during_the_deletion_of_the_record_wins() {
    let bench = Bench::new().await;
    bench.seed(Duration::ZERO).await;
    let (manager, _, remove) = slow(&bench, true);
    manager.access_token().await.unwrap();
    let logout = tokio::spawn(manager.logout(None));
    remove.arrived().await;
    let epoch = manager.0.state().epoch;
    let (login, address) = callback(&bench, &manager, "kim");
    let login = tokio::spawn({
        let manager = manager.clone();
        async move { manager.complete_login(login, &address).await }
    });
    while manager.0.state().epoch == epoch {
        tokio::task::yield_now().await;
    }
    // Its tokens wait for the lock: until then there are none.
    assert_logged_out(&manager).await;
    remove.open();
    login.await.unwrap().unwrap();
    assert!(logout.await.unwrap().problems.is_empty());
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 48. As in any other process: the report has the error.
#[tokio::test]
async fn a_record_that_could_not_be_deleted_is_found_again() {
    let bench = Bench::new().await;
    bench.seed(Duration::ZERO).await;
    let store = HookedStore::new(bench.store.clone(), |call| match call {
        StoreCall::Remove => Err(StoreError::new("the disk is read-only")),
        _ => Ok(()),
    });
    let manager = bench.builder().store(store).build().unwrap();
    assert_eq!(manager.logout(None).await.problems.len(), 1);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
}
