//! Finds rows, by the condition that the fewest of them meet.
//!
//! Postgres chooses indexes by averages over all accounts. But one account has three drafts and another one has thousands, so
//! it is counted first, up to a limit. Rows that are few are found by their condition and sorted. Where all conditions are met
//! by many, the account's rows are read in their order until there are enough, which works without statistics as well.

use deadpool_postgres::tokio_postgres::types::{ToSql, Type};

use super::stored_row::{self, is_storable};
use crate::auth::StoreError;
use crate::auth::postgres::database::{Database, Parameter};
use crate::sync::store::{Order, Query, Row, integers};

/// So many rows are sorted in a few milliseconds. With more that meet a condition, 20 of them are found soon in any order.
const FEW: u64 = 5_000;

const OF_ACCOUNT: &str = "account OPERATOR(pg_catalog.=) $1";

/// Only an index that is read from one end is left to choose, so a limit ends it. `SET LOCAL` ends with the transaction.
const READ_IN_ORDER: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
    SET LOCAL enable_sort = off;
    SET LOCAL enable_bitmapscan = off;
    SET LOCAL enable_seqscan = off";

/// A query as conditions with their parameters.
pub(super) struct RowQuery<'a> {
    database: &'a Database,
    query: &'a Query,
    /// Those that an index finds, each with the conditions that are counted for it.
    indexed: Vec<(String, Vec<String>)>,
    /// Those that are checked row by row.
    others: Vec<String>,
    parameters: Vec<(Box<dyn ToSql + Send + Sync + 'a>, Type)>,
}

impl<'a> RowQuery<'a> {
    /// `None` if no row can meet the query.
    pub(super) fn new(database: &'a Database, account: &'a str, query: &'a Query) -> Option<Self> {
        let mut built = Self {
            database,
            query,
            indexed: Vec::new(),
            others: Vec::new(),
            parameters: vec![(Box::new(account), Type::TEXT)],
        };
        let columns = ["number", "status", "species"];
        let texts = [&query.number, &query.status, &query.species];
        let equal = columns.into_iter().zip(texts).chain([("pic", &query.pic)]);
        for (column, text) in equal {
            let Some(text) = text else { continue };
            if !is_storable(text) {
                return None;
            }
            let parameter = built.text(text);
            let is = |column: &str| format!("{column} OPERATOR(pg_catalog.=) {parameter}");
            if column == "pic" {
                let either = vec![is("origin_pic"), is("destination_pic")];
                let condition = format!("({})", either.join(" OR "));
                built.indexed.push((condition, either));
            } else {
                built.add_indexed(is(column), "");
            }
        }
        built.add_ranges();
        Some(built)
    }

    /// In the order of its index, a range is counted by that index.
    fn add_indexed(&mut self, condition: String, order: &str) {
        let counted = format!("{condition}{order}");
        self.indexed.push((condition, vec![counted]));
    }

    fn add_ranges(&mut self) {
        let query = self.query;
        let mut moved = Vec::new();
        for (operator, day) in [(">=", &query.movement_from), ("<=", &query.movement_to)] {
            let Some(day) = day else { continue };
            let parameter = self.text(day);
            moved.push(format!(
                "movement_day OPERATOR(pg_catalog.{operator}) {parameter}"
            ));
        }
        if !moved.is_empty() {
            self.add_indexed(moved.join(" AND "), " ORDER BY movement_day");
        }
        if let Some(from) = &query.updated_from {
            let parameter = self.text(from);
            let since = format!("updated_at OPERATOR(pg_catalog.>=) {parameter}");
            self.add_indexed(since, " ORDER BY updated_at DESC NULLS LAST");
        }
        if let Some(before) = query.before_generation {
            // None is before 0.
            let up_to = before.checked_sub(1).map_or(-1, integers::bound);
            let parameter = self.number(up_to);
            let seen = format!("generation OPERATOR(pg_catalog.<=) {parameter}");
            // No index has it, so all rows are read where there is nothing else to find them by.
            if self.indexed.is_empty() {
                self.add_indexed(seen, "");
            } else {
                self.others.push(seen);
            }
        }
        if let Some(up_to) = query.up_to_sequence {
            let parameter = self.number(integers::bound(up_to));
            let earlier = format!("sequence OPERATOR(pg_catalog.<=) {parameter}");
            self.others.push(earlier);
        }
    }

    fn text(&mut self, text: &'a str) -> String {
        self.parameters.push((Box::new(text), Type::TEXT));
        format!("${}", self.parameters.len())
    }

    fn number(&mut self, number: i64) -> String {
        self.parameters.push((Box::new(number), Type::INT8));
        format!("${}", self.parameters.len())
    }

