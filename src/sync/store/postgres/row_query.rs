//! Finds rows.

use deadpool_postgres::tokio_postgres::types::{ToSql, Type};

use super::stored_row::{self, is_storable};
use crate::auth::StoreError;
use crate::auth::postgres::database::{Database, Parameter};
use crate::sync::store::{Order, Query, Row, integers};

/// The conditions of a query with their parameters.
pub(super) struct RowQuery<'a> {
    database: &'a Database,
    query: &'a Query,
    conditions: String,
    parameters: Vec<(Box<dyn ToSql + Send + Sync + 'a>, Type)>,
}

impl<'a> RowQuery<'a> {
    /// `None` if no row can meet the query.
    pub(super) fn new(database: &'a Database, account: &'a str, query: &'a Query) -> Option<Self> {
        let equal = [
            (&query.status, "status"),
            (&query.species, "species"),
            (&query.number, "number"),
            (&query.pic, ""),
        ];
        let mut texts = equal.iter().filter_map(|(text, _)| text.as_deref());
        if !texts.all(is_storable) {
            return None;
        }
        let mut built = Self {
            database,
            query,
            conditions: "account OPERATOR(pg_catalog.=) $1".to_owned(),
            parameters: vec![(Box::new(account), Type::TEXT)],
        };
        for (text, column) in equal {
            let Some(text) = text else { continue };
            let number = built.text(text);
            built.conditions += &match column {
                "" => format!(
                    " AND (origin_pic OPERATOR(pg_catalog.=) ${number}
                    OR destination_pic OPERATOR(pg_catalog.=) ${number})"
                ),
                column => format!(" AND {column} OPERATOR(pg_catalog.=) ${number}"),
            };
        }
        for (text, column, operator) in [
            (&query.movement_from, "movement_day", ">="),
            (&query.movement_to, "movement_day", "<="),
            (&query.updated_from, "updated_at", ">="),
        ] {
            let Some(text) = text else { continue };
            let number = built.text(text);
            built.conditions += &format!(" AND {column} OPERATOR(pg_catalog.{operator}) ${number}");
        }
        // None is before 0.
        let before = |before: u64| before.checked_sub(1).map_or(-1, integers::bound);
        for (up_to, column) in [
            (query.before_generation.map(before), "generation"),
            (query.up_to_sequence.map(integers::bound), "sequence"),
        ] {
            let Some(up_to) = up_to else { continue };
            let number = built.number(up_to);
            built.conditions += &format!(" AND {column} OPERATOR(pg_catalog.<=) ${number}");
        }
        Some(built)
    }

    fn text(&mut self, text: &'a str) -> usize {
        self.parameters.push((Box::new(text), Type::TEXT));
        self.parameters.len()
    }

    fn number(&mut self, number: i64) -> usize {
        self.parameters.push((Box::new(number), Type::INT8));
        self.parameters.len()
    }

    fn parameters(&self) -> Vec<Parameter<'_>> {
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(value, kind)| (&**value as _, kind.clone()));
        parameters.collect()
    }

    /// The rows in their order.
    pub(super) async fn rows(mut self) -> Result<Vec<Row>, StoreError> {
        let start = self.start();
        let order = match self.query.order {
            Order::Id => "id",
            Order::Sequence => "sequence",
            Order::LastUpdated => "updated_at DESC NULLS LAST, id",
        };
        let limit = self.number(integers::limit(self.query.limit));
        let (columns, conditions) = (stored_row::COLUMNS, &self.conditions);
        let statement = format!(
            "SELECT {columns} FROM (SELECT * FROM {{record}} WHERE {conditions}{start}
                ORDER BY {order} LIMIT ${limit}) AS found ORDER BY {order}"
        );
        let rows = self.database.query(&statement, &self.parameters()).await?;
        rows.iter().map(stored_row::row).collect()
    }

    pub(super) async fn count(self) -> Result<u64, StoreError> {
        let conditions = &self.conditions;
        let statement = format!("SELECT pg_catalog.count(*) FROM {{record}} WHERE {conditions}");
        let rows = self.database.query(&statement, &self.parameters()).await?;
        rows.first().map_or(Ok(0), |row| stored_row::number(row, 0))
    }

    /// Where the order begins: after a row, or with the first.
    fn start(&mut self) -> String {
        let Some(after) = &self.query.after else {
            return String::new();
        };
        match self.query.order {
            Order::Id => {
                let id = self.text(&after.id);
                format!(" AND id OPERATOR(pg_catalog.>) ${id}")
            }
            Order::Sequence => {
                let sequence = self.number(integers::bound(after.sequence));
                format!(" AND sequence OPERATOR(pg_catalog.>) ${sequence}")
            }
            Order::LastUpdated => {
                let id = self.text(&after.id);
                let Some(updated) = &after.keys.updated_at else {
                    return format!(" AND updated_at IS NULL AND id OPERATOR(pg_catalog.>) ${id}");
                };
                let updated = self.text(updated);
                format!(
                    " AND (updated_at OPERATOR(pg_catalog.=) ${updated} AND id OPERATOR(pg_catalog.>) ${id}
                    OR updated_at OPERATOR(pg_catalog.<) ${updated} OR updated_at IS NULL)"
                )
            }
        }
    }
}
