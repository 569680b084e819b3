//! What the stores in databases share: numbers as databases have them, and queries as SQL that both understand.

use super::{Order, Query};
use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

/// A number to store: databases have numbers up to [`i64::MAX`].
pub(super) fn to_stored(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number)
        .map_err(|_| StoreError::new("a number of the copy is greater than the store can keep"))
}

/// A number that was stored.
pub(super) fn from_stored(number: i64) -> Result<u64, StoreError> {
    let message = "the database of the copy is damaged: a number is negative";
    u64::try_from(number).map_err(|_| StoreError::of(StoreErrorKind::Unreadable, message))
}

/// A number to compare with stored ones, or a limit: no stored number is greater than the greatest one here.
pub(super) fn to_bound(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Where the two databases differ.
pub(super) struct Dialect {
    pub(super) table: &'static str,
    /// What stands before the number of a parameter.
    pub(super) mark: char,
    /// The condition of rows without the instant of an update.
    pub(super) undated: &'static str,
}

/// A parameter of a statement.
pub(super) enum SqlValue<'a> {
    Text(&'a str),
    Number(i64),
}

/// The rows that a query asks for, as SQL. The database chooses the indexes.
pub(super) struct SqlQuery<'a> {
    dialect: &'static Dialect,
    query: &'a Query,
    conditions: String,
    /// In the order of their numbers.
    pub(super) parameters: Vec<SqlValue<'a>>,
}

impl<'a> SqlQuery<'a> {
    pub(super) fn new(dialect: &'static Dialect, account: SqlValue<'a>, query: &'a Query) -> Self {
        let mut sql = Self {
            dialect,
            query,
            conditions: format!("account = {}1", dialect.mark),
            parameters: vec![account],
        };
        for (condition, text) in [
            ("status = {}", &query.status),
            ("species = {}", &query.species),
            ("number = {}", &query.number),
            ("(origin_pic = {} OR destination_pic = {})", &query.pic),
            ("movement_day >= {}", &query.movement_from),
            ("movement_day <= {}", &query.movement_to),
            ("updated_at >= {}", &query.updated_from),
        ] {
            if let Some(text) = text {
                sql.add(condition, SqlValue::Text(text));
            }
        }
        if let Some(before) = query.before_generation {
            // None is before 0.
            let up_to = before.checked_sub(1).map_or(-1, to_bound);
            sql.add("generation <= {}", SqlValue::Number(up_to));
        }
        if let Some(up_to) = query.up_to_sequence {
            sql.add("sequence <= {}", SqlValue::Number(to_bound(up_to)));
        }
        sql
    }

    fn add(&mut self, condition: &str, value: SqlValue<'a>) {
        let condition = condition.replace("{}", &self.parameter(value));
        self.conditions += &format!(" AND {condition}");
    }

    fn parameter(&mut self, value: SqlValue<'a>) -> String {
        self.parameters.push(value);
        format!("{}{}", self.dialect.mark, self.parameters.len())
    }

    /// How many rows meet the conditions.
    pub(super) fn count(&self) -> String {
        let Self { conditions, .. } = self;
        format!(
            "SELECT count(*) FROM {} WHERE {conditions}",
            self.dialect.table
        )
    }

    /// By which columns the rows are ordered.
    pub(super) fn order(&self) -> &'static str {
        match self.query.order {
            Order::Id => "id",
            Order::Sequence => "sequence",
            Order::LastUpdated => "updated_at DESC NULLS LAST, id",
        }
    }

    /// These columns of the rows of a page, in their order. Those of the order must be among them.
    pub(super) fn page(&mut self, columns: &str) -> String {
        let starts = self.starts();
        let limit = self.parameter(SqlValue::Number(to_bound(self.query.limit)));
        let (table, order) = (self.dialect.table, self.order());
        let conditions = &self.conditions;
        let parts = starts.map(|start| {
            format!(
                "SELECT * FROM (SELECT {columns} FROM {table} WHERE {conditions}{start}
                ORDER BY {order} LIMIT {limit}) AS part"
            )
        });
        let parts = parts.collect::<Vec<_>>().join(" UNION ALL ");
        format!("{parts} ORDER BY {order} LIMIT {limit}")
    }

    /// Where the page begins. Each of them is one range of an index, which an OR over all of them would not be.
    fn starts(&mut self) -> impl Iterator<Item = String> + use<'a> {
        let Some(after) = &self.query.after else {
            return vec![String::new()].into_iter();
        };
        let (query, undated) = (self.query, self.dialect.undated);
        let mut parameter = |value| self.parameter(value);
        let starts = match query.order {
            Order::Sequence => {
                let sequence = parameter(SqlValue::Number(to_bound(after.sequence)));
                vec![format!(" AND sequence > {sequence}")]
            }
            Order::Id => vec![format!(
                " AND id > {}",
                parameter(SqlValue::Text(&after.id))
            )],
            Order::LastUpdated => {
                let id = parameter(SqlValue::Text(&after.id));
                match &after.keys.updated_at {
                    None => vec![format!(" AND {undated} AND id > {id}")],
                    Some(updated) => {
                        let updated = parameter(SqlValue::Text(updated));
                        vec![
                            format!(" AND updated_at = {updated} AND id > {id}"),
                            format!(" AND updated_at < {updated}"),
                            " AND updated_at IS NULL".to_owned(),
                        ]
                    }
                }
            }
        };
        starts.into_iter()
    }
}