    fn parameters(&self) -> Vec<Parameter<'_>> {
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(value, kind)| (&**value as _, kind.clone()));
        parameters.collect()
    }

    /// The rows in their order.
    pub(super) async fn rows(mut self) -> Result<Vec<Row>, StoreError> {
        let few = self.fewest().await?;
        let order = match self.query.order {
            Order::Id => "id",
            Order::Sequence => "sequence",
            Order::LastUpdated => "updated_at DESC NULLS LAST, id",
        };
        let limit = self.number(integers::limit(self.query.limit));
        let from = match &few {
            // OFFSET keeps the other conditions out, so that no other index is used.
            Some(few) => {
                format!("(SELECT * FROM {{record}} WHERE {OF_ACCOUNT} AND {few} OFFSET 0) AS few")
            }
            None => "{record}".to_owned(),
        };
        let mut parts = Vec::new();
        for start in self.starts() {
            let conditions = self.conditions(start);
            parts.push(format!(
                "(SELECT * FROM {from} WHERE {conditions} ORDER BY {order} LIMIT {limit})"
            ));
        }
        let (columns, parts) = (stored_row::COLUMNS, parts.join(" UNION ALL "));
        let statement = format!(
            "SELECT {columns} FROM (SELECT * FROM ({parts}) AS parts ORDER BY {order} LIMIT {limit}) AS found
            ORDER BY {order}"
        );
        let begin = few.is_none().then_some(READ_IN_ORDER);
        let parameters = self.parameters();
        let rows = self.database.query_in(begin, &statement, &parameters);
        rows.await?.iter().map(stored_row::row).collect()
    }

    pub(super) async fn count(self) -> Result<u64, StoreError> {
        let conditions = self.conditions(String::new());
        let statement = format!("SELECT pg_catalog.count(*) FROM {{record}} WHERE {conditions}");
        let rows = self.database.query(&statement, &self.parameters()).await?;
        rows.first().map_or(Ok(0), |row| stored_row::number(row, 0))
    }

    /// The condition that the fewest rows meet, if they are few.
    async fn fewest(&self) -> Result<Option<String>, StoreError> {
        if self.indexed.is_empty() {
            return Ok(None);
        }
        let counts = self.indexed.iter().map(|(_, counted)| {
            let counts = counted.iter().map(|condition| {
                format!(
                    "(SELECT pg_catalog.count(*) FROM (SELECT 1 FROM {{record}}
                    WHERE {OF_ACCOUNT} AND {condition} LIMIT {FEW}) AS counted)"
                )
            });
            let counts: Vec<String> = counts.collect();
            counts.join(" OPERATOR(pg_catalog.+) ")
        });
        let statement = format!("SELECT {}", counts.collect::<Vec<_>>().join(", "));
        let (begin, parameters) = (Some(READ_IN_ORDER), self.parameters());
        let rows = self
            .database
            .query_in(begin, &statement, &parameters)
            .await?;
        let mut fewest = (FEW, None);
        for row in &rows {
            for (at, (condition, _)) in self.indexed.iter().enumerate() {
                let count = stored_row::number(row, at)?;
                if count < fewest.0 {
                    fewest = (count, Some(condition.clone()));
                }
            }
        }
        Ok(fewest.1)
    }

    /// All conditions.
    fn conditions(&self, start: String) -> String {
        let conditions = [OF_ACCOUNT.to_owned()].into_iter();
        let conditions =
            conditions.chain(self.indexed.iter().map(|(condition, _)| condition.clone()));
        let conditions = conditions.chain(self.others.iter().cloned());
        let start = Some(start).filter(|start| !start.is_empty());
        conditions.chain(start).collect::<Vec<_>>().join(" AND ")
    }

    /// Where the order begins: after a row, or with the first. In each of them the rows stand together in an index.
    fn starts(&mut self) -> Vec<String> {
        let Some(after) = &self.query.after else {
            return vec![String::new()];
        };
        match self.query.order {
            Order::Id => {
                let id = self.text(&after.id);
                vec![format!("id OPERATOR(pg_catalog.>) {id}")]
            }
            Order::Sequence => {
                let sequence = self.number(integers::bound(after.sequence));
                vec![format!("sequence OPERATOR(pg_catalog.>) {sequence}")]
            }
            Order::LastUpdated => {
                let id = self.text(&after.id);
                let later = format!("id OPERATOR(pg_catalog.>) {id}");
                let Some(updated) = &after.keys.updated_at else {
                    return vec![format!("updated_at IS NULL AND {later}")];
                };
                let updated = self.text(updated);
                vec![
                    format!("updated_at OPERATOR(pg_catalog.=) {updated} AND {later}"),
                    format!("updated_at OPERATOR(pg_catalog.<) {updated}"),
                    "updated_at IS NULL".to_owned(),
                ]
            }
        }
    }
}
