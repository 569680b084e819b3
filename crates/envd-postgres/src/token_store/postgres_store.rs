//! A store in a table of Postgres.
//!
//! Statements that run outside a transaction rely on qualified names alone: every table, function, operator and type names
//! its schema, so no `search_path` decides what runs. `tests/processes/postgres/hostile.rs` holds that.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};

use super::account_lock::{AccountLock, LOAD};
use crate::connection::DatabaseError;
use crate::database::{Database, Parameter};
use crate::postgres_builder::PostgresBuilder;
use crate::schema::{Layout, Migration};
use envd_sdk::Secret;
use envd_sdk::auth::{
    Record, StoreError, StoreErrorKind, StoreFuture, StoreGuard, TokenStore, Version, Versioned,
};

const MIGRATIONS: [Migration; 1] = [Migration {
    version: 1,
    oldest: None,
    statements: include_str!("migrations/1.sql"),
}];

/// A first write. Each write returns the version if it succeeded. If the new version is stored already, this very write was
/// sent before: versions are random.
const INSERT: &str = "INSERT INTO {table} AS stored
    (account, version, record, generation, issued_at, expires_at, refresh_began_at, written_at)
    VALUES ($1, $2, $3, $4, pg_catalog.to_timestamp($5), pg_catalog.to_timestamp($6),
        pg_catalog.to_timestamp($7), pg_catalog.now())
    ON CONFLICT (account) DO UPDATE SET written_at = pg_catalog.now()
    WHERE stored.version OPERATOR(pg_catalog.=) $2 RETURNING version";

/// A write in the place of the expected version, `$8`.
const UPDATE: &str = "UPDATE {table} SET version = $2, record = $3, generation = $4,
    issued_at = pg_catalog.to_timestamp($5), expires_at = pg_catalog.to_timestamp($6),
    refresh_began_at = pg_catalog.to_timestamp($7), written_at = pg_catalog.now()
    WHERE account OPERATOR(pg_catalog.=) $1
    AND (version OPERATOR(pg_catalog.=) $8 OR version OPERATOR(pg_catalog.=) $2) RETURNING version";

const DELETE: &str = "DELETE FROM {table} WHERE account OPERATOR(pg_catalog.=) $1
    AND version OPERATOR(pg_catalog.=) $2 RETURNING version";

/// A lock that was just freed is free at the server a little later, so no attempt to lock ends before.
const SHORTEST_WAIT: Duration = Duration::from_millis(250);

/// Between two attempts to lock: the first pause, doubled up to the longest, each with a random part.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Longer waits end here: they may be too long for a clock.
const LONGEST_WAIT: Duration = Duration::from_secs(366 * 24 * 3_600);

impl PostgresBuilder<PostgresStore> {
    /// The table of the tokens; `tokens` unless set. Another one beside it, with `_migrations` at the end, counts the
    /// migrations.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.prefix = name.into();
        self
    }

    /// Builds the store. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// The name of schema or table is not made of ASCII letters, digits and underscores, that of the owner has quotes or the
    /// like, or the pool has room for fewer than two connections: a refresh holds one, and writes over another.
    pub fn build(self) -> Result<PostgresStore, StoreError> {
        let layout = Layout {
            tables: &[("{table}", &self.prefix)],
            prefix: &self.prefix,
            migrations: &MIGRATIONS,
        };
        let size = self.database.pool.status().max_size;
        let database = self.database.build(&layout)?;
        if size < 2 {
            return Err(StoreError::new(
                StoreErrorKind::Other,
                "the token store needs a pool of at least two connections",
            ));
        }
        Ok(PostgresStore(Arc::new(StoreParts {
            database,
            // One is left for reads and writes, so that locks never wait for each other's ends.
            locks: Arc::new(Semaphore::new(size - 1)),
        })))
    }
}

/// Keeps tokens in a table of Postgres that many hosts share. Cheap to clone; clones share the pool.
///
/// The account's key and the tokens are stored in the clear unless a [`SealedStore`](envd_sdk::auth::sealed::SealedStore)
/// hashes and encrypts them:
///
/// ```
/// use envd_postgres::{PostgresStore, loopback_pool};
/// use envd_sdk::auth::sealed::{SealedStore, SealingKey};
///
/// # let (key, accounts) = ([7; 32], [8; 32]);
/// # equipment::example(async {
/// let pool = loopback_pool("postgres://app:password@127.0.0.1/app", 16)?;
/// let tokens = PostgresStore::builder(pool).schema("vendor").build()?;
/// # if false {
/// tokens.migrate().await?; // when the application is deployed
/// # }
/// let store = SealedStore::new(tokens, SealingKey::new("2027", &key)).hash_accounts(&accounts);
/// # let _ = store;
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<StoreParts>);

struct StoreParts {
    database: Database,
    /// How many locks may be held at once.
    locks: Arc<Semaphore>,
}

