//! The tables, and the migrations from earlier ones.

use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::sqlite_error::SqliteError;
use envd_sdk::auth::{StoreError, StoreErrorKind};

/// Longer than a commit of another process takes, unless that process is stopped.
pub(super) const BUSY: Duration = Duration::from_secs(10);
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Marks files of this crate ("eNVD").
const APPLICATION: i64 = 0x654e_5644;

/// Each is applied once, in this order. Never change a released migration; add a new one.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/1.sql")];
const NEWEST: i64 = 1;

/// Applies missing migrations. A file of another program or of a newer version stays unchanged.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), SqliteError> {
    // Read in one transaction. Otherwise another process may create the tables between two reads.
    let found = version(&*connection.transaction()?)?;
    if found == NEWEST {
        return Ok(());
    }
    use_wal(connection)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first.
    let applied = usize::try_from(version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", NEWEST)?;
    Ok(transaction.commit()?)
}

/// Switches to a write-ahead log, so that readers and the writer do not wait for each other. The file keeps the setting.
fn use_wal(connection: &Connection) -> Result<(), SqliteError> {
    // SQLite has no busy timeout while others open the database for the first time.
    let mut tries = BUSY.as_millis() / BUSY_PAUSE.as_millis();
    let mode: String = loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && tries > 0 =>
            {
                tries -= 1;
                thread::sleep(BUSY_PAUSE);
            }
            mode => break mode?,
        }
    };
    if mode == "wal" {
        return Ok(());
    }
    let message = "the file system has no shared memory that the database of the copy can use";
    Err(StoreError::new(StoreErrorKind::Unsupported, message).into())
}

/// Fails if another program has replaced or migrated the file since it was opened.
pub(super) fn check(connection: &Connection) -> Result<(), SqliteError> {
    if version(connection)? == NEWEST {
        return Ok(());
    }
    let message = "the tables of the copy are not those that were opened; open the file again";
    Err(StoreError::new(StoreErrorKind::Unreadable, message).into())
}

/// The number of applied migrations; 0 for an empty file.
fn version(connection: &Connection) -> Result<i64, SqliteError> {
    let number = |sql: &str| -> rusqlite::Result<i64> {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_row((), |row| row.get(0))
    };
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    let (kind, message) = match (application, version) {
        (APPLICATION, 1..=NEWEST) => return Ok(version),
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => return Ok(0),
        (APPLICATION, 1..) => (
            StoreErrorKind::NewerVersion,
            "a newer version of this crate wrote the database of the copy; update this program",
        ),
        _ => (
            StoreErrorKind::Unreadable,
            "the file of the copy is a database of another program; it was not changed",
        ),
    };
    Err(StoreError::new(kind, message).into())
}
