//! Calls while a logout deletes the stored record.

use std::io::ErrorKind;
use std::time::Duration;

use tokio::task::yield_now;

use super::bench::{
    Bench, DAY, KEY, begin_login, call, event, events_so_far, log_in, refusal, token,
};
use crate::auth::store::{Gate, HookedStore, StoreCall};
use crate::auth::{SessionState, TokenManager, TokenSource, TokenStore};

/// Fresh tokens, a manager that has read nothing yet, and what holds a record on its way to it, or its removal.
async fn slow() -> (Bench, TokenManager, Gate, Gate) {
    let bench = Bench::new();
    bench.seed(Duration::ZERO).await;
    let store = HookedStore::new(&bench.store, |_| Ok(()));
    let manager = bench.manager_on(store.clone());
    (bench, manager, store.loaded, store.removing)
}

async fn assert_logged_out(manager: &TokenManager) {
    let error = refusal(manager).await;
    assert!(error.is_reauth_required(), "{error:?}");
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedOut));
    assert!(manager.current().is_none() && manager.subject().is_none());
}

/// Row 24.
#[tokio::test]
async fn nobody_is_served_while_a_logout_waits_for_the_lock() {
    for (age, has_read) in [
        (Duration::ZERO, true),
        (Duration::ZERO, false),
        (DAY, false),
    ] {
        let bench = Bench::new();
        bench.seed(age).await;
        let manager = bench.manager();
        if has_read {
            token(&manager).await;
        }
        let mut events = manager.events();
        let other = bench.store.lock(KEY, Duration::ZERO).await.unwrap();
        let logout = tokio::spawn(manager.logout(None));
        assert_logged_out(&manager).await;
        drop(other);
        assert!(logout.await.unwrap().problems.is_empty());
        assert_logged_out(&manager).await;
        assert!(bench.stored().await.is_none());
        let expected = ["LoggedOut { elsewhere: false }"];
        assert_eq!(events_so_far(&mut events), expected);
        assert_eq!((bench.idp.refreshes(), bench.idp.revoked().len()), (0, 1));
    }
}

/// Row 24. A login wins.
#[tokio::test]
async fn nobody_is_served_while_the_store_is_slow_to_delete_the_record() {
    for logs_in in [false, true] {
        let (bench, manager, _, removing) = slow().await;
        removing.close();
        token(&manager).await;
        let logout = tokio::spawn(manager.logout(None));
        removing.arrived().await;
        assert_logged_out(&manager).await;
        let epoch = manager.0.state().epoch;
        let login = logs_in.then(|| begin_login(&bench, &manager, "kim"));
        while logs_in && manager.0.state().epoch == epoch {
            yield_now().await;
        }
        // The tokens of a login wait for the lock: until then there are none.
        assert_logged_out(&manager).await;
        removing.open();
        assert!(logout.await.unwrap().problems.is_empty());
        if let Some(login) = login {
            drop(login.await.unwrap().unwrap());
        } else {
            assert_logged_out(&manager).await;
            // Any user may follow.
            log_in(&bench, &bench.manager(), "kim").await;
        }
        assert_eq!(token(&manager).await, "at-2");
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    }
}

/// Row 24. The record is read before a logout, or while it runs, and arrives after it.
#[tokio::test]
async fn a_record_that_was_read_before_its_deletion_is_not_served_after_it() {
    for (before, elsewhere) in [(true, false), (false, false), (false, true)] {
        let (bench, manager, loaded, removing) = slow().await;
        if !before && !elsewhere {
            removing.close();
        }
        let read = || {
            loaded.close();
            call(&manager)
        };
        let early = before.then(read);
        if before {
            loaded.arrived().await;
        }
        let lock = bench.store.lock(KEY, Duration::ZERO).await.unwrap();
        let logout = tokio::spawn(manager.logout(None));
        let caller = early.unwrap_or_else(read);
        if !before {
            loaded.arrived().await;
        }
        if elsewhere {
            // Another process deletes it first: this one finds nothing.
            let version = bench.record().await.version;
            assert!(bench.store.remove(KEY, version).await.unwrap());
        }
        drop(lock);
        removing.open();
        assert!(logout.await.unwrap().problems.is_empty());
        loaded.open();
        let error = caller.await.unwrap().unwrap_err();
        assert!(error.is_reauth_required(), "{error:?}");
        assert_logged_out(&manager).await;
    }
}

/// Row 48. It is found again, as by any other process: the report has the error.
#[tokio::test]
async fn a_record_that_cannot_be_deleted_is_reported_and_its_token_revoked() {
    let bench = Bench::new();
    bench.seed(Duration::ZERO).await;
    let is_removal = |call: StoreCall<'_>| matches!(call, StoreCall::Remove);
    let (store, _) = HookedStore::failing(&bench.store, ErrorKind::Other, is_removal);
    let manager = bench.manager_on(store);
    token(&manager).await;
    let mut events = manager.events();
    let report = manager.logout(Some("nowhere")).await;
    // The record, and the address to return to.
    assert_eq!(report.problems.len(), 2, "{:?}", report.problems);
    assert_eq!(bench.idp.revoked(), ["rt-1"]);
    assert!(manager.current().is_none() && manager.subject().is_none());
    event(&mut events, "LoggedOut").await;
    assert_eq!(token(&manager).await, "at-1");
}
