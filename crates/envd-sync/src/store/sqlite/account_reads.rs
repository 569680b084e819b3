//! Reads what an account has.

use rusqlite::config::DbConfig;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Row as Stored, ToSql, Transaction, params_from_iter};

use super::sqlite_error::SqliteError;
use crate::store::rows::{ChangeRange, ChangeRow, Document, Query, Row};
use crate::store::sql::{self, Sql, SqlValue, StoredColumns};
use envd_sdk::auth::StoreError;

/// A row without a payload is damaged, and must not be passed over.
const ROWS: &str =
    "SELECT id, sequence, generation, status, species, number, origin_pic, destination_pic,
        movement_day, nullif(updated_at, 0), payload
    FROM {record} LEFT JOIN payloads USING (record) WHERE account = $1 AND ";

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Text(text) => text.to_sql(),
            Self::Number(number) => number.to_sql(),
        }
    }
}

impl StoredColumns for Stored<'_> {
    fn optional(&self, column: usize) -> Result<Option<String>, StoreError> {
        self.get(column).map_err(|error| SqliteError::from(error).0)
    }

    fn integer(&self, column: usize) -> Result<i64, StoreError> {
        self.get(column).map_err(|error| SqliteError::from(error).0)
    }
}

/// An account in a transaction.
pub(super) struct AccountReads<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) account: i64,
}

impl AccountReads<'_> {
    pub(super) fn documents(&self, prefix: &str) -> Result<Vec<Document>, SqliteError> {
        self.select(&Sql::documents(self.account, prefix), sql::document)
    }

    pub(super) fn changes(
        &self,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, SqliteError> {
        self.select(&Sql::changes(self.account, range, limit), sql::change)
    }

    pub(super) fn rows(&self, ids: &[String]) -> Result<Vec<Row>, SqliteError> {
        let mut found = Vec::new();
        for id in ids {
            found.extend(self.rows_with("id = $2", SqlValue::from(&**id))?);
        }
        Ok(found)
    }

    pub(super) fn query(&self, query: &Query) -> Result<Vec<Row>, SqliteError> {
        let mut found = Vec::new();
        for record in self.select_by_values(&page(self.account, query), |row| row.integer(0))? {
            found.extend(self.rows_with("record = $2", record.into())?);
        }
        Ok(found)
    }

    pub(super) fn count(&self, query: &Query) -> Result<u64, SqliteError> {
        let counts =
            self.select_by_values(&Sql::count(self.account, query), |row| row.number(0))?;
        Ok(counts.into_iter().sum())
    }

    fn rows_with(&self, condition: &str, value: SqlValue<'_>) -> Result<Vec<Row>, SqliteError> {
        let sql = Sql::new(self.account, &format!("{ROWS}{condition}"), [value]);
        self.select(&sql, sql::row)
    }

    /// As [`select`](Self::select), planned for its values: some are rare, and others are in most rows.
    fn select_by_values<T>(
        &self,
        sql: &Sql<'_>,
        read: impl Fn(&dyn StoredColumns) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, SqliteError> {
        let plans_once = |yes| {
            let option = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
            self.transaction.set_db_config(option, yes)
        };
        plans_once(false)?;
        let found = self.select(sql, read);
        plans_once(true)?;
        found
    }

    fn select<T>(
        &self,
        sql: &Sql<'_>,
        read: impl Fn(&dyn StoredColumns) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, SqliteError> {
        let mut statement = self.transaction.prepare_cached(&fill(&sql.statement))?;
        let mut rows = statement.query(params_from_iter(&sql.parameters))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }
}

/// The number of the row, and the columns of the orders: so most pages are found in indexes alone.
pub(super) fn page(account: i64, query: &Query) -> Sql<'_> {
    let columns = "record, id, sequence, updated_at";
    Sql::page(account, query, columns, "updated_at = 0")
}

/// The statement in the words of `SQLite`, where `$1` is a name and no number.
pub(super) fn fill(statement: &str) -> String {
    let statement = statement.replace('$', "?").replace("{record}", "records");
    let statement = statement.replace("{document}", "documents");
    statement.replace("{change}", "changes")
}
