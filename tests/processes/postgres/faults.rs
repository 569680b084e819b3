//! Faults of databases and networks.

use std::time::Duration;

use envd_sdk::ErrorKind;
use envd_sdk::auth::{Record, StoreErrorKind, TokenStore};
use envd_sync::store::SyncStore;
use processes::Mode;

use super::copies::{ACCOUNT, batch};
use super::database::{self, Database, is_of};
use crate::stores::sessions::KEY;

pub(super) fn record(generation: u64) -> Record {
    let text = format!(
        r#"{{"form": 1, "tokens": {{"access_token": "at", "refresh_token": "rt", "issued_at_ms": 1795000000000,
        "lifetime_ms": 3600000, "generation": {generation}}}}}"#
    );
    Record::from_secret_json(&text.into()).unwrap()
}

#[tokio::test]
async fn read_only_and_full_databases_are_errors_of_their_own() {
    let database = Database::new().await;
    let pool = database::pool_with("-c default_transaction_read_only=on", 2);
    let read_only = database::store(&pool, &database.schema);
    let store = database.store();
    let error = read_only.swap(KEY, None, &record(1)).await.unwrap_err();
    is_of(&error, StoreErrorKind::Denied);
    database.fill("{table}", "INSERT OR UPDATE").await;
    let error = store.swap(KEY, None, &record(1)).await.unwrap_err();
    is_of(&error, StoreErrorKind::Full);
    database.run("DROP TRIGGER full_disk ON {table}").await;
    assert!(store.swap(KEY, None, &record(1)).await.unwrap().is_some());
}

/// After a failover, sessions with the former primary are read-only, and new sessions reach the new primary.
#[tokio::test]
async fn after_a_failover_no_read_only_session_stays_in_the_pool() {
    const SIZE: usize = 4;
    let database = Database::new().await;
    database.sync().migrate().await.unwrap();
    let pool = database::pool(SIZE);
    let all = async || {
        // Concurrently, so that each uses a different session.
        let mut sessions = Vec::new();
        for _ in 0..SIZE {
            sessions.push(pool.get().await.unwrap());
        }
        sessions
    };
    let fail_over = async || {
        for session in all().await {
            let set = "SET default_transaction_read_only = on";
            session.batch_execute(set).await.unwrap();
        }
    };
    let ensure_writable = async || {
        for session in all().await {
            let show = "SHOW default_transaction_read_only";
            let row = session.query_one(show, &[]).await.unwrap();
            assert_eq!(row.get::<_, &str>(0), "off");
        }
    };
    let tokens = database::store(&pool, &database.schema);
    fail_over().await;
    let version = tokens.swap(KEY, None, &record(1)).await.unwrap();
    ensure_writable().await;
    fail_over().await;
    assert!(tokens.remove(KEY, version.unwrap()).await.unwrap());
    ensure_writable().await;
    let copies = database::sync(&pool, &database.schema);
    fail_over().await;
    assert!(copies.commit(ACCOUNT, &batch(0)).await.unwrap());
    ensure_writable().await;
}

#[tokio::test]
async fn a_connection_without_replies_times_out() {
    let database = Database::new().await;
    let proxy = database::proxy().await;
    let pool = database::pool_through(&proxy, 2);
    let store = database::settings(&pool, &database.schema);
    let store = store.time_out(Duration::from_millis(100)).build().unwrap();
    let error = loop {
        // Connect first: a new connection may take longer than the limit on a busy machine.
        match store.load(KEY).await {
            Ok(_) => proxy.set(Mode::HoldReplies),
            Err(error) => break error,
        }
    };
    is_of(&error, StoreErrorKind::Unreachable);
    proxy.set(Mode::HoldRequests);
    assert!(store.load(KEY).await.unwrap_err().kind() == StoreErrorKind::Unreachable);
    let locked = store.lock(KEY, Duration::from_secs(10)).await;
    assert!(locked.unwrap_err().kind() == StoreErrorKind::Unreachable);
}

#[tokio::test]
async fn a_missing_server_is_unreachable() {
    let url = "postgres://user@127.0.0.1:1/none";
    let pool = envd_postgres::PostgresPool::from_url(url, 2).unwrap();
    let store = database::store(pool.pool(), "envd");
    let error = store.load(KEY).await.unwrap_err();
    is_of(&error, StoreErrorKind::Unreachable);
    let error: envd_sdk::Error = error.into();
    assert!(error.kind() == ErrorKind::Store && error.is_retryable());
}

#[tokio::test]
async fn a_write_whose_reply_was_lost_is_repeated_and_applied_once() {
    let database = Database::new().await;
    let proxy = database::proxy().await;
    let far = database::store(&database::pool_through(&proxy, 3), &database.schema);
    let mut version = None;
    for generation in 1..5 {
        far.load(KEY).await.unwrap();
        proxy.set(Mode::HoldReplies);
        let writing = tokio::spawn({
            let far = far.clone();
            async move { far.swap(KEY, version, &record(generation)).await }
        });
        proxy.stopped().await;
        // The server has committed the write; the reply is lost with the connection.
        proxy.set(Mode::Cut);
        proxy.set(Mode::Pass);
        let written = writing.await.unwrap().unwrap();
        let stored = database.store().load(KEY).await.unwrap().unwrap();
        assert_eq!(stored.record.tokens().generation(), generation);
        assert_eq!(written, Some(stored.version));
        version = written;
    }
    // A later write of another host is not overwritten.
    let other = database.store().swap(KEY, version, &record(9)).await;
    assert!(other.unwrap().is_some());
    assert!(far.swap(KEY, version, &record(10)).await.unwrap().is_none());
}
