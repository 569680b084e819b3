//! The token store in a table of Postgres.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};

use super::account_lock::AccountLock;
use crate::connection::PostgresPool;
use crate::database::Database;
use crate::postgres_builder::PostgresBuilder;
use crate::schema::Migration;
use crate::statement::{Statement, column, unsigned};
use envd_sdk::Secret;
use envd_sdk::auth::{
    Record, StoreError, StoreErrorKind, StoreGuard, TokenStore, Version, Versioned,
};

const MIGRATIONS: [Migration; 1] = [Migration {
    oldest: 1,
    statements: include_str!("migrations/1.sql"),
}];

const LOAD: &str = "SELECT version, record FROM {table} WHERE account = $1";

/// The first write of a record. Each write returns the version if it succeeded. If the new version is already stored, this is a
/// repetition of the same write: versions are random.
const INSERT: &str = "INSERT INTO {table} AS stored
    (account, version, record, generation, issued_at, expires_at, refresh_began_at, written_at)
    VALUES ($1, $2, $3, $4, to_timestamp($5), to_timestamp($6), to_timestamp($7), now())
    ON CONFLICT (account) DO UPDATE SET written_at = now()
    WHERE stored.version = $2 RETURNING version";

/// Replaces the record with the expected version, `$8`.
const UPDATE: &str = "UPDATE {table} SET version = $2, record = $3, generation = $4,
    issued_at = to_timestamp($5), expires_at = to_timestamp($6), refresh_began_at = to_timestamp($7),
    written_at = now()
    WHERE account = $1 AND version IN ($8, $2) RETURNING version";

const DELETE: &str = "DELETE FROM {table} WHERE account = $1 AND version = $2 RETURNING version";

/// The server frees a released lock a little later, so each attempt to lock waits at least this long.
const SHORTEST_WAIT: Duration = Duration::from_millis(250);

/// The first and the longest pause between attempts to lock. Each pause is twice the previous one, with a random part.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Longer waits are cut to this, since a clock may not be able to add them.
const LONGEST_WAIT: Duration = Duration::from_secs(366 * 24 * 3_600);

impl PostgresBuilder<PostgresStore> {
    /// The table of the tokens; `tokens` unless set.
    ///
    /// A second table, with `_migrations` at the end of its name, records the migrations.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.prefix = name.into();
        self
    }

    /// Builds the store; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// The name of the schema or the table contains other characters than ASCII letters, digits and underscores; the name of the
    /// owner contains quotes or the like; or the pool has room for fewer than two connections: a refresh holds one, and writes over
    /// another.
    pub fn build(self) -> Result<PostgresStore, StoreError> {
        let size = self.pool.0.status().max_size;
        let table = self.prefix.clone();
        let database = self.database(&[("{table}", &table)], &MIGRATIONS)?;
        if size < 2 {
            return Err(StoreError::new(
                StoreErrorKind::Other,
                "the token store needs a pool of at least two connections",
            ));
        }
        Ok(PostgresStore(Arc::new(StoreParts {
            database,
            // One connection remains for reads and writes, so lock holders never wait for each other to finish.
            locks: Arc::new(Semaphore::new(size - 1)),
        })))
    }
}

/// Keeps tokens in a table of Postgres that many hosts share; cheap to clone, and clones share the pool.
///
/// The account's key and the tokens are stored as plain text unless a `SealedStore` around it [hashes and encrypts
/// them](envd_sdk::guide::token_stores#sealed).
///
/// ```
/// use envd_postgres::{PostgresPool, PostgresStore};
///
/// # test_support::example(async {
/// let pool = PostgresPool::from_url("postgres://app:password@127.0.0.1/app", 16)?;
/// let tokens = PostgresStore::builder(pool).schema("vendor").build()?;
/// # if false {
/// tokens.migrate().await?; // when the application is deployed
/// # }
/// # let _ = tokens;
/// # Ok(()) });
/// ```
#[derive(Clone, Debug)]
pub struct PostgresStore(Arc<StoreParts>);

#[derive(Debug)]
struct StoreParts {
    database: Database,
    /// The number of locks that may be held at once.
    locks: Arc<Semaphore>,
}

impl PostgresStore {
    /// Starts the settings of a store that uses your pool.
    pub fn builder(pool: PostgresPool) -> PostgresBuilder<Self> {
        PostgresBuilder::new(pool, "tokens")
    }

