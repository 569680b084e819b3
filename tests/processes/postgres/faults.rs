//! Faults of databases and networks.

use std::time::Duration;

use envd_postgres::PostgresStore;
use envd_sdk::auth::{Record, StoreErrorKind, TokenManager, TokenStore};
use envd_sdk::fake::Fake;
use envd_sdk::{Clock, ErrorKind};
use envd_sync::store::SyncStore;
use processes::Mode;

use super::copies::{ACCOUNT, batch};
use super::database::{self, Database, below, chain, is_of};
use crate::stores::sessions::{KEY, LIFETIME, fake, log_in, manager, start};

pub(super) fn record(generation: u64) -> Record {
    let text = format!(
        r#"{{"form": 1, "tokens": {{"access_token": "at", "refresh_token": "rt", "issued_at_ms": 1795000000000,
        "lifetime_ms": 3600000, "generation": {generation}}}}}"#
    );
    Record::from_secret_json(&text.into()).unwrap()
}

/// A user who has logged in, and a host with the tokens.
struct Host {
    fake: Fake,
    manager: TokenManager,
    clock: Clock,
    before: usize,
}

impl Host {
    async fn new(database: &Database, store: PostgresStore) -> Self {
        let (fake, clock) = (fake().await, Clock::manual(start()));
        log_in(&fake, database.sealed()).await;
        let url = fake.token_url();
        let manager = manager(url.as_str(), database::sealed(store), clock.clone());
        let manager = manager.background(true).build().unwrap();
        manager.access_token().await.unwrap();
        Self {
            before: fake.token_requests(),
            fake,
            manager,
            clock,
        }
    }

    /// Checks that the token is served until it expires, and that no request is sent to the provider; returns the store error
    /// after that.
    async fn serves_until_it_expires(&self) -> envd_sdk::Error {
        self.clock.advance(LIFETIME / 10 * 9);
        for _ in 0..3 {
            self.manager.access_token().await.unwrap();
            assert!(self.manager.flush(Duration::from_secs(30)).await);
        }
        self.clock.advance(LIFETIME);
        let error = self.manager.access_token().await.unwrap_err();
        let is_of_store = error.kind() == ErrorKind::Store && !error.is_reauth_required();
        assert!(is_of_store, "{}", chain(&error));
        assert_eq!(self.fake.token_requests(), self.before);
        error
    }

    async fn refreshes_once(&self) {
        self.clock.advance(LIFETIME);
        self.manager.access_token().await.unwrap();
        assert_eq!(self.fake.token_requests(), self.before + 1);
    }
}

#[tokio::test]
async fn on_a_read_only_database_a_token_is_served_and_no_refresh_is_sent() {
    let database = Database::new().await;
    let pool = database::pool_with("-c default_transaction_read_only=on", 2);
    let store = database::store(&pool, &database.schema);
    let swapped = store.swap("new", None, &record(1)).await;
    assert!(swapped.unwrap_err().kind() == StoreErrorKind::Denied);
    let host = Host::new(&database, store).await;
    let error = host.serves_until_it_expires().await;
    assert!(below(&error).kind() == StoreErrorKind::Denied);
}

/// After a failover, sessions with the former primary are read-only, and new ones are with the new primary.
#[tokio::test]
async fn after_a_failover_no_read_only_session_stays_in_the_pool() {
    const SIZE: usize = 4;
    let database = Database::new().await;
    database.sync().migrate().await.unwrap();
    let pool = database::pool(SIZE);
    let all = async || {
        // At once, so each session is another one.
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
async fn on_a_full_disk_a_token_is_served_and_no_refresh_is_sent() {
    let database = Database::new().await;
    let host = Host::new(&database, database.store()).await;
    database.fill("{table}", "INSERT OR UPDATE").await;
    let error = host.serves_until_it_expires().await;
    assert!(below(&error).kind() == StoreErrorKind::Full);
    database.run("DROP TRIGGER full_disk ON {table}").await;
    host.refreshes_once().await;
}

#[tokio::test]
async fn while_the_network_is_down_a_token_is_served_and_then_the_error_is_retryable() {
    let (database, proxy) = (Database::new().await, database::proxy().await);
    let store = database::store(&database::pool_through(&proxy, 3), &database.schema);
    let host = Host::new(&database, store).await;
    proxy.set(Mode::Cut);
    let error = host.serves_until_it_expires().await;
    let unreachable = below(&error).kind() == StoreErrorKind::Unreachable;
    assert!(unreachable && error.is_retryable(), "{}", chain(&error));
    proxy.set(Mode::Pass);
    host.refreshes_once().await;
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
    let pool = envd_postgres::loopback_pool(url, 2).unwrap();
    let store = database::store(&pool, "envd");
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
