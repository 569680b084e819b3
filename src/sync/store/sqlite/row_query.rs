//! Reads rows, by a query or by their numbers in the table.

use rusqlite::types::ToSqlOutput;
use rusqlite::{ToSql, Transaction, params_from_iter};

use super::sqlite_error::SqliteError;
use crate::sync::store::sql::{self, Dialect, SqlQuery, SqlValue};
use crate::sync::store::{Query, Row, RowKeys};

const DIALECT: Dialect = Dialect {
    table: "records",
    mark: '?',
    undated: "updated_at = 0",
};

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Text(text) => text.to_sql(),
            Self::Number(number) => number.to_sql(),
        }
    }
}

pub(super) fn sql_query(account: i64, query: &Query) -> SqlQuery<'_> {
    SqlQuery::new(&DIALECT, SqlValue::Number(account), query)
}

/// The number of the row comes first; with the columns of the orders, most pages are found in indexes alone.
pub(super) fn page(query: &mut SqlQuery<'_>) -> String {
    query.page("record, id, sequence, updated_at")
}

pub(super) fn rows(
    transaction: &Transaction<'_>,
    account: i64,
    query: &Query,
) -> Result<Vec<Row>, SqliteError> {
    let mut query = sql_query(account, query);
    let mut statement = transaction.prepare_cached(&page(&mut query))?;
    let records = statement.query_map(params_from_iter(query.parameters), |row| row.get(0))?;
    records.map(|record| row(transaction, record?)).collect()
}

pub(super) fn count(
    transaction: &Transaction<'_>,
    account: i64,
    query: &Query,
) -> Result<u64, SqliteError> {
    let query = sql_query(account, query);
    let mut statement = transaction.prepare_cached(&query.count())?;
    let count = statement.query_row(params_from_iter(query.parameters), |row| row.get(0))?;
    Ok(sql::from_stored(count)?)
}

/// The row with this number in the table.
pub(super) fn row(transaction: &Transaction<'_>, record: i64) -> Result<Row, SqliteError> {
    let sql = "SELECT id, sequence, generation, status, species, number, origin_pic,
            destination_pic, movement_day, nullif(updated_at, 0), payload
        FROM records JOIN payloads USING (record) WHERE record = ?";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([record])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(Row {
        id: row.get(0)?,
        sequence: sql::from_stored(row.get(1)?)?,
        generation: sql::from_stored(row.get(2)?)?,
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
}
