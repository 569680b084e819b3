//! A schema for one test.

use std::env;
use std::thread;
use std::time::Duration;

use envd_postgres::PostgresSync;
use envd_postgres::deadpool_postgres::tokio_postgres::config::Host;
use envd_postgres::deadpool_postgres::tokio_postgres::{Client, Config, NoTls};
use envd_postgres::deadpool_postgres::{Manager, Pool, Runtime};
use envd_postgres::{PostgresBuilder, PostgresPool, PostgresStore};
use envd_sdk::auth::sealed::{SealedStore, SealingKey};
use envd_sdk::auth::{StoreError, StoreErrorKind};
use processes::Proxy;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::both::Store;

pub(super) const URL: &str = "ENVD_SDK_TEST_POSTGRES";
pub(super) const RESTART: &str = "ENVD_SDK_TEST_POSTGRES_RESTART";

/// Shared by the tests that use the server; exclusive for a restart.
static SERVER: RwLock<()> = RwLock::const_new(());

#[allow(dead_code)]
pub(super) enum Access {
    Shared(RwLockReadGuard<'static, ()>),
    Exclusive(RwLockWriteGuard<'static, ()>),
}

impl Access {
    pub(super) async fn shared() -> Self {
        Self::Shared(SERVER.read().await)
    }
}

/// A schema with the tables of one test, deleted on drop.
pub(super) struct Database {
    pub(super) schema: String,
    _access: Access,
}

impl Database {
    /// Creates the tables of tokens.
    pub(super) async fn new() -> Self {
        let database = Self::empty().await;
        database.store().migrate().await.unwrap();
        database
    }

    /// Creates an empty schema.
    pub(super) async fn empty() -> Self {
        Self::of(Access::shared().await)
    }

    /// Creates the tables, with exclusive access to the server.
    pub(super) async fn new_exclusive() -> Self {
        let database = Self::of(Access::Exclusive(SERVER.write().await));
        database.store().migrate().await.unwrap();
        database
    }

    fn of(access: Access) -> Self {
        Self {
            // Capitals require quotes in every statement.
            schema: unique("EnvdTest"),
            _access: access,
        }
    }

    pub(super) fn store(&self) -> PostgresStore {
        store(&pool(4), &self.schema)
    }

    /// Creates the tables of copies.
    pub(super) async fn new_sync() -> (Self, PostgresSync) {
        let database = Self::empty().await;
        let store = database.sync();
        store.migrate().await.unwrap();
        (database, store)
    }

    /// The argument for a [host](crate::stores::host).
    pub(super) fn of_host(&self) -> String {
        format!("postgres {}", self.schema)
    }

    /// The store of copies, in the same schema.
    pub(super) fn sync(&self) -> PostgresSync {
        sync(&pool(4), &self.schema)
    }

    /// Both stores, each with its own connections.
    pub(super) fn both(&self) -> [Store; 2] {
        Store::both(&pool(4), &self.schema)
    }

    pub(super) fn sealed(&self) -> SealedStore<PostgresStore> {
        sealed(self.store())
    }

    /// Executes a statement on a separate connection; `{table}` stands for the table of tokens, `{schema}` for the schema.
    pub(super) async fn run(&self, statement: &str) {
        let statement = self.named(statement);
        client().await.batch_execute(&statement).await.unwrap();
    }

    /// Makes these statements on a table fail with the error code of a full disk; really filling a disk needs root privileges.
    pub(super) async fn fill(&self, table: &str, statements: &str) {
        self.run(&format!(
            "CREATE FUNCTION {{schema}}.full() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
             CREATE TRIGGER full_disk BEFORE {statements} ON {table}
             FOR EACH ROW EXECUTE FUNCTION {{schema}}.full()"
        ))
        .await;
    }

    pub(super) fn named(&self, statement: &str) -> String {
        let statement = statement.replace("{table}", "{schema}.tokens");
        statement.replace("{schema}", &format!("\"{}\"", self.schema))
    }

    /// Executes a query that returns one text.
    pub(super) async fn query_text(&self, query: &str) -> String {
        let query = self.named(query);
        let row = client().await.query_one(&query, &[]).await.unwrap();
        row.get::<_, Option<String>>(0).unwrap_or_default()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The runtime of the test may have stopped already, with open transactions.
        let statement = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_class ON relation = pg_class.oid
             WHERE relnamespace = to_regnamespace('\"{0}\"') AND pid <> pg_backend_pid();
             DROP SCHEMA IF EXISTS \"{0}\" CASCADE",
            self.schema
        );
        run_blocking(vec![statement]);
    }
}

/// A database with another encoding, deleted on drop.
pub(super) struct OtherDatabase(String);

impl OtherDatabase {
    pub(super) async fn new(encoding: &str) -> Self {
        let name = unique("envd_test").to_lowercase();
        let create =
            format!("CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0");
        client().await.batch_execute(&create).await.unwrap();
        Self(name)
    }

