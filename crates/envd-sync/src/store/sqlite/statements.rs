//! The SQL statements that read an account and write a batch; each runs in a transaction of the caller.

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Params, ToSql, Transaction, params, params_from_iter};

use crate::store::Order;
use crate::store::rows::{
    Batch, ChangeRange, ChangeRow, Document, Query, RecordRow, RowKeys, first_after,
};

/// A row without a payload is damaged, and must cause an error instead of being skipped.
const ROW: &str =
    "SELECT id, sequence, generation, status, species, number, origin_pic, destination_pic,
        movement_day, nullif(updated_at, 0), payload
    FROM records LEFT JOIN payloads USING (record) WHERE account = ?1 AND ";

const WRITE_DOCUMENT: &str =
    "INSERT INTO documents (account, name, version, text) VALUES (?1, ?2, 1, ?3)
    ON CONFLICT (account, name) DO UPDATE SET version = version + 1, text = excluded.text";

const REMOVE_DOCUMENT: &str = "DELETE FROM documents WHERE account = ?1 AND name = ?2";

const WRITE_ROW: &str = "INSERT INTO records (account, id, sequence, generation, status, species, number,
        origin_pic, destination_pic, movement_day, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ifnull(?11, 0))
    ON CONFLICT (account, id) DO UPDATE SET sequence = ?3, generation = ?4, status = ?5, species = ?6, number = ?7,
        origin_pic = ?8, destination_pic = ?9, movement_day = ?10, updated_at = excluded.updated_at";

const WRITE_PAYLOAD: &str = "INSERT OR REPLACE INTO payloads (record, payload)
    SELECT record, ?3 FROM records WHERE account = ?1 AND id = ?2";

const MARK_SEEN: &str =
    "UPDATE records SET generation = ?3 WHERE account = ?1 AND id = ?2 AND generation <> ?3";

const REMOVE_PAYLOAD: &str = "DELETE FROM payloads
    WHERE record = (SELECT record FROM records WHERE account = ?1 AND id = ?2)";

const REMOVE_ROW: &str = "DELETE FROM records WHERE account = ?1 AND id = ?2";

const ADD_CHANGE: &str =
    "INSERT INTO changes (account, sequence, previous, id, payload) VALUES (?1, ?2, ?3, ?4, ?5)";

const FORGET_CHANGES: &str = "DELETE FROM changes WHERE account = ?1 AND sequence <= ?2";

/// Creates the tables of statistics again, since only then do all connections of all processes read them.
const ANALYZE: &str =
    "DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4; ANALYZE records";

/// Below this number of rows, any index reads them all within a millisecond.
const FEWEST_ANALYZED: i64 = 1_024;

/// An account in a transaction.
pub(super) struct AccountTables<'a> {
    transaction: &'a Transaction<'a>,
    name: &'a str,
    /// The number of the account; `None` before its first write, so that the statements compare with `NULL` and find nothing.
    account: Option<i64>,
}

impl<'a> AccountTables<'a> {
    pub(super) fn of(transaction: &'a Transaction<'a>, name: &'a str) -> rusqlite::Result<Self> {
        let sql = "SELECT account FROM accounts WHERE name = ?1";
        let mut statement = transaction.prepare_cached(sql)?;
        let account = statement.query_row([name], |row| row.get(0)).optional()?;
        Ok(Self {
            transaction,
            name,
            account,
        })
    }

    pub(super) fn documents(&self, prefix: &str) -> rusqlite::Result<Vec<Document>> {
        let sql = "SELECT name, version, text FROM documents
            WHERE account = ?1 AND name >= ?2 AND name < ?3 ORDER BY name";
        // A blob sorts after every text.
        let end = first_after(prefix).map_or(Value::Blob(Vec::new()), Value::Text);
        self.select(sql, params![self.account, prefix, end], |row| {
            Ok(Document {
                name: row.get(0)?,
                version: row.get(1)?,
                text: row.get(2)?,
            })
        })
    }

    pub(super) fn rows(&self, ids: &[String]) -> rusqlite::Result<Vec<RecordRow>> {
        let mut found = Vec::new();
        for id in ids {
            found.extend(self.rows_with("id = ?2", id)?);
        }
        Ok(found)
    }

    pub(super) fn query(&self, query: &Query) -> rusqlite::Result<Vec<RecordRow>> {
        let records: Vec<i64> = self.search(Search::page(self.account, query))?;
        let mut found = Vec::new();
        for record in records {
            found.extend(self.rows_with("record = ?2", &record)?);
        }
        Ok(found)
    }