impl PostgresStore {
    /// Starts the settings of a store over a pool of yours.
    pub fn builder(pool: Pool) -> PostgresBuilder<Self> {
        PostgresBuilder::new(pool, "tokens")
    }

    /// Makes the tables, or brings them up to this version. Hosts may call it at the same time, and again. Nothing else
    /// changes tables.
    ///
    /// # Errors
    ///
    /// [`is_newer_version`](StoreError::is_newer_version) when a newer version of this crate was here before;
    /// [`is_denied`](StoreError::is_denied) when the role may not create tables;
    /// [`is_insecure`](StoreError::is_insecure) when schema or tables are there and belong to a role that is not trusted, see
    /// [`owner`](PostgresBuilder::owner).
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.0.database.migrate().await
    }

    /// The statements of [`migrate`](Self::migrate) for an empty database, to be run by a role that may create tables.
    pub fn migration_sql(&self) -> String {
        self.0.database.schema.script()
    }

    /// Sends a statement that returns at most one row. It may be sent twice.
    async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.0.database.query(statement, parameters).await?.pop())
    }

    async fn write(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        // Random, so it never repeats: neither after the row was deleted, nor on two hosts at once.
        let version = fastrand::i64(1..);
        let expected = expected.map(|version| version.number().cast_signed());
        let (record, tokens) = (new.to_secret_json(), new.tokens());
        let generation = i64::try_from(tokens.generation()).unwrap_or(i64::MAX);
        // As the statements number them.
        let parameters: [Parameter<'_>; 8] = [
            (&key, Type::TEXT),
            (&version, Type::INT8),
            (&record.expose(), Type::TEXT),
            (&generation, Type::INT8),
            (&epoch(tokens.issued_at()), Type::FLOAT8),
            (&epoch(tokens.expires_at()), Type::FLOAT8),
            (&new.refresh_began_at().map(epoch), Type::FLOAT8),
            (&expected, Type::INT8),
        ];
        let written = match expected {
            Some(_) => self.query(UPDATE, &parameters).await?,
            None => self.query(INSERT, &parameters[..7]).await?,
        };
        Ok(written.map(|_| Version::new(version.cast_unsigned())))
    }

    async fn acquire(
        &self,
        key: &str,
        wait: Duration,
    ) -> Result<(StoreGuard, Option<Row>), StoreError> {
        let until = Instant::now() + wait.clamp(SHORTEST_WAIT, LONGEST_WAIT);
        let mut pause = FIRST_PAUSE;
        loop {
            let mut tried = self.try_lock(key, until).await;
            if tried.as_ref().is_err_and(|error| error.connection_lost) {
                tried = self.try_lock(key, until).await;
            }
            if let Some((lock, row)) = tried.map_err(|error| error.error)? {
                return Ok((StoreGuard::new(lock), row));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StoreError::lock_timeout());
            }
            sleep(pause.mul_f64(0.5 + 0.5 * fastrand::f64()).min(left)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn try_lock(
        &self,
        key: &str,
        until: Instant,
    ) -> Result<Option<(AccountLock, Option<Row>)>, DatabaseError> {
        let permit = timeout_at(until, self.0.locks.clone().acquire_owned()).await;
        let permit = permit.map_err(|_| StoreError::lock_timeout())?;
        let permit = permit
            .map_err(|_| StoreError::new(StoreErrorKind::Other, "the token store is closed"))?;
        let database = &self.0.database;
        let connection = database.connect().await?;
        AccountLock::attempt(connection, permit, &database.schema, key, database.time_out).await
    }
}

fn versioned(row: Option<Row>) -> Result<Option<Versioned>, StoreError> {
    let read = |row: Row| {
        let version = Version::new(row.try_get::<_, i64>(0)?.cast_unsigned());
        let record = Record::from_secret_json(&Secret::new(row.try_get::<_, String>(1)?))?;
        Ok(Versioned::new(version, record))
    };
    let versioned = row.map(read).transpose();
    versioned.map_err(|error: DatabaseError| error.error)
}

fn epoch(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs_f64()
}

impl TokenStore for PostgresStore {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            let row = self.query(LOAD, &[(&key, Type::TEXT)]).await?;
            versioned(row)
        })
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        Box::pin(self.write(key, expected, new))
    }

    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let version = expected.number().cast_signed();
            let parameters: [Parameter<'_>; 2] = [(&key, Type::TEXT), (&version, Type::INT8)];
            Ok(self.query(DELETE, &parameters).await?.is_some())
        })
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        Box::pin(async move { Ok(self.acquire(key, wait).await?.0) })
    }

    fn lock_and_load<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> StoreFuture<'a, (StoreGuard, Option<Versioned>)> {
        Box::pin(async move {
            let (guard, row) = self.acquire(key, wait).await?;
            Ok((guard, versioned(row)?))
        })
    }

    fn describe(&self) -> String {
        format!("PostgreSQL table {}", self.0.database.schema.table)
    }
}

debug_shows!(PostgresStore, |it| table: it.0.database.schema.table, time_out: it.0.database.time_out);
