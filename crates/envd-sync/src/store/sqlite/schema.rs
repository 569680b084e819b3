//! The tables and their migrations.

use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::sqlite_error::SqliteError;
use envd_sdk::auth::{StoreError, StoreErrorKind};

/// Longer than another process takes for a commit, unless it is suspended.
pub(super) const BUSY: Duration = Duration::from_secs(10);
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Distinguishes our files from those of other programs ("eNVD").
const APPLICATION: i64 = 0x654e_5644;

/// Each migration is applied once, in this order. Never change a released one: add another.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/1.sql")];
const NEWEST: i64 = 1;

/// Migrates the tables of a file to the newest version. Leaves files of other programs, and newer ones, unchanged.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), SqliteError> {
    // In one transaction; otherwise another process could create the tables between two of the queries.
    let found = version(&*connection.transaction()?)?;
    if found == NEWEST {
        return Ok(());
    }
    use_wal(connection)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated it first.
    let applied = usize::try_from(version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", NEWEST)?;
    Ok(transaction.commit()?)
}

/// With a write-ahead log, readers and the writer do not wait for each other. The setting is stored in the database.
fn use_wal(connection: &Connection) -> Result<(), SqliteError> {
    // Here `busy_timeout` does not apply, so wait for other processes that open a new database at the same time.
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

/// Detects that another program has replaced or migrated the file since it was opened.
pub(super) fn check(connection: &Connection) -> Result<(), SqliteError> {
    if version(connection)? == NEWEST {
        return Ok(());
    }
    let message = "the tables of the copy are not those that were opened; open the file again";
    Err(StoreError::new(StoreErrorKind::Unreadable, message).into())
}

/// The number of migrations applied: 0 for an empty file.
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
            "the file of the copy is a database of another program; it is left unchanged",
        ),
    };
    Err(StoreError::new(kind, message).into())
}
