//! Statements with their values, and the columns of what they return.

use std::borrow::Cow;

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::{FromSql, ToSql, Type};

use envd_sdk::auth::{StoreError, StoreErrorKind};

/// A statement as it is sent, except that names in braces stand for those of the tables: [`Schema`](super::schema::Schema)
/// replaces them.
pub(crate) struct Statement<'a> {
    pub(crate) sql: Cow<'static, str>,
    /// In the order of their numbers. Typed, so the server need not be asked for the types, and the driver does not log them.
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
