//! What the stores in databases share: statements that read, and rows as the interface has them.
//!
//! A statement has names of tables in braces and parameters as `$1`. What a condition, an order and a position mean stands here,
//! and the database chooses the indexes.

use std::borrow::Cow;

use super::Order;
use super::rows::{ChangeRange, ChangeRow, Document, Query, Row, RowKeys, first_after};
use envd_sdk::auth::StoreError;
use envd_sdk::auth::StoreErrorKind;

/// A parameter of a statement.
pub(super) enum SqlValue<'a> {
    Text(Cow<'a, str>),
    Number(i64),
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for SqlValue<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// A statement that reads rows of an account, which is its first parameter.
pub(super) struct Sql<'a> {
    pub(super) statement: String,
    /// In the order of their numbers.
    pub(super) parameters: Vec<SqlValue<'a>>,
}

impl<'a> Sql<'a> {
    pub(super) fn new(
        account: impl Into<SqlValue<'a>>,
        statement: &str,
        values: impl IntoIterator<Item = SqlValue<'a>>,
    ) -> Self {
        Self {
            statement: statement.to_owned(),
            parameters: std::iter::once(account.into()).chain(values).collect(),
        }
    }

    /// Columns for [`document`].
    pub(super) fn documents(account: impl Into<SqlValue<'a>>, prefix: &'a str) -> Self {
        let from = "SELECT name, version, text FROM {document} WHERE account = $1 AND name >= $2";
        let mut sql = Self::new(account, from, [prefix.into()]);
        if let Some(end) = first_after(prefix) {
            sql.add(" AND name < {}", SqlValue::Text(end.into()));
        }
        sql.statement += " ORDER BY name";
        sql
    }

    /// Columns for [`change`].
    pub(super) fn changes(
        account: impl Into<SqlValue<'a>>,
        range: ChangeRange,
        limit: usize,
    ) -> Self {
        let (conditions, order, bounds) = match range {
            ChangeRange::After(after) => ("sequence > $2", "sequence", vec![after]),
            ChangeRange::Replacing { after, up_to } => (
                "previous > $2 AND previous <= $3 AND sequence > $3",
                "previous, sequence",
                vec![after, up_to],
            ),
        };
        let statement = format!(
            "SELECT sequence, previous, id, payload FROM {{change}} WHERE account = $1 AND {conditions} ORDER BY {order}"
        );
        let bounds = bounds.into_iter().map(|bound| to_bound(bound).into());
        let mut sql = Self::new(account, &statement, bounds);
        sql.add(" LIMIT {}", to_bound(limit).into());
        sql
    }

    /// How many rows meet a query.
    pub(super) fn count(account: impl Into<SqlValue<'a>>, query: &'a Query) -> Self {
        let mut sql = Self::new(
            account,
            "SELECT count(*) FROM {record} WHERE account = $1",
            [],
        );
        sql.add_conditions(query);
        sql
    }

    /// Columns of the rows that meet a query, in its order. Those of the order must be among them.
    ///
    /// `dateless` is the condition of rows without the instant of an update.
    pub(super) fn page(
        account: impl Into<SqlValue<'a>>,
        query: &'a Query,
        columns: &str,
        dateless: &str,
    ) -> Self {
        let mut sql = Self::new(account, "", []);
        sql.add_conditions(query);
        let conditions = std::mem::take(&mut sql.statement);
        let starts = sql.starts(query, dateless);
        let (order, limit) = (order(query), sql.parameter(to_bound(query.limit).into()));
        let parts = starts.iter().map(|start| {
            format!(
                "SELECT * FROM (SELECT {columns} FROM {{record}} WHERE account = $1{conditions}{start}
                ORDER BY {order} LIMIT {limit}) AS part"
            )
        });
        let parts = parts.collect::<Vec<_>>().join(" UNION ALL ");
        sql.statement = format!("{parts} ORDER BY {order} LIMIT {limit}");
        sql
    }

    fn add_conditions(&mut self, query: &'a Query) {
        for (condition, text) in [
            (" AND status = {}", &query.status),
            (" AND species = {}", &query.species),
            (" AND number = {}", &query.number),
            (" AND (origin_pic = {} OR destination_pic = {})", &query.pic),
            (" AND movement_day >= {}", &query.movement_from),
            (" AND movement_day <= {}", &query.movement_to),
            (" AND updated_at >= {}", &query.updated_from),
        ] {
            if let Some(text) = text {
                self.add(condition, SqlValue::from(&**text));
            }
        }
        if let Some(before) = query.before_generation {
            // None is before 0.
            let up_to = before.checked_sub(1).map_or(-1, to_bound);
            self.add(" AND generation <= {}", up_to.into());
        }
        if let Some(up_to) = query.up_to_sequence {
            self.add(" AND sequence <= {}", to_bound(up_to).into());
        }
    }

    /// Where a page begins. Each start is one range of an index, which an OR over all of them would not be.
    fn starts(&mut self, query: &'a Query, dateless: &str) -> Vec<String> {
        let Some(after) = &query.after else {
            return vec![String::new()];
        };
        if query.order == Order::Sequence {
            let sequence = self.parameter(to_bound(after.sequence).into());
            return vec![format!(" AND sequence > {sequence}")];
        }
        let id = self.parameter(SqlValue::from(&*after.id));
        if query.order == Order::Id {
            return vec![format!(" AND id > {id}")];
        }
        let Some(updated) = &after.keys.updated_at else {
            return vec![format!(" AND {dateless} AND id > {id}")];
        };
        let updated = self.parameter(SqlValue::from(&**updated));
        vec![
            format!(" AND updated_at = {updated} AND id > {id}"),
            format!(" AND updated_at < {updated}"),
            " AND updated_at IS NULL".to_owned(),
        ]
    }

    fn add(&mut self, text: &str, value: SqlValue<'a>) {
        let parameter = self.parameter(value);
        self.statement += &text.replace("{}", &parameter);
    }

    fn parameter(&mut self, value: SqlValue<'a>) -> String {
        self.parameters.push(value);
        format!("${}", self.parameters.len())
    }
}