    pub(super) fn count(&self, query: &Query) -> rusqlite::Result<u64> {
        let counts: Vec<u64> = self.search(Search::count(self.account, query))?;
        Ok(counts.into_iter().sum())
    }

    pub(super) fn changes(
        &self,
        range: ChangeRange,
        limit: usize,
    ) -> rusqlite::Result<Vec<ChangeRow>> {
        let (found, after, up_to) = match range {
            ChangeRange::After(after) => ("sequence > ?2 ORDER BY sequence", after, 0),
            ChangeRange::Replacing { after, up_to } => (
                "previous > ?2 AND previous <= ?3 AND sequence > ?3 ORDER BY previous, sequence",
                after,
                up_to,
            ),
        };
        let sql = format!(
            "SELECT sequence, previous, id, payload FROM changes WHERE account = ?1 AND {found} LIMIT ?4"
        );
        let bounds = params![self.account, bound(after), bound(up_to), bound(limit)];
        self.select(&sql, bounds, |row| {
            Ok(ChangeRow {
                sequence: row.get(0)?,
                previous: row.get(1)?,
                id: row.get(2)?,
                payload: row.get(3)?,
            })
        })
    }

    /// Writes a batch, and returns whether all documents had the expected versions.
    pub(super) fn commit(&self, batch: &Batch) -> rusqlite::Result<bool> {
        for (name, expected) in &batch.expected {
            let sql = "SELECT version FROM documents WHERE account = ?1 AND name = ?2";
            let key = params![self.account, name];
            let versions: Vec<u64> = self.select(sql, key, |row| row.get(0))?;
            if versions.first().unwrap_or(&0) != expected {
                return Ok(false);
            }
        }
        let account = if let Some(account) = self.account {
            account
        } else {
            self.execute("INSERT INTO accounts (name) VALUES (?1)", [self.name])?;
            self.transaction.last_insert_rowid()
        };
        let last = self.last_record()?;
        for (name, text) in &batch.documents {
            match text {
                Some(text) => self.execute(WRITE_DOCUMENT, params![account, name, text])?,
                None => self.execute(REMOVE_DOCUMENT, params![account, name])?,
            }
        }
        for RecordRow {
            id,
            sequence,
            generation,
            keys,
            payload,
        } in &batch.rows
        {
            let row = params![
                account,
                id,
                sequence,
                generation,
                keys.status,
                keys.species,
                keys.number,
                keys.origin_pic,
                keys.destination_pic,
                keys.movement_day,
                keys.updated_at
            ];
            self.execute(WRITE_ROW, row)?;
            self.execute(WRITE_PAYLOAD, params![account, id, payload])?;
        }
        if let Some((generation, ids)) = &batch.seen {
            for id in ids {
                self.execute(MARK_SEEN, params![account, id, generation])?;
            }
        }
        for id in &batch.removed {
            self.execute(REMOVE_PAYLOAD, params![account, id])?;
            self.execute(REMOVE_ROW, params![account, id])?;
        }
        for change in &batch.changes {
            let ChangeRow {
                sequence,
                previous,
                id,
                payload,
            } = change;
            let change = params![account, sequence, previous, id, payload];
            self.execute(ADD_CHANGE, change)?;
        }
        if let Some(up_to) = batch.forget_changes {
            self.execute(FORGET_CHANGES, params![account, bound(up_to)])?;
        }
        self.analyze_after(last)?;
        Ok(true)
    }

    /// Updates the statistics whenever the highest row number has doubled.
    ///
    /// `SQLite` uses the statistics to choose the index for a query. If rows are pruned, the numbers grow although the table does
    /// not.
    fn analyze_after(&self, last: i64) -> rusqlite::Result<()> {
        let rows = self.last_record()?;
        if rows >= FEWEST_ANALYZED && rows.checked_ilog2() > last.checked_ilog2() {
            self.transaction.execute_batch(ANALYZE)?;
        }
        Ok(())
    }

    /// The highest row number; numbers are assigned in ascending order.
    fn last_record(&self) -> rusqlite::Result<i64> {
        let sql = "SELECT coalesce(max(record), 0) FROM records";
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.query_row((), |row| row.get(0))
    }

