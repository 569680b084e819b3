//! The tables, and the migrations from earlier ones.

use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::sqlite_error::SqliteError;
use envd_sdk::auth::StoreErrorKind;

/// Longer than a commit of another process takes, unless that is stopped.
pub(super) const BUSY: Duration = Duration::from_secs(10);
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Tells our files from those of other programs ("eNVD").
const APPLICATION: i64 = 0x654e_5644;

/// Each is applied once, in this order. Never change one that was released: add one.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/1.sql")];
const NEWEST: i64 = 1;

/// Fewer rows are read in a millisecond by any index.
const FEWEST_COUNTED: i64 = 1_000;

/// Brings the tables of a file up to date. What is not ours, or newer, stays as it is.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), SqliteError> {
    // In one transaction, or another process may create the tables between two of the looks.
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

/// With a write-ahead log readers and the writer do not wait for each other. The database keeps the setting.
fn use_wal(connection: &Connection) -> Result<(), SqliteError> {
    let set = || -> Result<String, SqliteError> {
        Ok(connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?)
    };
    // SQLite does not wait by itself for others that open the database for the first time.
    let mut tries = BUSY.as_millis() / BUSY_PAUSE.as_millis();
    let mode = loop {
        match set() {
            Err(error) if error.is_busy() && tries > 0 => {
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
    Err(SqliteError::of(StoreErrorKind::Unsupported, message))
}

/// Refuses a file that another program has replaced or migrated since it was opened.
pub(super) fn check(connection: &Connection) -> Result<(), SqliteError> {
    if version(connection)? == NEWEST {
        return Ok(());
    }
    let message = "the tables of the copy are not those that were opened; open the file again";
    Err(SqliteError::of(StoreErrorKind::Unreadable, message))
}

/// Counts which values the columns have, once the table has doubled: by that, `SQLite` chooses the indexes of a query.
///
/// `last` is the number of the last row when this process counted. Where rows are pruned, numbers grow and the table does not: then
/// a process that starts counts once.
///
/// The statistics are made anew as tables, for then all connections of all processes read them.
pub(super) fn analyze(connection: &mut Connection, last: &AtomicI64) -> Result<(), SqliteError> {
    let number = |sql: &str| {
        connection
            .prepare_cached(sql)?
            .query_row((), |row| row.get(0))
    };
    // The numbers of rows are given in order, and statistics begin with the count of rows.
    let rows: i64 = number("SELECT coalesce(max(record), 0) FROM records")?;
    let is_few = |counted: i64| rows < FEWEST_COUNTED.max(2 * counted);
    if is_few(last.load(Ordering::Relaxed)) {
        return Ok(());
    }
    let counted = number("SELECT CAST(stat AS INTEGER) FROM sqlite_stat1 WHERE idx = 'records_id'");
    let counted = counted.unwrap_or(0);
    if is_few(counted) {
        last.store(counted, Ordering::Relaxed);
        return Ok(());
    }
    last.store(rows, Ordering::Relaxed);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4; ANALYZE records",
    )?;
    Ok(transaction.commit()?)
}

/// How many migrations were applied: 0 for an empty file.
fn version(connection: &Connection) -> Result<i64, SqliteError> {
    let number = |pragma: &str| -> Result<i64, SqliteError> {
        let mut statement = connection.prepare_cached(pragma)?;
        Ok(statement.query_row((), |row| row.get(0))?)
    };
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    if application == APPLICATION && version > NEWEST {
        let message =
            "a newer version of this crate wrote the database of the copy; update this program";
        return Err(SqliteError::of(StoreErrorKind::NewerVersion, message));
    }
    let is_empty = || -> Result<bool, SqliteError> {
        Ok(application == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0)
    };
    if application == APPLICATION && version > 0 || version == 0 && is_empty()? {
        return Ok(version);
    }
    let message = "the file of the copy is a database of another program; it is left as it is";
    Err(SqliteError::of(StoreErrorKind::Unreadable, message))
}
