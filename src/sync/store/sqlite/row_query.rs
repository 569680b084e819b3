//! Finds rows, by the index that has the fewest to look at.
//!
//! `SQLite` chooses indexes by averages, if at all. But one status has three records and another one has most of them, so the
//! index is chosen here, by counting up to a limit.

use rusqlite::{ToSql, Transaction};

use super::batch_commit;
use super::failure::Result;
use crate::sync::store::{Order, Query, Row, RowKeys, integers};

/// So many rows are sorted in a few milliseconds. With more that meet a condition, 20 of them are found soon in any order.
const FEW: u64 = 5_000;

/// A condition by which rows are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Indexed {
    Number,
    Pic,
    Status,
    Species,
    Movement,
    Updated,
    Generation,
}

/// A search in one index.
struct Part {
    index: &'static str,
    /// The condition by which the index is entered.
    entry: &'static str,
    /// What keeps the parts of one query disjoint.
    apart: &'static str,
}

impl Part {
    fn new(index: &'static str, entry: &'static str) -> Self {
        let apart = "";
        Self {
            index,
            entry,
            apart,
        }
    }
}

pub(super) struct RowQuery<'a> {
    transaction: &'a Transaction<'a>,
    query: &'a Query,
    parameters: Vec<(&'static str, Box<dyn ToSql + 'a>)>,
}