    fn execute(&self, sql: &str, parameters: impl Params) -> rusqlite::Result<()> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.execute(parameters).map(drop)
    }

    fn rows_with(&self, condition: &str, value: &dyn ToSql) -> rusqlite::Result<Vec<RecordRow>> {
        let sql = format!("{ROW}{condition}");
        self.select(&sql, params![self.account, value], |row| {
            Ok(RecordRow {
                id: row.get(0)?,
                sequence: row.get(1)?,
                generation: row.get(2)?,
                keys: RowKeys {
                    status: row.get(3)?,
                    species: row.get(4)?,
                    number: row.get(5)?,
                    origin_pic: row.get(6)?,
                    destination_pic: row.get(7)?,
                    movement_day: row.get(8)?,
                    updated_at: row.get(9)?,
                },
                payload: row.get(10)?,
            })
        })
    }

    fn select<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.query_map(parameters, read)?.collect()
    }

    /// Runs a search and returns its numbers. The plan depends on the values: some are rare, and others are in most rows.
    fn search<T: rusqlite::types::FromSql>(&self, search: Search) -> rusqlite::Result<Vec<T>> {
        let plans_once = |yes| {
            let option = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
            self.transaction.set_db_config(option, yes)
        };
        plans_once(false)?;
        let values = params_from_iter(search.values);
        let found = self.select(&search.sql, values, |row| row.get(0));
        plans_once(true)?;
        found
    }
}

/// A statement that searches the rows of an account, its first parameter.
pub(super) struct Search {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Search {
    /// Counts the rows that meet a query.
    pub(super) fn count(account: Option<i64>, query: &Query) -> Self {
        let mut search = Self::with_conditions(account, query);
        search
            .sql
            .insert_str(0, "SELECT count(*) FROM records WHERE ");
        search
    }

    /// The numbers of the rows that meet a query, in its order. It selects only columns of the orders, so most pages are found in
    /// an index alone.
    pub(super) fn page(account: Option<i64>, query: &Query) -> Self {
        let mut search = Self::with_conditions(account, query);
        let order = match query.order {
            Order::Id => "id",
            Order::Sequence => "sequence",
            Order::LastUpdated => "updated_at DESC, id",
        };
        let conditions = std::mem::take(&mut search.sql);
        let limit = search.parameter(bound(query.limit).into());
        // Each start is one range of an index; an OR over all of them would not be.
        let parts = search.starts(query).into_iter().map(|start| {
            format!(
                "SELECT * FROM (SELECT record, id, sequence, updated_at FROM records WHERE {conditions}{start}
                ORDER BY {order} LIMIT {limit})"
            )
        });
        let parts = parts.collect::<Vec<_>>().join(" UNION ALL ");
        search.sql = format!("{parts} ORDER BY {order} LIMIT {limit}");
        search
    }

    fn with_conditions(account: Option<i64>, query: &Query) -> Self {
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        // No generation is before 0.
        let before = query.before_generation;
        let before = before.map(|before| before.checked_sub(1).map_or(-1, bound).into());
        let mut search = Self {
            sql: "account = ?1".to_owned(),
            values: vec![account.into()],
        };
        for (condition, value) in [
            ("status = ?", text(&query.status)),
            ("species = ?", text(&query.species)),
            ("number = ?", text(&query.number)),
            ("(origin_pic = ? OR destination_pic = ?)", text(&query.pic)),
            ("movement_day >= ?", text(&query.movement_from)),
            ("movement_day <= ?", text(&query.movement_to)),
            ("updated_at >= ?", text(&query.updated_from)),
            ("generation <= ?", before),
            (
                "sequence <= ?",
                query.up_to_sequence.map(|up_to| bound(up_to).into()),
            ),
        ] {
            if let Some(value) = value {
                let condition = condition.replace('?', &search.parameter(value));
                search.sql += " AND ";
                search.sql += &condition;
            }
        }
        search
    }

    /// The conditions for rows after the position of the query.
    fn starts(&mut self, query: &Query) -> Vec<String> {
        let Some(after) = &query.after else {
            return vec![String::new()];
        };
        if query.order == Order::Sequence {
            let sequence = self.parameter(bound(after.sequence).into());
            return vec![format!(" AND sequence > {sequence}")];
        }
        let id = self.parameter(after.id.clone().into());
        if query.order == Order::Id {
            return vec![format!(" AND id > {id}")];
        }
        // As in the column: 0 is the least value, and less than every text.
        let updated = after.updated_at.clone();
        let updated = self.parameter(updated.map_or(Value::Integer(0), Value::Text));
        vec![
            format!(" AND updated_at = {updated} AND id > {id}"),
            format!(" AND updated_at < {updated}"),
        ]
    }

    fn parameter(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }
}

/// Limits a number to the range of stored ones, to compare with them or as a row limit.
fn bound(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