/// By which columns the rows of a query are ordered.
pub(super) fn order(query: &Query) -> &'static str {
    match query.order {
        Order::Id => "id",
        Order::Sequence => "sequence",
        Order::LastUpdated => "updated_at DESC NULLS LAST, id",
    }
}

/// A number to store: databases have numbers up to [`i64::MAX`].
pub(super) fn to_stored(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| {
        StoreError::new(
            StoreErrorKind::Other,
            "a number of the copy is greater than the store can keep",
        )
    })
}

/// A number to compare with stored ones, or a limit: no stored number is greater than the greatest one here.
pub(super) fn to_bound(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The keys of a row in the order of their columns.
pub(super) fn key_columns(keys: &RowKeys) -> [Option<&str>; 7] {
    let (species, number) = (&keys.species, &keys.number);
    let (origin, destination) = (&keys.origin_pic, &keys.destination_pic);
    let (day, updated) = (&keys.movement_day, &keys.updated_at);
    [
        &keys.status,
        species,
        number,
        origin,
        destination,
        day,
        updated,
    ]
    .map(Option::as_deref)
}

/// A row that a database has returned.
pub(super) trait StoredColumns {
    fn optional(&self, column: usize) -> Result<Option<String>, StoreError>;

    fn integer(&self, column: usize) -> Result<i64, StoreError>;

    fn text(&self, column: usize) -> Result<String, StoreError> {
        self.optional(column)?.ok_or_else(damaged)
    }

    fn number(&self, column: usize) -> Result<u64, StoreError> {
        u64::try_from(self.integer(column)?).map_err(|_| damaged())
    }
}

pub(super) fn damaged() -> StoreError {
    let message = "the database of the copy is damaged: a column has no such value";
    StoreError::new(StoreErrorKind::Unreadable, message)
}

pub(super) fn document(row: &dyn StoredColumns) -> Result<Document, StoreError> {
    Ok(Document {
        name: row.text(0)?,
        version: row.number(1)?,
        text: row.text(2)?,
    })
}

pub(super) fn change(row: &dyn StoredColumns) -> Result<ChangeRow, StoreError> {
    Ok(ChangeRow {
        sequence: row.number(0)?,
        previous: row.number(1)?,
        id: row.text(2)?,
        payload: row.text(3)?,
    })
}

/// From the id, sequence, generation, keys and payload.
pub(super) fn row(row: &dyn StoredColumns) -> Result<Row, StoreError> {
    Ok(Row {
        id: row.text(0)?,
        sequence: row.number(1)?,
        generation: row.number(2)?,
        keys: RowKeys {
            status: row.optional(3)?,
            species: row.optional(4)?,
            number: row.optional(5)?,
            origin_pic: row.optional(6)?,
            destination_pic: row.optional(7)?,
            movement_day: row.optional(8)?,
            updated_at: row.optional(9)?,
        },
        payload: row.text(10)?,
    })
}
