//! The connections to the database: one that writes, and a few that read.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::schema;
use super::sqlite_error::SqliteError;
use crate::locked::lock;
use envd_sdk::auth::{StoreError, StoreErrorKind};

/// In KiB. A page of rows touches many pages of the indexes.
const WRITER_CACHE: i32 = 8_192;
/// In pages of 4 KiB. Rows that come one after the other touch the same pages, which are then copied into the file once.
const LOG: i32 = 4_000;

/// Each has a cache of 2 MB.
const READERS: usize = 4;

/// More than the forms of statements that a program uses.
const STATEMENTS: usize = 64;

/// Reads see what was committed last and never wait for a write, as long as they have connections of their own.
pub(super) struct SqliteConnections {
    pub(super) path: PathBuf,
    writer: Arc<tokio::sync::Mutex<Connection>>,
    /// The last row when its values were counted.
    counted: Arc<AtomicI64>,
    idle_readers: Arc<Mutex<Vec<Connection>>>,
    readers: Arc<Semaphore>,
}

impl SqliteConnections {
    /// Opens the database, and brings its tables up to date.
    pub(super) fn open(path: PathBuf) -> Result<Self, SqliteError> {
        let mut writer = open(&path)?;
        schema::prepare(&mut writer)?;
        writer.pragma_update(None, "cache_size", -WRITER_CACHE)?;
        writer.pragma_update(None, "wal_autocheckpoint", LOG)?;
        Ok(Self {
            path,
            writer: Arc::new(tokio::sync::Mutex::new(writer)),
            counted: Arc::default(),
            idle_readers: Arc::default(),
            readers: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Runs `work` in a transaction, which is undone unless `work` returns `Ok`. A caller that is cancelled does not stop it.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer.clone().lock_owned().await;
        let counted = self.counted.clone();
        spawn_blocking(move || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            schema::check(&transaction)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            // The batch is written. Without new statistics queries are slower, and the next commit tries again.
            let _ = schema::analyze(&mut writer, &counted);
            Ok(done)
        })
        .await
    }

    /// Runs `work` on one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = self.readers.clone().acquire_owned().await;
        let (path, idle) = (self.path.clone(), self.idle_readers.clone());
        spawn_blocking(move || {
            let _turn = turn;
            let reader = lock(&idle).pop();
            let mut reader = reader.map_or_else(|| open_reader(&path), Ok)?;
            let transaction = reader.transaction()?;
            schema::check(&transaction)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            lock(&idle).push(reader);
            Ok(done)
        })
        .await
    }

    /// The connection that writes, for tests that limit it.
    #[cfg(test)]
    pub(super) async fn writer(&self) -> tokio::sync::OwnedMutexGuard<Connection> {
        self.writer.clone().lock_owned().await
    }
}

/// Not `OPEN_URI`, for which a path may hold settings; not `OPEN_CREATE`, which would not set the mode.
fn open(path: &Path) -> Result<Connection, SqliteError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(schema::BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Never parts of records in files elsewhere.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // With statistics, SQLite would plan each statement anew for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Damage is found before it is followed.
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// It may write the files beside the database, as readers must, and no record.
fn open_reader(path: &Path) -> Result<Connection, SqliteError> {
    let connection = open(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// File access blocks, so it runs outside the runtime's own threads.
async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SqliteError> + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = Handle::try_current().map_err(|_| {
        StoreError::new(
            StoreErrorKind::Other,
            "the SQLite store must be used inside a tokio runtime",
        )
    })?;
    let done = runtime.spawn_blocking(work).await;
    let done = done.map_err(|_| {
        StoreError::new(
            StoreErrorKind::Other,
            "the runtime ended during access to the database of the copy",
        )
    })?;
    done.map_err(|error| error.0)
}
