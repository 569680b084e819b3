//! Which accounts are kept and evicted, and that tokens of accounts do not mix.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Barrier;

use super::{TokenManagerSet, TokenManagerSetBuilder};
use crate::auth::manager::tests::bench::{Bench, DAY, SECOND, advance_until, call, token};
use crate::auth::store::{HookedStore, StoreCall, tokens};
use crate::auth::{Record, TokenStore};

const IDLE: Duration = Duration::from_secs(900);

fn builder(bench: &Bench) -> TokenManagerSetBuilder {
    TokenManagerSet::builder(bench.builder())
}

fn set_of(bench: &Bench, capacity: usize) -> TokenManagerSet {
    builder(bench).capacity(capacity).build().unwrap()
}

/// Fresh tokens with the name of each account.
async fn with_accounts(keys: &[&str]) -> Bench {
    let bench = Bench::new();
    for key in keys {
        let mut tokens = tokens(1);
        tokens.access_token = format!("at-{key}").into();
        tokens.subject = Some((*key).to_owned());
        tokens.issued_at = bench.clock.now();
        let record = Record::new(tokens);
        bench.store.swap(key, None, &record).await.unwrap().unwrap();
    }
    bench
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_has_one_manager_under_concurrency() {
    let bench = Bench::expired().await;
    let set = builder(&bench).build().unwrap();
    let barrier = Arc::new(Barrier::new(50));
    let caller = |_| {
        let (set, barrier) = (set.clone(), barrier.clone());
        tokio::spawn(async move {
            barrier.wait().await;
            token(&set.manager("sam").unwrap()).await
        })
    };
    let callers: Vec<_> = (0..50).map(caller).collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), "at-2");
    }
    assert_eq!((set.len(), bench.idp.refreshes()), (1, 1));
}

/// Row 10.
#[tokio::test]
async fn each_key_gets_the_tokens_of_its_own_account_only() {
    let keys = ["sam", "kim", "Sam", "sam2", "alex"];
    let bench = with_accounts(&keys).await;
    let set = set_of(&bench, 3);
    // Five users and a capacity of three, in changing orders.
    for round in 0..20 {
        for step in 0..keys.len() {
            let key = keys[(round * 3 + step * 2) % keys.len()];
            let manager = set.manager(key).unwrap();
            assert_eq!(token(&manager).await, format!("at-{key}"));
            assert_eq!(manager.subject().as_deref(), Some(key));
        }
    }
    let nobody = set.manager("nobody").unwrap();
    let error = nobody.access_token().await.unwrap_err();
    assert!(error.is_reauth_required());
}

/// Row 10. Nor is an account with a running refresh evicted.
#[tokio::test]
async fn the_refresh_of_one_account_that_hangs_does_not_slow_another() {
    let bench = with_accounts(&["kim"]).await;
    bench.seed(DAY).await;
    let set = set_of(&bench, 2);
    let held = bench.idp.hold();
    let caller = call(&set.manager("sam").unwrap());
    held.arrived().await;
    assert_eq!(token(&set.manager("kim").unwrap()).await, "at-kim");
    // The caller is dropped; its refresh outlives it and keeps the account in memory.
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    bench.clock.advance(DAY);
    let _kim = set.manager("kim").unwrap();
    assert!(set.manager("alex").unwrap_err().is_retryable());
    assert_eq!(set.len(), 2);
    held.open();
}

#[tokio::test]
async fn an_idle_account_is_evicted_and_loaded_again_from_the_store() {
    let bench = with_accounts(&["sam"]).await;
    let set = builder(&bench).build().unwrap();
    token(&set.manager("sam").unwrap()).await;
    set.manager("kim").unwrap();
    bench.clock.advance(IDLE / 2);
    set.manager("kim").unwrap();
    bench.clock.advance(IDLE / 2 + SECOND);
    // No timer: a new account triggers the eviction.
    assert_eq!(set.len(), 2);
    set.manager("alex").unwrap();
    assert_eq!(set.len(), 2, "kim was used, sam was not");
    assert_eq!(token(&set.manager("sam").unwrap()).await, "at-sam");
}

#[tokio::test]
async fn a_manager_that_is_held_is_not_evicted() {
    let bench = with_accounts(&["sam"]).await;
    let set = builder(&bench).build().unwrap();
    let held = set.manager("sam").unwrap();
    token(&held).await;
    for other in 0..100 {
        bench.clock.advance(IDLE + SECOND);
        set.manager(&format!("user-{other}")).unwrap();
    }
    assert!(set.len() <= 3, "{}", set.len());
    held.logout(None).await;
    let same = set.manager("sam").unwrap();
    assert!(same.subject().is_none() && !same.is_idle());
    // A set that is full of them is an error.
    let set = set_of(&bench, 2);
    let (one, _two) = (set.manager("1").unwrap(), set.manager("2").unwrap());
    assert!(set.manager("3").unwrap_err().is_retryable());
    assert!(set.manager("1").is_ok());
    drop(one);
    assert!(set.manager("3").is_ok());
    assert_eq!(set.len(), 2);
}

#[tokio::test]
async fn a_full_set_evicts_the_least_recently_used_account() {
    let bench = with_accounts(&["a", "b", "c", "d"]).await;
    let set = set_of(&bench, 3);
    for key in ["a", "b", "c", "a", "d"] {
        bench.clock.advance(SECOND);
        token(&set.manager(key).unwrap()).await;
        assert!(set.len() <= 3);
    }
    let read = |key: &str| set.manager(key).unwrap().subject();
    // Accounts in memory have a subject without a read of the store.
    assert_eq!(read("a").as_deref(), Some("a"));
    assert_eq!(read("c").as_deref(), Some("c"));
    assert_eq!(read("b"), None);
}

/// Row 17.
#[tokio::test]
async fn an_account_with_unstored_tokens_is_not_evicted() {
    let bench = Bench::expired().await;
    // Marks on old tokens can be stored, new tokens cannot.
    let full = ErrorKind::StorageFull;
    let is_new =
        |call: StoreCall<'_>| matches!(call, StoreCall::Swap(new) if new.tokens().generation() > 1);
    let (store, is_full) = HookedStore::failing(&bench.store, full, is_new);
    let template = bench.builder().store(store);
    let set = TokenManagerSet::builder(template).capacity(1);
    let set = set.build().unwrap();
    assert_eq!(token(&set.manager("sam").unwrap()).await, "at-2");
    // The account is idle, but the only copy of its refresh token is in memory.
    for _ in 0..10 {
        bench.clock.advance(IDLE + SECOND);
        assert!(set.manager("kim").unwrap_err().is_retryable());
    }
    let sam = set.manager("sam").unwrap();
    is_full.store(false, Ordering::SeqCst);
    advance_until(&bench, async || sam.flush(Duration::ZERO).await).await;
    drop(sam);
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(bench.idp.refreshes(), 1);
    bench.clock.advance(IDLE + SECOND);
    set.manager("kim").unwrap();
    assert_eq!(set.len(), 1);
}

#[tokio::test]
async fn bad_settings_and_keys_are_refused() {
    let bench = Bench::new();
    let empty = builder(&bench).capacity(0).build();
    assert!(empty.unwrap_err().is_config());
    let set = builder(&bench).build().unwrap();
    assert!(set.manager("").unwrap_err().is_config());
    assert!(set.is_empty());
    set.manager("sam@example.com").unwrap();
    assert_eq!(format!("{set:?}"), "TokenManagerSet(1 accounts)");
}
