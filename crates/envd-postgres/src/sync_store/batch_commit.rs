//! Writes a batch, in one transaction and two round trips: the lock and the versions, then everything else.

use std::collections::HashMap;

use deadpool_postgres::tokio_postgres::types::Type;

use super::postgres_sync::{is_storable, storable, to_bound};
use crate::connection::PooledConnection;
use crate::database::Database;
use crate::schema::APPLIED;
use crate::statement::{Statement, column, unsigned};
use envd_sdk::auth::{StoreError, StoreErrorKind};
use envd_sync::store::rows::{Batch, ChangeRow, RecordRow, RowKeys};

/// Locks the row even if it exists and no write changes it.
const LOCK: &str = "INSERT INTO {lock} AS stored (account) VALUES ($1)
    ON CONFLICT (account) DO UPDATE SET account = EXCLUDED.account WHERE false";

/// Sees all commits before the lock was taken: at READ COMMITTED each statement sees the latest state.
const VERSIONS: &str =
    "SELECT name, version FROM {document} WHERE account = $1 AND name = ANY ($2)";

// Each statement writes all entries of one kind in a batch.

const WRITE_DOCUMENTS: &str = "INSERT INTO {document} AS stored (account, name, version, text)
    SELECT $1, written.name, 1, written.text FROM unnest($2, $3) AS written (name, text)
    ON CONFLICT (account, name) DO UPDATE SET version = stored.version + 1, text = EXCLUDED.text";

const REMOVE_DOCUMENTS: &str = "DELETE FROM {document} WHERE account = $1 AND name = ANY ($2)";

const WRITE_RECORDS: &str = "INSERT INTO {record} (account, id, sequence, generation, status, species,
        number, origin_pic, destination_pic, movement_day, updated_at)
    SELECT $1, written.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS written
    ON CONFLICT (account, id) DO UPDATE SET sequence = EXCLUDED.sequence, generation = EXCLUDED.generation,
        status = EXCLUDED.status, species = EXCLUDED.species, number = EXCLUDED.number,
        origin_pic = EXCLUDED.origin_pic, destination_pic = EXCLUDED.destination_pic,
        movement_day = EXCLUDED.movement_day, updated_at = EXCLUDED.updated_at";

const WRITE_PAYLOADS: &str = "INSERT INTO {payload} (account, id, payload)
    SELECT $1, written.* FROM unnest($2, $3) AS written
    ON CONFLICT (account, id) DO UPDATE SET payload = EXCLUDED.payload";

const MARK_SEEN: &str = "UPDATE {record} SET generation = $2
    WHERE account = $1 AND id = ANY ($3) AND generation <> $2";

const REMOVE_RECORDS: &str = "DELETE FROM {record} WHERE account = $1 AND id = ANY ($2)";

const REMOVE_PAYLOADS: &str = "DELETE FROM {payload} WHERE account = $1 AND id = ANY ($2)";

const ADD_CHANGES: &str = "INSERT INTO {change} (account, sequence, previous, id, payload)
    SELECT $1, written.* FROM unnest($2, $3, $4, $5) AS written";

const FORGET_CHANGES: &str = "DELETE FROM {change} WHERE account = $1 AND sequence <= $2";

/// Writes the batch, and returns whether all documents had the expected versions.
pub(super) async fn commit(
    database: &Database,
    account: &str,
    batch: &Batch,
) -> Result<bool, StoreError> {
    let Some(expected) = expected(batch) else {
        return Ok(false);
    };
    let writes = writes(account, batch)?;
    let (connection, is_as_expected) = begin(database, account, &expected).await?;
    let (writes, end) = if is_as_expected {
        (&*writes, "COMMIT")
    } else {
        (&[] as _, "ROLLBACK")
    };
    // After an error, closing the connection ends the transaction.
    let written = database.send(&connection, None, writes, Some(end)).await;
    written.map_err(|error| error.error)?;
    connection.give_back();
    Ok(is_as_expected)
}

/// The versions that documents must have, by name; `None` if these cannot all hold.
fn expected(batch: &Batch) -> Option<HashMap<&str, u64>> {
    let mut expected = HashMap::new();
    for (name, version) in &batch.expected {
        let is_possible = *version == 0 || is_storable(name);
        let known = expected.insert(&**name, *version);
        if !is_possible || known.is_some_and(|known| known != *version) {
            return None;
        }
    }
    Some(expected)
}

/// Begins the transaction, locks the account and compares the versions.
async fn begin(
    database: &Database,
    account: &str,
    expected: &HashMap<&str, u64>,
) -> Result<(PooledConnection, bool), StoreError> {
    // These free the account if a host hangs between the two round trips, and end the wait for the lock before the caller's own
    // time-out.
    let limit = database.time_out.as_millis().clamp(2, 60_000);
    let settings = format!(
        "SET LOCAL idle_in_transaction_session_timeout = '{limit}ms'; SET LOCAL lock_timeout = '{}ms'",
        limit / 2
    );
    let names = expected.keys().copied();
    let names: Vec<&str> = names.filter(|name| is_storable(name)).collect();
    // Read the migrations first, because a migration takes its locks in this order.
    let statements = [
        Statement::new(APPLIED),
        Statement::new(LOCK).bind(Type::TEXT, account),
        Statement::new(VERSIONS)
            .bind(Type::TEXT, account)
            .bind(Type::TEXT_ARRAY, names),
    ];
    let (connection, rows) = database.begin(&settings, &statements, None).await?;
    let (applied, versions) = rows.split_at(rows.len().min(1));
    database.schema.check_version(applied)?;
    let mut stored = HashMap::new();
    for row in versions {
        stored.insert(column::<&str>(row, 0)?, unsigned(row, 1)?);
    }
    let mut expected = expected.iter();
    let is_as_expected =
        expected.all(|(name, version)| stored.get(name).copied().unwrap_or_default() == *version);
    Ok((connection, is_as_expected))
}

