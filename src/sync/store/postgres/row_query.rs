//! Reads rows by a query.

use deadpool_postgres::tokio_postgres::types::Type;

use super::stored_row::{self, is_storable};
use crate::auth::StoreError;
use crate::auth::postgres::database::{Database, Parameter};
use crate::sync::store::sql::{Dialect, SqlQuery, SqlValue};
use crate::sync::store::{Query, Row};

const DIALECT: Dialect = Dialect {
    table: "{record}",
    mark: '$',
    undated: "updated_at IS NULL",
};

/// `None` if no row can meet the query.
fn sql_query<'a>(account: &'a str, query: &'a Query) -> Option<SqlQuery<'a>> {
    let texts = [&query.status, &query.species, &query.number, &query.pic];
    let mut texts = texts.into_iter().flatten();
    let account = SqlValue::Text(account);
    texts
        .all(|text| is_storable(text))
        .then(|| SqlQuery::new(&DIALECT, account, query))
}

fn parameters<'a>(query: &'a SqlQuery<'_>) -> Vec<Parameter<'a>> {
    let parameter = |value: &'a SqlValue<'_>| match value {
        SqlValue::Text(text) => (text as _, Type::TEXT),
        SqlValue::Number(number) => (number as _, Type::INT8),
    };
    query.parameters.iter().map(parameter).collect()
}

pub(super) async fn rows(
    database: &Database,
    account: &str,
    query: &Query,
) -> Result<Vec<Row>, StoreError> {
    let Some(mut query) = sql_query(account, query) else {
        return Ok(Vec::new());
    };
    let (columns, page, order) = (stored_row::COLUMNS, query.page("*"), query.order());
    let statement = format!("SELECT {columns} FROM ({page}) AS found ORDER BY {order}");
    let rows = database.read(&statement, &parameters(&query)).await?;
    rows.iter().map(stored_row::row).collect()
}

pub(super) async fn count(
    database: &Database,
    account: &str,
    query: &Query,
) -> Result<u64, StoreError> {
    let Some(query) = sql_query(account, query) else {
        return Ok(0);
    };
    let rows = database.read(&query.count(), &parameters(&query)).await?;
    rows.first().map_or(Ok(0), |row| stored_row::number(row, 0))
}
