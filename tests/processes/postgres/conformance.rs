//! The requirements of both stores, and further guarantees of the token store.

use std::time::Duration;

use envd_sdk::auth::TokenStore;
use envd_sdk::fake::check_token_store;
use envd_sync::store::check_sync_store;

use super::database::{self, Database, pool};
use crate::stores::host::eight_refresh_once_each_time;
use crate::stores::sessions::{KEY, fake, log_in};

const PATIENT: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_keeps_the_requirements() {
    let database = Database::new().await;
    let schema = database.schema.clone();
    // Each store has its own pool: only the server is shared.
    check_token_store(move || database::store(&pool(3), &schema)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sealed_store_keeps_the_requirements() {
    let database = Database::new().await;
    let store = database::sealed(database::store(&pool(16), &database.schema));
    check_token_store(move || store.clone()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_of_copies_keeps_the_requirements() {
    let (database, _) = Database::new_sync().await;
    let schema = database.schema.clone();
    check_sync_store(move || database::sync(&pool(2), &schema)).await;
}

/// With more locks than connections in the pool, each holder can still write, and the others wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locks_leave_a_connection_for_their_writes() {
    let database = Database::new().await;
    let store = database::store(&pool(2), &database.schema);
    let tasks = (0..20).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let key = format!("user-{number}");
            let (guard, stored) = store.lock_and_load(&key, PATIENT).await.unwrap();
            assert!(stored.is_none());
            let record = super::faults::record(number);
            let version = store.swap(&key, None, &record).await.unwrap();
            drop(guard);
            let (_guard, stored) = store.lock_and_load(&key, PATIENT).await.unwrap();
            let stored = stored.unwrap();
            assert_eq!(Some(stored.version), version);
            assert_eq!(stored.record.tokens().generation(), number);
        })
    });
    let tasks: Vec<_> = tasks.collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn locks_of_two_tables_are_independent() {
    let database = Database::new().await;
    let other = database::settings(&pool(2), &database.schema);
    let other = other.table("others").build().unwrap();
    other.migrate().await.unwrap();
    let _held = database.store().lock(KEY, Duration::ZERO).await.unwrap();
    other.lock(KEY, Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn a_lock_is_freed_by_the_end_of_its_connection() {
    let database = Database::new().await;
    let proxy = database::proxy().await;
    let far = database::store(&database::pool_through(&proxy, 2), &database.schema);
    let guard = far.lock(KEY, Duration::ZERO).await.unwrap();
    let near = database.store();
    assert!(near.lock(KEY, Duration::ZERO).await.is_err());
    proxy.set(processes::Mode::Cut);
    let _free = near.lock(KEY, PATIENT).await.unwrap();
    drop(guard);
}

#[tokio::test]
async fn the_longest_wait_for_a_lock_does_not_overflow() {
    let database = Database::new().await;
    let store = database.store();
    drop(store.lock(KEY, Duration::MAX).await.unwrap());
    let (_held, stored) = store.lock_and_load(KEY, Duration::MAX).await.unwrap();
    assert!(stored.is_none());
}

/// Row 8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_hosts_one_refreshes_at_each_of_a_hundred_expiries() {
    let database = Database::new().await;
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    eight_refresh_once_each_time(&fake, &database.of_host());
}