impl<'a> RowQuery<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>, account: i64, query: &'a Query) -> Self {
        let mut parameters: Vec<(&'static str, Box<dyn ToSql + 'a>)> =
            vec![(":account", Box::new(account))];
        let texts = [
            (":status", &query.status),
            (":species", &query.species),
            (":number", &query.number),
            (":pic", &query.pic),
            (":movement_from", &query.movement_from),
            (":movement_to", &query.movement_to),
            (":updated_from", &query.updated_from),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                parameters.push((name, Box::new(text)));
            }
        }
        if let Some(before) = query.before_generation {
            // None is before 0.
            let up_to = before.checked_sub(1).map_or(-1, integers::bound);
            parameters.push((":generation", Box::new(up_to)));
        }
        if let Some(up_to) = query.up_to_sequence {
            parameters.push((":sequence", Box::new(integers::bound(up_to))));
        }
        Self {
            transaction,
            query,
            parameters,
        }
    }

    /// The rows in their order, by their numbers in the table.
    pub(super) fn records(mut self) -> Result<Vec<i64>> {
        let (best, is_few) = self.best()?;
        let entered_by = best.filter(|best| is_few || self.is_ordered_by(*best));
        let (order, ordered_index) = match self.query.order {
            Order::Id => ("id", "records_id"),
            Order::Sequence => ("sequence", "records_sequence"),
            Order::LastUpdated => ("updated_at DESC, id", "records_updated"),
        };
        let starts = self.starts();
        let limit = integers::limit(self.query.limit);
        self.parameters.push((":limit", Box::new(limit)));
        let mut parts = Vec::new();
        for part in self.parts(entered_by, ordered_index) {
            for start in starts {
                let (index, conditions) = (part.index, self.conditions(&part));
                parts.push(format!(
                    "SELECT * FROM (SELECT record, id, sequence, updated_at FROM records INDEXED BY {index}
                    WHERE {conditions}{start} ORDER BY {order} LIMIT :limit)"
                ));
            }
        }
        let parts = parts.join(" UNION ALL ");
        let sql = format!("{parts} ORDER BY {order} LIMIT :limit");
        let mut statement = self.transaction.prepare_cached(&sql)?;
        let rows = statement.query_map(&*self.named(&sql), |row| row.get(0))?;
        Ok(rows.collect::<std::result::Result<_, _>>()?)
    }

    pub(super) fn count(self) -> Result<u64> {
        let (best, _) = self.best()?;
        let mut count = 0;
        for part in self.parts(best, "records_sequence") {
            let (index, conditions) = (part.index, self.conditions(&part));
            count += self.number(&format!(
                "SELECT count(*) FROM records INDEXED BY {index} WHERE {conditions}"
            ))?;
        }
        Ok(count)
    }

    /// The row with this number in the table.
    pub(super) fn row(transaction: &Transaction<'_>, record: i64) -> Result<Row> {
        let sql = "SELECT id, sequence, generation, status, species, number, origin_pic,
                destination_pic, movement_day, nullif(updated_at, 0), payload
            FROM records JOIN payloads USING (record) WHERE record = ?";
        let mut statement = transaction.prepare_cached(sql)?;
        let mut rows = statement.query([record])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        Ok(Row {
            id: row.get(0)?,
            sequence: integers::read(row.get(1)?)?,
            generation: integers::read(row.get(2)?)?,
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

    /// The condition that the fewest rows meet, and whether they are few.
    fn best(&self) -> Result<(Option<Indexed>, bool)> {
        let mut best = (None, FEW);
        let query = self.query;
        let moved = query.movement_from.is_some() || query.movement_to.is_some();
        for (condition, is_set) in [
            (Indexed::Number, query.number.is_some()),
            (Indexed::Status, query.status.is_some()),
            (Indexed::Species, query.species.is_some()),
            (Indexed::Pic, query.pic.is_some()),
            (Indexed::Movement, moved),
            (Indexed::Updated, query.updated_from.is_some()),
            // Counted last, for it reads all rows.
            (Indexed::Generation, query.before_generation.is_some()),
        ] {
            let is_found = best.1 < FEW && condition == Indexed::Generation;
            if !is_set || is_found {
                continue;
            }
            let mut count = 0;
            for part in self.parts(Some(condition), "") {
                let (index, entry) = (part.index, part.entry);
                count += self.number(&format!(
                    "SELECT count(*) FROM (SELECT 1 FROM records INDEXED BY {index}
                    WHERE account = :account AND {entry} LIMIT {FEW})"
                ))?;
            }
            if count < best.1 || best.0.is_none() {
                best = (Some(condition), count);
            }
        }
        Ok((best.0, best.1 < FEW))
    }

    /// Whether the index of the condition has its rows in the order of the query.
    fn is_ordered_by(&self, condition: Indexed) -> bool {
        match self.query.order {
            Order::LastUpdated => !matches!(
                condition,
                Indexed::Number | Indexed::Movement | Indexed::Generation
            ),
            Order::Id => condition == Indexed::Status,
            Order::Sequence => condition == Indexed::Generation,
        }
    }

    /// The searches that find by a condition, or all rows of the account.
    fn parts(&self, condition: Option<Indexed>, whole: &'static str) -> Vec<Part> {
        let Some(condition) = condition else {
            return vec![Part::new(whole, "true")];
        };
        let query = self.query;
        let part = match condition {
            Indexed::Number => Part::new("records_number", "number = :number"),
            Indexed::Status if query.order == Order::Id => {
                Part::new("records_status_id", "status = :status")
            }
            Indexed::Status => Part::new("records_status", "status = :status"),
            Indexed::Species => Part::new("records_species", "species = :species"),
            Indexed::Updated => Part::new("records_updated", "updated_at >= :updated_from"),
            // No index has it. In this one the rows stand nearly as in the table, so they are read in one go.
            Indexed::Generation => Part::new("records_sequence", "generation <= :generation"),
            Indexed::Movement => {
                let range = match (&query.movement_from, &query.movement_to) {
                    (Some(_), Some(_)) => "movement_day BETWEEN :movement_from AND :movement_to",
                    (Some(_), None) => "movement_day >= :movement_from",
                    (None, _) => "movement_day <= :movement_to",
                };
                Part::new("records_movement", range)
            }
            Indexed::Pic => {
                let mut destination = Part::new("records_destination", "destination_pic = :pic");
                destination.apart = " AND origin_pic IS NOT :pic";
                return vec![
                    Part::new("records_origin", "origin_pic = :pic"),
                    destination,
                ];
            }
        };
        vec![part]
    }

    /// All conditions of the query, first those of the index.
    fn conditions(&self, part: &Part) -> String {
        let mut conditions = format!("account = :account AND {}{}", part.entry, part.apart);
        for (name, condition) in [
            (":status", " AND status = :status"),
            (":species", " AND species = :species"),
            (":number", " AND number = :number"),
            (":pic", " AND (origin_pic = :pic OR destination_pic = :pic)"),
            (":movement_from", " AND movement_day >= :movement_from"),
            (":movement_to", " AND movement_day <= :movement_to"),
            (":updated_from", " AND updated_at >= :updated_from"),
            (":generation", " AND generation <= :generation"),
            (":sequence", " AND sequence <= :sequence"),
        ] {
            let is_set = self.parameters.iter().any(|(set, _)| *set == name);
            if is_set && !part.entry.contains(name) {
                conditions += condition;
            }
        }
        conditions
    }

    /// Where the order begins: after a row, or with the first.
    fn starts(&mut self) -> &'static [&'static str] {
        let Some(after) = &self.query.after else {
            return &[""];
        };
        match self.query.order {
            Order::Id => {
                self.parameters.push((":after_id", Box::new(&after.id)));
                &[" AND id > :after_id"]
            }
            Order::Sequence => {
                let sequence = integers::bound(after.sequence);
                self.parameters
                    .push((":after_sequence", Box::new(sequence)));
                &[" AND sequence > :after_sequence"]
            }
            Order::LastUpdated => {
                let updated = batch_commit::updated_at(after.keys.updated_at.as_deref());
                self.parameters.push((":after_id", Box::new(&after.id)));
                self.parameters.push((":after_updated", Box::new(updated)));
                // Two, for in each the rows stand together in the index.
                &[
                    " AND updated_at = :after_updated AND id > :after_id",
                    " AND updated_at < :after_updated",
                ]
            }
        }
    }

    fn number(&self, sql: &str) -> Result<u64> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        let number = statement.query_row(&*self.named(sql), |row| row.get(0))?;
        Ok(integers::read(number)?)
    }

    /// The parameters that a statement has. None of their names begins with another one.
    fn named(&self, sql: &str) -> Vec<(&'static str, &dyn ToSql)> {
        let parameters = self.parameters.iter();
        let named = parameters.filter(|(name, _)| sql.contains(name));
        named.map(|(name, value)| (*name, &**value)).collect()
    }
}
