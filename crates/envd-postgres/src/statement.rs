//! Statements with their values, and access to the columns of rows.

use std::borrow::Cow;

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::{FromSql, ToSql, Type};

use envd_sdk::auth::{StoreError, StoreErrorKind};

/// With this `search_path`, names of functions, operators and types are those of the server, whatever the connection, role or
/// database sets; those of other roles are not looked up. Names of tables include their schema. `SET LOCAL` ends with the
/// transaction, so other users of the pool keep their `search_path`, even with `PgBouncer`.
pub(crate) const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = pg_catalog, pg_temp";

/// The text of a statement, with names in braces for the tables; [`Schema`](super::schema::Schema) replaces these.
pub(crate) struct Statement<'a> {
    pub(crate) sql: Cow<'static, str>,
    /// The values, in the order of their numbers. With their types, the driver neither asks the server for the types nor logs the
    /// values.
    pub(crate) values: Vec<(Box<dyn ToSql + Send + Sync + 'a>, Type)>,
}

impl<'a> Statement<'a> {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self {
            sql: sql.into(),
            values: Vec::new(),
        }
    }

    /// Adds the value with the next number.
    pub(crate) fn bind(mut self, kind: Type, value: impl ToSql + Send + Sync + 'a) -> Self {
        self.values.push((Box::new(value), kind));
        self
    }
}

pub(crate) fn column<'r, T: FromSql<'r>>(row: &'r Row, number: usize) -> Result<T, StoreError> {
    row.try_get(number).map_err(|_| damaged())
}

/// A number that is never negative.
pub(crate) fn unsigned(row: &Row, number: usize) -> Result<u64, StoreError> {
    u64::try_from(column::<i64>(row, number)?).map_err(|_| damaged())
}

fn damaged() -> StoreError {
    let message = "the database of the store is damaged: a column has no such value";
    StoreError::new(StoreErrorKind::Unreadable, message)
}
