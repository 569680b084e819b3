//! Faults of databases and networks.

use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::{Record, TokenManager, TokenStore};

use super::database::{self, Database, below, chain};
use processes::{Mode};
use crate::stores::sessions::{KEY, LIFETIME, fake, log_in, manager, start};

pub(super) fn record(generation: u64) -> Record {
    let text = format!(
        r#"{{"form": 1, "tokens": {{"access_token": "at", "refresh_token": "rt", "issued_at_ms": 1795000000000,
        "lifetime_ms": 3600000, "generation": {generation}}}}}"#
    );
    Record::from_secret_json(&text.into()).unwrap()
}

/// Checks that the token is served until it expires; returns the store error after that. No request is sent to the provider.
async fn serves_until_it_expires(manager: &TokenManager, clock: &Clock) -> envd_sdk::Error {
    clock.advance(LIFETIME / 10 * 9);
    for _ in 0..3 {
        manager.access_token().await.unwrap();
        assert!(manager.flush(Duration::from_secs(30)).await);
    }
    clock.advance(LIFETIME);
    let error = manager.access_token().await.unwrap_err();
    assert!(
        error.is_store() && !error.is_reauth_required(),
        "{}",
        chain(&error)
    );
    error
}

#[tokio::test]
async fn on_a_read_only_database_a_token_is_served_and_no_refresh_is_sent() {
    let database = Database::new().await;
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    let pool = database::pool_with("-c default_transaction_read_only=on", 2);
    let store = database::store(&pool, &database.schema);
    let swapped = store.swap("new", None, &record(1)).await;
    assert!(swapped.unwrap_err().is_denied());
    let (clock, before) = (Clock::manual(start()), fake.token_requests());
    let url = fake.token_url();
    let manager = manager(url.as_str(), database::sealed(store), clock.clone());
    let manager = manager.background(true).build().unwrap();
    manager.access_token().await.unwrap();
    let error = serves_until_it_expires(&manager, &clock).await;
    assert!(below(&error).is_denied());
    assert_eq!(fake.token_requests(), before);
}

#[tokio::test]
async fn on_a_full_disk_a_token_is_served_and_no_refresh_is_sent() {
    let database = Database::new().await;
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    // Raises the error code of a full disk; a really full disk needs root privileges.
    database
        .run(
            "CREATE FUNCTION {table}_full() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
             CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table}
             FOR EACH ROW EXECUTE FUNCTION {table}_full()",
        )
        .await;
    let (clock, before) = (Clock::manual(start()), fake.token_requests());
    let url = fake.token_url();
    let manager = manager(url.as_str(), database.sealed(), clock.clone());
    let manager = manager.background(true).build().unwrap();
    manager.access_token().await.unwrap();
    let error = serves_until_it_expires(&manager, &clock).await;
    assert!(below(&error).is_full());
    assert_eq!(fake.token_requests(), before);
    database.run("DROP TRIGGER full_disk ON {table}").await;
    clock.advance(LIFETIME);
    manager.access_token().await.unwrap();
    assert_eq!(fake.token_requests(), before + 1);
}

#[tokio::test]
async fn while_the_network_is_down_a_token_is_served_and_then_the_error_is_retryable() {
    let database = Database::new().await;
    let (fake, proxy) = (fake().await, database::proxy().await);
    log_in(&fake, database.sealed()).await;
    let store = database::store(&database::pool_through(&proxy, 3), &database.schema);
    let (clock, before) = (Clock::manual(start()), fake.token_requests());
    let url = fake.token_url();
    let manager = manager(url.as_str(), database::sealed(store), clock.clone());
    let manager = manager.background(true).build().unwrap();
    manager.access_token().await.unwrap();
    proxy.set(Mode::Cut);
    let error = serves_until_it_expires(&manager, &clock).await;
    assert!(
        below(&error).is_unreachable() && error.is_retryable(),
        "{}",
        chain(&error)
    );
    assert_eq!(fake.token_requests(), before);
    proxy.set(Mode::Pass);
    clock.advance(LIFETIME);
    manager.access_token().await.unwrap();
    assert_eq!(fake.token_requests(), before + 1);
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
    assert!(error.is_unreachable(), "{}", chain(&error));
    proxy.set(Mode::HoldRequests);
    assert!(store.load(KEY).await.unwrap_err().is_unreachable());
    let locked = store.lock(KEY, Duration::from_secs(10)).await;
    assert!(locked.unwrap_err().is_unreachable());
}

#[tokio::test]
async fn a_missing_server_is_unreachable() {
    let url = "postgres://user@127.0.0.1:1/none";
    let pool = envd_sdk::auth::postgres::loopback_pool(url, 2).unwrap();
    let store = database::store(&pool, "envd");
    let error = store.load(KEY).await.unwrap_err();
    assert!(error.is_unreachable(), "{}", chain(&error));
    let error: envd_sdk::Error = error.into();
    assert!(error.is_store() && error.is_retryable());
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
