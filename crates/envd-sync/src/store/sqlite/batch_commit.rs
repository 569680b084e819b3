//! Writes a batch, in one transaction.

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{OptionalExtension, Params, ToSql, Transaction, params};

use super::sqlite_error::SqliteError;
use crate::store::rows::{Batch, Row};
use crate::store::sql::{StoredColumns, key_columns, to_bound, to_stored};

const WRITE_DOCUMENT: &str =
    "INSERT INTO documents (account, name, version, text) VALUES (?, ?, 1, ?)
    ON CONFLICT (account, name) DO UPDATE SET version = version + 1, text = excluded.text";

const REMOVE_DOCUMENT: &str = "DELETE FROM documents WHERE account = ? AND name = ?";

const WRITE_ROW: &str = "INSERT INTO records (account, id, sequence, generation, status, species, number,
        origin_pic, destination_pic, movement_day, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (account, id) DO UPDATE SET sequence = excluded.sequence, generation = excluded.generation,
        status = excluded.status, species = excluded.species, number = excluded.number,
        origin_pic = excluded.origin_pic, destination_pic = excluded.destination_pic,
        movement_day = excluded.movement_day, updated_at = excluded.updated_at
    RETURNING record";

const WRITE_PAYLOAD: &str = "INSERT INTO payloads (record, payload) VALUES (?, ?)
    ON CONFLICT (record) DO UPDATE SET payload = excluded.payload";

const MARK_SEEN: &str =
    "UPDATE records SET generation = ?3 WHERE account = ?1 AND id = ?2 AND generation <> ?3";

const REMOVE_ROW: &str = "DELETE FROM records WHERE account = ? AND id = ? RETURNING record";

const REMOVE_PAYLOAD: &str = "DELETE FROM payloads WHERE record = ?";

const ADD_CHANGE: &str =
    "INSERT INTO changes (account, sequence, previous, id, payload) VALUES (?, ?, ?, ?, ?)";

const FORGET_CHANGES: &str = "DELETE FROM changes WHERE account = ? AND sequence <= ?";

/// Writes the batch, and returns whether all documents had the expected versions.
pub(super) fn commit(
    transaction: &Transaction<'_>,
    account: &str,
    batch: &Batch,
) -> Result<bool, SqliteError> {
    let name = account;
    let known = self::account(transaction, name)?;
    for (name, expected) in &batch.expected {
        // Without an account, NULL finds nothing.
        if version(transaction, known, name)? != *expected {
            return Ok(false);
        }
    }
    let execute =
        |sql: &str, parameters: &[&dyn ToSql]| transaction.prepare_cached(sql)?.execute(parameters);
    let account = if let Some(account) = known {
        account
    } else {
        execute("INSERT INTO accounts (name) VALUES (?)", &[&name])?;
        transaction.last_insert_rowid()
    };
    for (name, text) in &batch.documents {
        match text {
            Some(text) => execute(WRITE_DOCUMENT, &[&account, name, text])?,
            None => execute(REMOVE_DOCUMENT, &[&account, name])?,
        };
    }
    for row in &batch.rows {
        let record = write_row(transaction, account, row)?;
        execute(WRITE_PAYLOAD, &[&record, &row.payload])?;
    }
    if let Some((generation, ids)) = &batch.seen {
        let generation = to_stored(*generation)?;
        for id in ids {
            execute(MARK_SEEN, &[&account, id, &generation])?;
        }
    }
    for id in &batch.removed {
        if let Some(record) = find(transaction, REMOVE_ROW, params![account, id])? {
            execute(REMOVE_PAYLOAD, &[&record])?;
        }
    }
    for change in &batch.changes {
        let (sequence, previous) = (to_stored(change.sequence)?, to_stored(change.previous)?);
        let parameters: [&dyn ToSql; 5] =
            [&account, &sequence, &previous, &change.id, &change.payload];
        execute(ADD_CHANGE, &parameters)?;
    }
    if let Some(up_to) = batch.forget_changes {
        execute(FORGET_CHANGES, &[&account, &to_bound(up_to)])?;
    }
    Ok(true)
}

/// The number of an account, if anything was written for it.
pub(super) fn account(
    transaction: &Transaction<'_>,
    name: &str,
) -> Result<Option<i64>, SqliteError> {
    let sql = "SELECT account FROM accounts WHERE name = ?";
    find(transaction, sql, [name])
}

fn version(
    transaction: &Transaction<'_>,
    account: Option<i64>,
    name: &str,
) -> Result<u64, SqliteError> {
    let sql = "SELECT version FROM documents WHERE account = ? AND name = ?";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query(params![account, name])?;
    let version = rows.next()?.map(|row| row.number(0)).transpose()?;
    Ok(version.unwrap_or_default())
}

/// Returns the number of the row in the table.
fn write_row(
    transaction: &Transaction<'_>,
    account: i64,
    row: &Row,
) -> Result<Option<i64>, SqliteError> {
    let (sequence, generation) = (to_stored(row.sequence)?, to_stored(row.generation)?);
    let [keys @ .., updated_at] = key_columns(&row.keys);
    // A number orders before every text, so "less than" holds for it where NULL holds for nothing.
    let updated_at = match &updated_at {
        Some(instant) => instant.to_sql()?,
        None => ToSqlOutput::Owned(Value::Integer(0)),
    };
    let mut parameters: Vec<&dyn ToSql> = vec![&account, &row.id, &sequence, &generation];
    parameters.extend(keys.iter().map(|key| key as &dyn ToSql));
    parameters.push(&updated_at);
    find(transaction, WRITE_ROW, &*parameters)
}

/// The number that a statement returns, if it returns a row.
fn find(
    transaction: &Transaction<'_>,
    sql: &str,
    parameters: impl Params,
) -> Result<Option<i64>, SqliteError> {
    let mut statement = transaction.prepare_cached(sql)?;
    let found = statement.query_row(parameters, |row| row.get(0));
    Ok(found.optional()?)
}