    pub(super) fn config(&self) -> Config {
        let mut config = config();
        config.dbname(&self.0);
        config
    }
}

impl Drop for OtherDatabase {
    fn drop(&mut self) {
        run_blocking(vec![format!("DROP DATABASE {} WITH (FORCE)", self.0)]);
    }
}

/// Executes statements on a separate runtime, for `drop`. Ignores errors: the test reports its own.
pub(super) fn run_blocking(statements: Vec<String>) {
    let done = thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let client = client().await;
            for statement in statements {
                let _ = client.batch_execute(&statement).await;
            }
        });
    });
    let _ = done.join();
}

/// A name that is unique to the test.
pub(super) fn unique(name: &str) -> String {
    let random = std::collections::hash_map::RandomState::new();
    let number = std::hash::BuildHasher::hash_one(&random, 0);
    format!("{name}_{number:016x}")
}

pub(super) fn store(pool: &Pool, schema: &str) -> PostgresStore {
    settings(pool, schema).build().unwrap()
}

pub(super) fn sync(pool: &Pool, schema: &str) -> PostgresSync {
    sync_settings(pool, schema).build().unwrap()
}

pub(super) fn sync_settings(pool: &Pool, schema: &str) -> PostgresBuilder<PostgresSync> {
    PostgresSync::builder(PostgresPool::from_pool(pool.clone()))
        .schema(schema)
        .time_out(Duration::from_secs(10))
}

pub(super) fn settings(pool: &Pool, schema: &str) -> PostgresBuilder<PostgresStore> {
    PostgresStore::builder(PostgresPool::from_pool(pool.clone()))
        .schema(schema)
        .time_out(Duration::from_secs(10))
}

pub(super) fn sealed(store: PostgresStore) -> SealedStore<PostgresStore> {
    SealedStore::new(store, SealingKey::new("test", &[42; 32]))
}

pub(super) fn pool(size: usize) -> Pool {
    pool_of(config(), size)
}

/// A pool through a proxy that can cut the connections.
pub(super) fn pool_through(proxy: &Proxy, size: usize) -> Pool {
    let mut config = config_without_host();
    config.host("127.0.0.1").port(proxy.address().port());
    pool_of(config, size)
}

pub(super) fn pool_with(options: &str, size: usize) -> Pool {
    let mut config = config();
    config.options(options);
    pool_of(config, size)
}

pub(super) fn pool_of(config: Config, size: usize) -> Pool {
    Pool::builder(Manager::new(config, NoTls))
        .max_size(size)
        .wait_timeout(Some(Duration::from_secs(30)))
        .runtime(Runtime::Tokio1)
        .build()
        .unwrap()
}

/// A proxy in front of the server.
pub(super) async fn proxy() -> Proxy {
    let config = config();
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let Host::Tcp(host) = &config.get_hosts()[0] else {
        panic!("{URL} must name a TCP address");
    };
    Proxy::start(host, port).await
}

pub(super) fn config() -> Config {
    let url = env::var(URL).unwrap_or_else(|_| panic!("{URL} has no connection string"));
    url.parse().unwrap()
}

pub(super) fn config_without_host() -> Config {
    let from = config();
    let mut config = Config::new();
    if let Some(user) = from.get_user() {
        config.user(user);
    }
    if let Some(password) = from.get_password() {
        config.password(password);
    }
    if let Some(name) = from.get_dbname() {
        config.dbname(name);
    }
    config
}

pub(super) async fn client() -> Client {
    connect(&config()).await
}

pub(super) async fn connect(config: &Config) -> Client {
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let below = error.source().map(chain).unwrap_or_default();
    format!("{error}; {below}")
}

/// Checks the kind of an error.
#[track_caller]
pub(super) fn is_of(error: &StoreError, kind: StoreErrorKind) {
    assert!(error.kind() == kind, "{}", chain(error));
}

pub(super) fn below(error: &envd_sdk::Error) -> &StoreError {
    let source = std::error::Error::source(error).unwrap();
    source.downcast_ref().unwrap()
}