/// The statements of a batch in their order.
fn writes<'a>(account: &'a str, batch: &'a Batch) -> Result<Vec<Statement<'a>>, StoreError> {
    let of_account = |sql| Statement::new(sql).bind(Type::TEXT, account);
    let mut all = Vec::new();
    let documents = last_of_each(&batch.documents, |(name, _)| name);
    let removed = documents
        .iter()
        .filter(|(name, text)| text.is_none() && is_storable(name));
    let removed: Vec<&str> = removed.map(|(name, _)| &**name).collect();
    if !removed.is_empty() {
        all.push(of_account(REMOVE_DOCUMENTS).bind(Type::TEXT_ARRAY, removed));
    }
    let written = documents
        .iter()
        .filter_map(|(name, text)| Some((&**name, text.as_deref()?)));
    let (names, texts): (Vec<&str>, Vec<&str>) = written.unzip();
    if !names.is_empty() {
        let write = of_account(WRITE_DOCUMENTS).bind(Type::TEXT_ARRAY, names);
        all.push(write.bind(Type::TEXT_ARRAY, texts));
    }
    if !batch.rows.is_empty() {
        let rows = last_of_each(&batch.rows, |row| &row.id);
        let texts =
            |text: fn(&RecordRow) -> &str| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
        let key = |key: fn(&RowKeys) -> &Option<String>| {
            let keys = rows.iter().map(|row| key(&row.keys).as_deref());
            keys.collect::<Vec<_>>()
        };
        let sequences = to_stored(rows.iter().map(|row| row.sequence))?;
        let generations = to_stored(rows.iter().map(|row| row.generation))?;
        let write = of_account(WRITE_RECORDS)
            .bind(Type::TEXT_ARRAY, texts(|row| &row.id))
            .bind(Type::INT8_ARRAY, sequences)
            .bind(Type::INT8_ARRAY, generations)
            .bind(Type::TEXT_ARRAY, key(|keys| &keys.status))
            .bind(Type::TEXT_ARRAY, key(|keys| &keys.species))
            .bind(Type::TEXT_ARRAY, key(|keys| &keys.number))
            .bind(Type::TEXT_ARRAY, key(|keys| &keys.origin_pic))
            .bind(Type::TEXT_ARRAY, key(|keys| &keys.destination_pic))
            .bind(Type::TEXT_ARRAY, key(|keys| &keys.movement_day))
            .bind(Type::TEXT_ARRAY, key(|keys| &keys.updated_at));
        all.push(write);
        let write = of_account(WRITE_PAYLOADS)
            .bind(Type::TEXT_ARRAY, texts(|row| &row.id))
            .bind(Type::TEXT_ARRAY, texts(|row| &row.payload));
        all.push(write);
    }
    if let Some((generation, ids)) = &batch.seen {
        let generation = to_stored_number(*generation)?;
        let mark = of_account(MARK_SEEN).bind(Type::INT8, generation);
        all.push(mark.bind(Type::TEXT_ARRAY, storable(ids)));
    }
    if !batch.removed.is_empty() {
        for sql in [REMOVE_RECORDS, REMOVE_PAYLOADS] {
            all.push(of_account(sql).bind(Type::TEXT_ARRAY, storable(&batch.removed)));
        }
    }
    if !batch.changes.is_empty() {
        let changes = batch.changes.iter();
        let texts = |text: fn(&ChangeRow) -> &str| changes.clone().map(text).collect::<Vec<_>>();
        let sequences = to_stored(changes.clone().map(|change| change.sequence))?;
        let previous = to_stored(changes.clone().map(|change| change.previous))?;
        let add = of_account(ADD_CHANGES)
            .bind(Type::INT8_ARRAY, sequences)
            .bind(Type::INT8_ARRAY, previous)
            .bind(Type::TEXT_ARRAY, texts(|change| &change.id))
            .bind(Type::TEXT_ARRAY, texts(|change| &change.payload));
        all.push(add);
    }
    if let Some(up_to) = batch.forget_changes {
        all.push(of_account(FORGET_CHANGES).bind(Type::INT8, to_bound(up_to)));
    }
    Ok(all)
}

/// The last entry for each name, because a statement cannot write a row twice.
fn last_of_each<'a, T>(all: &'a [T], name: impl Fn(&'a T) -> &'a String) -> Vec<&'a T> {
    let numbered = all.iter().enumerate();
    let last: HashMap<&String, usize> = numbered.clone().map(|(at, one)| (name(one), at)).collect();
    let kept = numbered.filter(|(at, one)| last.get(name(one)) == Some(at));
    kept.map(|(_, one)| one).collect()
}

fn to_stored(numbers: impl Iterator<Item = u64>) -> Result<Vec<i64>, StoreError> {
    numbers.map(to_stored_number).collect()
}

fn to_stored_number(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| {
        let message = "a number of the copy is greater than the store can keep";
        StoreError::new(StoreErrorKind::Other, message)
    })
}
