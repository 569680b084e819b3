//! A batch as statements, each for all that is alike in it.

use std::collections::HashMap;

use deadpool_postgres::tokio_postgres::types::{ToSql, Type};
use futures_util::future::{try_join, try_join_all};
use tokio::time::timeout;

use super::postgres_sync::is_storable;
use super::sql;
use crate::connection::{Connection, DatabaseError};
use crate::database::{Database, Parameter};
use envd_sdk::auth::StoreError;
use envd_sync::store::rows::{Batch, ChangeRow, Row, RowKeys};

// `batch_commit` has set the `search_path`, so no name but those of tables is qualified.

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

/// A parameter that belongs to its statement.
type Value<'a> = (Box<dyn ToSql + Send + Sync + 'a>, Type);

/// The statements of a batch in their order.
pub(super) struct BatchWrites<'a> {
    account: &'a str,
    statements: Vec<(&'static str, Vec<Value<'a>>)>,
}

impl<'a> BatchWrites<'a> {
    pub(super) fn of(account: &'a str, batch: &'a Batch) -> Result<Self, StoreError> {
        let mut writes = Self {
            account,
            statements: Vec::new(),
        };
        writes.add_documents(&batch.documents);
        writes.add_rows(&batch.rows)?;
        if let Some((generation, ids)) = &batch.seen {
            let generation = sql::to_stored(*generation)?;
            writes.add(MARK_SEEN, vec![number(generation), storable(ids)]);
        }
        if !batch.removed.is_empty() {
            writes.add(REMOVE_RECORDS, vec![storable(&batch.removed)]);
            writes.add(REMOVE_PAYLOADS, vec![storable(&batch.removed)]);
        }
        writes.add_changes(&batch.changes)?;
        if let Some(up_to) = batch.forget_changes {
            writes.add(FORGET_CHANGES, vec![number(sql::to_bound(up_to))]);
        }
        Ok(writes)
    }

    /// Sends all statements together, and ends the transaction.
    pub(super) async fn send(
        &self,
        connection: &Connection,
        database: &Database,
    ) -> Result<(), DatabaseError> {
        let client = connection.client()?;
        let statements = self.statements.iter();
        let sent = statements.map(|(statement, values)| async move {
            let statement = database.schema.fill(statement);
            let account: Parameter<'_> = (&self.account, Type::TEXT);
            let values = values
                .iter()
                .map(|(value, kind)| (&**value as _, kind.clone()));
            let parameters: Vec<Parameter<'_>> = [account].into_iter().chain(values).collect();
            client.execute_typed(&statement, &parameters).await
        });
        // Each is sent when it is polled first, so in this order.
        let sent = try_join(try_join_all(sent), client.batch_execute("COMMIT"));
        timeout(database.time_out, sent).await??;
        Ok(())
    }

    fn add(&mut self, statement: &'static str, values: Vec<Value<'a>>) {
        self.statements.push((statement, values));
    }

    fn add_documents(&mut self, documents: &'a [(String, Option<String>)]) {
        let (mut names, mut texts, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for (name, text) in last_of_each(documents, |(name, _)| name) {
            match text {
                Some(text) => {
                    names.push(&**name);
                    texts.push(&**text);
                }
                None if is_storable(name) => removed.push(&**name),
                None => {}
            }
        }
        if !removed.is_empty() {
            self.add(REMOVE_DOCUMENTS, vec![array(removed)]);
        }
        if !names.is_empty() {
            self.add(WRITE_DOCUMENTS, vec![array(names), array(texts)]);
        }
    }

    fn add_rows(&mut self, rows: &'a [Row]) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let rows = last_of_each(rows, |row| &row.id);
        let ids = || array(rows.iter().map(|row| &*row.id).collect());
        let mut values = vec![
            ids(),
            numbers(rows.iter().map(|row| row.sequence))?,
            numbers(rows.iter().map(|row| row.generation))?,
        ];
        for column in 0..sql::key_columns(&RowKeys::default()).len() {
            let keys = rows.iter().map(|row| sql::key_columns(&row.keys));
            let keys: Vec<Option<&str>> =
                keys.filter_map(|keys| keys.get(column).copied()).collect();
            values.push((Box::new(keys), Type::TEXT_ARRAY));
        }
        self.add(WRITE_RECORDS, values);
        let payloads = rows.iter().map(|row| &*row.payload).collect();
        self.add(WRITE_PAYLOADS, vec![ids(), array(payloads)]);
        Ok(())
    }

    fn add_changes(&mut self, changes: &'a [ChangeRow]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let values = vec![
            numbers(changes.iter().map(|change| change.sequence))?,
            numbers(changes.iter().map(|change| change.previous))?,
            array(changes.iter().map(|change| &*change.id).collect()),
            array(changes.iter().map(|change| &*change.payload).collect()),
        ];
        self.add(ADD_CHANGES, values);
        Ok(())
    }
}

/// No statement can write a row twice.
fn last_of_each<'a, T>(all: &'a [T], name: impl Fn(&'a T) -> &'a String) -> Vec<&'a T> {
    let numbered = all.iter().enumerate();
    let last: HashMap<&String, usize> = numbered.clone().map(|(at, one)| (name(one), at)).collect();
    let kept = numbered.filter(|(at, one)| last.get(name(one)) == Some(at));
    kept.map(|(_, one)| one).collect()
}

fn number<'a>(number: i64) -> Value<'a> {
    (Box::new(number), Type::INT8)
}

fn numbers<'a>(numbers: impl Iterator<Item = u64>) -> Result<Value<'a>, StoreError> {
    let numbers: Vec<i64> = numbers.map(sql::to_stored).collect::<Result<_, _>>()?;
    Ok((Box::new(numbers), Type::INT8_ARRAY))
}

fn array(texts: Vec<&str>) -> Value<'_> {
    (Box::new(texts), Type::TEXT_ARRAY)
}

/// Those of the ids that a row can have.
fn storable(ids: &[String]) -> Value<'_> {
    let ids = ids.iter().map(|id| &**id);
    array(ids.filter(|id| is_storable(id)).collect())
}