    /// Creates the tables, or updates them to this version; only this method changes tables.
    ///
    /// Several hosts may call it at the same time, and again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the migration may still be applied, completely or not at all. Repeating the call is harmless.
    ///
    /// # Errors
    ///
    /// [`NewerVersion`](envd_sdk::auth::StoreErrorKind::NewerVersion) if a newer version of this crate has migrated the tables;
    /// [`Denied`](envd_sdk::auth::StoreErrorKind::Denied) if the role may not create tables;
    /// [`Unsupported`](envd_sdk::auth::StoreErrorKind::Unsupported) if the encoding of the database is neither `UTF8` nor
    /// `SQL_ASCII`, as for reads and writes; [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure) if the schema or a table exists
    /// and belongs to a role that is not trusted, see [`owner`](PostgresBuilder::owner).
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.0.database.migrate().await
    }

    /// The SQL of [`migrate`](Self::migrate), to be run by a role that may create tables.
    #[must_use]
    pub fn migration_sql(&self) -> String {
        self.0.database.schema.script()
    }

    async fn write(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        // A random number never repeats: neither after the row was deleted, nor on two hosts at once.
        let version = fastrand::i64(1..);
        let expected = expected.map(|version| version.number().cast_signed());
        let record = new.to_secret_json();
        let tokens = new.tokens();
        let generation = i64::try_from(tokens.generation()).unwrap_or(i64::MAX);
        let statement = Statement::new(if expected.is_some() { UPDATE } else { INSERT })
            .bind(Type::TEXT, key)
            .bind(Type::INT8, version)
            .bind(Type::TEXT, record.expose())
            .bind(Type::INT8, generation)
            .bind(Type::FLOAT8, epoch(tokens.issued_at()))
            .bind(Type::FLOAT8, epoch(tokens.expires_at()))
            .bind(Type::FLOAT8, new.refresh_began_at().map(epoch));
        let statement = match expected {
            Some(expected) => statement.bind(Type::INT8, expected),
            None => statement,
        };
        let written = self.0.database.query(statement).await?;
        Ok((!written.is_empty()).then(|| Version::new(version.cast_unsigned())))
    }

    async fn acquire(
        &self,
        key: &str,
        wait: Duration,
    ) -> Result<(StoreGuard, Option<Row>), StoreError> {
        let until = Instant::now() + wait.clamp(SHORTEST_WAIT, LONGEST_WAIT);
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some((lock, row)) = self.try_lock(key, until).await? {
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
    ) -> Result<Option<(AccountLock, Option<Row>)>, StoreError> {
        let permit = timeout_at(until, self.0.locks.clone().acquire_owned()).await;
        let permit = permit.map_err(|_| StoreError::lock_timeout())?;
        let permit = permit
            .map_err(|_| StoreError::new(StoreErrorKind::Other, "the token store is closed"))?;
        AccountLock::attempt(&self.0.database, permit, key, load(key)).await
    }
}

/// Reads the record of an account, with or without the lock.
fn load(key: &str) -> Statement<'_> {
    Statement::new(LOAD).bind(Type::TEXT, key)
}

fn versioned(row: Option<Row>) -> Result<Option<Versioned>, StoreError> {
    let read = |row: Row| {
        let record = Record::from_secret_json(&Secret::new(column::<String>(&row, 1)?))?;
        Ok(Versioned::new(Version::new(unsigned(&row, 0)?), record))
    };
    row.map(read).transpose()
}

fn epoch(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs_f64()
}

#[async_trait]
impl TokenStore for PostgresStore {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let mut rows = self.0.database.query(load(key)).await?;
        versioned(rows.pop())
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        self.write(key, expected, new).await
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let delete = Statement::new(DELETE)
            .bind(Type::TEXT, key)
            .bind(Type::INT8, expected.number().cast_signed());
        Ok(!self.0.database.query(delete).await?.is_empty())
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        Ok(self.acquire(key, wait).await?.0)
    }

    async fn lock_and_load(
        &self,
        key: &str,
        wait: Duration,
    ) -> Result<(StoreGuard, Option<Versioned>), StoreError> {
        let (guard, row) = self.acquire(key, wait).await?;
        Ok((guard, versioned(row)?))
    }

    fn describe(&self) -> String {
        format!("PostgreSQL table {}", self.0.database.schema.table)
    }
}
