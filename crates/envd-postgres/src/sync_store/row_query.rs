//! The statements that search rows. A condition that is not set is `NULL`. The server plans with the values, so such conditions
//! cost nothing.

use deadpool_postgres::tokio_postgres::types::Type;

use super::postgres_sync::{columns, is_storable, to_bound};
use crate::statement::Statement;
use envd_sync::store::Order;
use envd_sync::store::rows::Query;

macro_rules! conditions {
    () => {
        "account = $1
        AND ($2 IS NULL OR status = $2)
        AND ($3 IS NULL OR species = $3)
        AND ($4 IS NULL OR number = $4)
        AND ($5 IS NULL OR origin_pic = $5 OR destination_pic = $5)
        AND ($6 IS NULL OR movement_day >= $6)
        AND ($7 IS NULL OR movement_day <= $7)
        AND ($8 IS NULL OR updated_at >= $8)
        AND ($9 IS NULL OR generation <= $9)
        AND ($10 IS NULL OR sequence <= $10)"
    };
}

macro_rules! search {
    ($after:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM {record} AS found WHERE ",
            conditions!(),
            $after
        )
    };
}

macro_rules! part {
    ($after:literal) => {
        concat!(
            "(SELECT * FROM {record} WHERE ",
            conditions!(),
            $after,
            " LIMIT $12)"
        )
    };
}

const COUNT: &str = concat!("SELECT count(*) FROM {record} WHERE ", conditions!());

const BY_ID: &str = search!(" AND ($11 IS NULL OR id > $11) ORDER BY id LIMIT $12");

const BY_SEQUENCE: &str =
    search!(" AND ($11 IS NULL OR sequence > $11) ORDER BY sequence LIMIT $12");

/// The latest update first, and rows without an update last. The rows after the row with the id `$11` and the update `$13` are
/// three ranges of an index; an OR over all of them would not be. Without such a row, all rows are in the second and the third
/// range.
const BY_UPDATE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM (",
    part!(" AND updated_at = $13 AND id > $11 ORDER BY id"),
    " UNION ALL ",
    part!(
        " AND updated_at IS NOT NULL AND ($11 IS NULL OR updated_at < $13) ORDER BY updated_at DESC NULLS LAST, id"
    ),
    " UNION ALL ",
    part!(" AND updated_at IS NULL AND ($11 IS NULL OR $13 IS NOT NULL OR id > $11) ORDER BY id"),
    ") AS found ORDER BY updated_at DESC NULLS LAST, id LIMIT $12"
);

/// Whether any row can meet the query: no row has a text that Postgres cannot store.
pub(super) fn is_possible(query: &Query) -> bool {
    let after = query.after.iter();
    let keys = after.flat_map(|row| [Some(&row.id), row.updated_at.as_ref()]);
    let texts = texts(query).map(Option::as_ref).into_iter().chain(keys);
    texts.flatten().all(|text| is_storable(text))
}

/// Counts the rows that meet a query.
pub(super) fn count<'a>(account: &'a str, query: &'a Query) -> Statement<'a> {
    with_conditions(COUNT, account, query)
}

/// The rows that meet a query, in its order.
pub(super) fn page<'a>(account: &'a str, query: &'a Query) -> Statement<'a> {
    let sql = match query.order {
        Order::Id => BY_ID,
        Order::Sequence => BY_SEQUENCE,
        Order::LastUpdated => BY_UPDATE,
    };
    let (statement, after) = (with_conditions(sql, account, query), query.after.as_ref());
    let limit = to_bound(query.limit);
    match query.order {
        Order::Sequence => statement
            .bind(Type::INT8, after.map(|row| to_bound(row.sequence)))
            .bind(Type::INT8, limit),
        Order::Id => statement
            .bind(Type::TEXT, after.map(|row| &*row.id))
            .bind(Type::INT8, limit),
        Order::LastUpdated => statement
            .bind(Type::TEXT, after.map(|row| &*row.id))
            .bind(Type::INT8, limit)
            .bind(Type::TEXT, after.and_then(|row| row.updated_at.as_deref())),
    }
}

fn with_conditions<'a>(sql: &'static str, account: &'a str, query: &'a Query) -> Statement<'a> {
    let mut statement = Statement::new(sql).bind(Type::TEXT, account);
    for text in texts(query) {
        statement = statement.bind(Type::TEXT, text.as_deref());
    }
    // No generation is before 0.
    let before = query.before_generation;
    let up_to = before.map(|before| before.checked_sub(1).map_or(-1, to_bound));
    statement
        .bind(Type::INT8, up_to)
        .bind(Type::INT8, query.up_to_sequence.map(to_bound))
}

/// The texts in the order of their parameters, from `$2`.
fn texts(query: &Query) -> [&Option<String>; 7] {
    [
        &query.status,
        &query.species,
        &query.number,
        &query.pic,
        &query.movement_from,
        &query.movement_to,
        &query.updated_from,
    ]
}
