//! Writes a batch, in one transaction.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{OptionalExtension, Transaction, params};

use super::sqlite_error::SqliteError;
use crate::sync::store::{Batch, ChangeRow, Row, sql};

/// Writes the batch, and returns whether all documents had the expected versions.
pub(super) fn commit(
    transaction: &Transaction<'_>,
    account: &str,
    batch: &Batch,
) -> Result<bool, SqliteError> {
    let known = self::account(transaction, account)?;
    for (name, expected) in &batch.expected {
        let version = match known {
            Some(account) => version(transaction, account, name)?,
            None => 0,
        };
        if version != *expected {
            return Ok(false);
        }
    }
    let account = match known {
        Some(account) => account,
        None => add_account(transaction, account)?,
    };
    for (name, text) in &batch.documents {
        write_document(transaction, account, name, text.as_deref())?;
    }
    for row in &batch.rows {
        write_row(transaction, account, row)?;
    }
    if let Some((generation, ids)) = &batch.seen {
        let sql = "UPDATE records SET generation = ?3 WHERE account = ?1 AND id = ?2 AND generation <> ?3";
        let mut statement = transaction.prepare_cached(sql)?;
        let generation = sql::to_stored(*generation)?;
        for id in ids {
            statement.execute(params![account, id, generation])?;
        }
    }
    for id in &batch.removed {
        remove_row(transaction, account, id)?;
    }
    for change in &batch.changes {
        add_change(transaction, account, change)?;
    }
    if let Some(up_to) = batch.forget_changes {
        transaction
            .prepare_cached("DELETE FROM changes WHERE account = ? AND sequence <= ?")?
            .execute(params![account, sql::to_bound(up_to)])?;
    }
    Ok(true)
}

/// The number of an account, if anything was written for it.
pub(super) fn account(
    transaction: &Transaction<'_>,
    name: &str,
) -> Result<Option<i64>, SqliteError> {
    let mut statement =
        transaction.prepare_cached("SELECT account FROM accounts WHERE name = ?")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

/// The number of a row, if there is one with this id.
pub(super) fn record(
    transaction: &Transaction<'_>,
    account: i64,
    id: &str,
) -> Result<Option<i64>, SqliteError> {
    let sql = "SELECT record FROM records WHERE account = ? AND id = ?";
    let mut statement = transaction.prepare_cached(sql)?;
    Ok(statement
        .query_row(params![account, id], |row| row.get(0))
        .optional()?)
}

fn add_account(transaction: &Transaction<'_>, name: &str) -> Result<i64, SqliteError> {
    let mut statement = transaction.prepare_cached("INSERT INTO accounts (name) VALUES (?)")?;
    Ok(statement.insert([name])?)
}

fn version(transaction: &Transaction<'_>, account: i64, name: &str) -> Result<u64, SqliteError> {
    let sql = "SELECT version FROM documents WHERE account = ? AND name = ?";
    let mut statement = transaction.prepare_cached(sql)?;
    let version = statement.query_row(params![account, name], |row| row.get(0));
    Ok(sql::from_stored(version.optional()?.unwrap_or_default())?)
}

fn write_document(
    transaction: &Transaction<'_>,
    account: i64,
    name: &str,
    text: Option<&str>,
) -> Result<(), SqliteError> {
    let sql = match text {
        Some(_) => {
            "INSERT INTO documents (account, name, version, text) VALUES (?1, ?2, 1, ?3)
            ON CONFLICT (account, name) DO UPDATE SET version = version + 1, text = excluded.text"
        }
        None => "DELETE FROM documents WHERE account = ?1 AND name = ?2 AND ?3 IS NULL",
    };
    transaction
        .prepare_cached(sql)?
        .execute(params![account, name, text])?;
    Ok(())
}

fn write_row(transaction: &Transaction<'_>, account: i64, row: &Row) -> Result<(), SqliteError> {
    let sql = "INSERT INTO records (account, id, sequence, generation, status, species, number,
            origin_pic, destination_pic, movement_day, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (account, id) DO UPDATE SET sequence = excluded.sequence,
            generation = excluded.generation, status = excluded.status, species = excluded.species,
            number = excluded.number, origin_pic = excluded.origin_pic,
            destination_pic = excluded.destination_pic, movement_day = excluded.movement_day,
            updated_at = excluded.updated_at
        RETURNING record";
    let keys = &row.keys;
    let mut statement = transaction.prepare_cached(sql)?;
    let record: i64 = statement.query_row(
        params![
            account,
            row.id,
            sql::to_stored(row.sequence)?,
            sql::to_stored(row.generation)?,
            keys.status,
            keys.species,
            keys.number,
            keys.origin_pic,
            keys.destination_pic,
            keys.movement_day,
            updated_at(keys.updated_at.as_deref()),
        ],
        |row| row.get(0),
    )?;
    let sql = "INSERT INTO payloads (record, payload) VALUES (?, ?)
        ON CONFLICT (record) DO UPDATE SET payload = excluded.payload";
    transaction
        .prepare_cached(sql)?
        .execute(params![record, row.payload])?;
    Ok(())
}

/// The instant as the column has it.
pub(super) fn updated_at(instant: Option<&str>) -> ToSqlOutput<'_> {
    instant.map_or(ToSqlOutput::Owned(Value::Integer(0)), |instant| {
        ToSqlOutput::Borrowed(ValueRef::Text(instant.as_bytes()))
    })
}

fn remove_row(transaction: &Transaction<'_>, account: i64, id: &str) -> Result<(), SqliteError> {
    let Some(record) = record(transaction, account, id)? else {
        return Ok(());
    };
    for sql in [
        "DELETE FROM payloads WHERE record = ?",
        "DELETE FROM records WHERE record = ?",
    ] {
        transaction.prepare_cached(sql)?.execute([record])?;
    }
    Ok(())
}

fn add_change(
    transaction: &Transaction<'_>,
    account: i64,
    change: &ChangeRow,
) -> Result<(), SqliteError> {
    let sql =
        "INSERT INTO changes (account, sequence, previous, id, payload) VALUES (?, ?, ?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(params![
        account,
        sql::to_stored(change.sequence)?,
        sql::to_stored(change.previous)?,
        change.id,
        change.payload,
    ])?;
    Ok(())
}
