//! The store itself.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::PostgresStoreBuilder;
use super::fault::{Fault, failed, too_slow};
use super::lock::{Held, PATIENCE, Pauses};
use super::migrate::{check, migrate, script};
use super::names::Names;
use super::rows::{Columns, DELETE, LOAD, Parameter, read};
use super::session::Session;
use crate::auth::{Record, StoreError, StoreFuture, StoreGuard, TokenStore, Version, Versioned};

/// Keeps tokens in a table of Postgres that many hosts share. Cheap to clone; clones share the pool.
///
/// The account's key stands in the clear unless a [`SealedStore`](crate::auth::sealed::SealedStore) hashes it, and so does
/// everything else unless that seals it:
///
/// ```
/// use envd_sdk::auth::postgres::{PostgresStore, loopback_pool};
/// use envd_sdk::auth::sealed::{SealedStore, SealingKey};
///
/// # let (key, accounts) = ([7; 32], [8; 32]);
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let pool = loopback_pool("postgres://app:password@127.0.0.1/app", 16)?;
/// let tokens = PostgresStore::builder(pool).schema("vendor").build()?;
/// # if false {
/// tokens.migrate().await?; // when the application is deployed
/// # }
/// let store = SealedStore::new(tokens, SealingKey::new("2027", &key)).hash_accounts(&accounts);
/// # let _ = store;
/// # Ok::<(), envd_sdk::auth::StoreError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    settings: Settings,
    /// How many locks may be held at once.
    locks: Arc<Semaphore>,
    /// Whether the tables were found to be those of this version.
    checked: AtomicBool,
}

pub(super) struct Settings {
    pub(super) pool: Pool,
    pub(super) names: Names,
    pub(super) time_out: Duration,
    pub(super) locks: usize,
}

impl PostgresStore {
    pub(super) fn of(settings: Settings) -> Self {
        Self(Arc::new(Inner {
            locks: Arc::new(Semaphore::new(settings.locks)),
            settings,
            checked: AtomicBool::new(false),
        }))
    }

    /// Starts the settings of a store over a pool of yours.
    pub fn builder(pool: Pool) -> PostgresStoreBuilder {
        PostgresStoreBuilder::new(pool)
    }

    /// Makes the tables, or brings them up to this version. Hosts may call it at the same time, and again. Nothing else
    /// changes tables.
    ///
    /// # Errors
    ///
    /// [`is_newer_version`](StoreError::is_newer_version) when a newer version of this crate was here before;
    /// [`is_denied`](StoreError::is_denied) when the role may not create tables;
    /// [`is_insecure`](StoreError::is_insecure) when schema or tables are there and belong to a role that is not trusted, see
    /// [`owner`](PostgresStoreBuilder::owner).
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let Settings {
            pool,
            names,
            time_out,
            ..
        } = &self.0.settings;
        let session = Session::open(pool, *time_out).await;
        let session = session.map_err(|fault| fault.error)?;
        let done = migrate(&session, names).await;
        done.map_err(|fault| fault.error)?;
        session.give_back();
        Ok(())
    }

    /// The statements of [`migrate`](Self::migrate) for an empty database, for whoever may create tables there.
    #[must_use]
    pub fn migration_sql(&self) -> String {
        script(&self.0.settings.names)
    }

    /// A connection to tables that are as they should be.
    async fn session(&self) -> Result<Session, Fault> {
        let Settings {
            pool,
            names,
            time_out,
            ..
        } = &self.0.settings;
        let session = Session::open(pool, *time_out).await?;
        if !self.0.checked.load(Ordering::Relaxed) {
            let checked = timeout(*time_out, check(&session, names)).await;
            checked.map_err(|_| too_slow())??;
            self.0.checked.store(true, Ordering::Relaxed);
        }
        Ok(session)
    }

    /// Sends a statement; once more over another connection if the first one is gone. Each may be sent twice.
    async fn ask(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<Row>, StoreError> {
        let statement = self.0.settings.names.fill(statement);
        let mut answer = self.ask_once(&statement, parameters).await;
        if answer.as_ref().is_err_and(|fault| fault.of_connection) {
            answer = self.ask_once(&statement, parameters).await;
        }
        answer.map_err(|fault| fault.error)
    }

    async fn ask_once(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<Row>, Fault> {
        let session = self.session().await?;
        // The typed ones: a single round trip, and the driver does not log their parameters.
        let asked = session.client()?.query_typed_opt(statement, parameters);
        let answer = timeout(self.0.settings.time_out, asked).await;
        let answer = answer.map_err(|_| too_slow())?.map_err(failed);
        if !answer.as_ref().is_err_and(|fault| fault.of_connection) {
            session.give_back();
        }
        answer
    }

    async fn find(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        found(self.ask(LOAD, &[(&key, Type::TEXT)]).await?)
    }

    async fn write(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let columns = Columns::new(new, expected);
        let text = columns.text();
        let parameters = columns.parameters(&key, &text);
        let written = self.ask(columns.statement(), &parameters).await?;
        Ok(written.map(|_| columns.version()))
    }

    async fn delete(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let version = expected.number().cast_signed();
        let parameters: [Parameter<'_>; 2] = [(&key, Type::TEXT), (&version, Type::INT8)];
        Ok(self.ask(DELETE, &parameters).await?.is_some())
    }

    async fn take(
        &self,
        key: &str,
        wait: Duration,
    ) -> Result<(StoreGuard, Option<Row>), StoreError> {
        let until = after(wait.max(PATIENCE));
        let mut pauses = Pauses::new();
        loop {
            let mut tried = self.attempt(key, until).await;
            if tried.as_ref().is_err_and(|fault| fault.of_connection) {
                tried = self.attempt(key, until).await;
            }
            if let Some((held, row)) = tried.map_err(|fault| fault.error)? {
                return Ok((StoreGuard::new(held), row));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StoreError::lock_timeout());
            }
            sleep(pauses.next().min(left)).await;
        }
    }

    async fn attempt(
        &self,
        key: &str,
        until: Instant,
    ) -> Result<Option<(Held, Option<Row>)>, Fault> {
        let Settings {
            names, time_out, ..
        } = &self.0.settings;
        let permit = timeout_at(until, self.0.locks.clone().acquire_owned()).await;
        let permit = permit.map_err(|_| StoreError::lock_timeout())?;
        let permit = permit.map_err(|_| StoreError::new("the token store is closed"))?;
        let session = self.session().await?;
        Held::attempt(session, permit, names, key, *time_out).await
    }
}

/// The end of a wait; one that is too long for a clock ends in a year.
fn after(wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(366 * 24 * 3_600);
    Instant::now() + wait.min(YEAR)
}

fn found(row: Option<Row>) -> Result<Option<Versioned>, StoreError> {
    let found = row.map(|row| read(&row)).transpose();
    found.map_err(|fault| fault.error)
}

impl TokenStore for PostgresStore {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(self.find(key))
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
        Box::pin(self.delete(key, expected))
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        Box::pin(async move { Ok(self.take(key, wait).await?.0) })
    }

    fn lock_and_load<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> StoreFuture<'a, (StoreGuard, Option<Versioned>)> {
        Box::pin(async move {
            let (guard, row) = self.take(key, wait).await?;
            Ok((guard, found(row)?))
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("names", &self.0.settings.names)
            .field("time_out", &self.0.settings.time_out)
            .finish_non_exhaustive()
    }
}
