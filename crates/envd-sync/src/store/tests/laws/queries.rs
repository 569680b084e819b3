//! The checks of searches, against the store in memory.

use fastrand::Rng;

use super::checked_store::{CheckedStore, Result, ensure};
use super::samples::{all, document, random_row, row, rows};
use crate::store::rows::{Batch, Query, Row};
use crate::store::{MemorySync, Order, SyncStore};

const ROWS: u64 = 200;
const ORDERS: [Order; 3] = [Order::Id, Order::LastUpdated, Order::Sequence];

/// Sets a condition of a query to some value.
type SetCondition = fn(&mut Query, &mut Rng);

fn one_of(random: &mut Rng, values: &[&str]) -> Option<String> {
    random.choice(values).map(|value| (*value).to_owned())
}

const CONDITIONS: [SetCondition; 9] = [
    |query, random| query.status = one_of(random, &["DRAFT", "SUBMITTED", "draft", "", "none"]),
    |query, random| query.species = one_of(random, &["CATTLE", "SHEEP", "cattle"]),
    |query, random| query.number = one_of(random, &["1", "01", "1.0", "9"]),
    |query, random| query.pic = one_of(random, &["3ABCD123", "QFAB0001", "x"]),
    |query, random| {
        query.movement_from = one_of(random, &["2027-01-01", "2027-01-02", "2028-01-01", ""]);
    },
    |query, random| {
        query.movement_to = one_of(random, &["2027-01-01", "2027-01-02", "2020-01-01", ""]);
    },
    |query, random| {
        let instants = [
            "2027-01-01T00:00:00",
            "2027-01-01T00:00:00.4",
            "2027-01-01T00:00:02",
            "",
        ];
        query.updated_from = one_of(random, &instants);
    },
    |query, random| query.before_generation = random.choice([0, 1, 2, u64::MAX]),
    |query, random| query.up_to_sequence = random.choice([0, ROWS / 2, u64::MAX]),
];

impl<S: SyncStore> CheckedStore<S> {
    pub(super) async fn order_is_of_bytes(&self) -> Result {
        // UTF-16 and most languages order some of them otherwise.
        let mut ids = [
            "",
            " ",
            "10",
            "9",
            "B",
            "a",
            "a-b",
            "aa",
            "ab",
            "b",
            "z",
            "Ä",
            "ä",
            "é",
            "\u{ff5e}",
            "\u{1f404}",
        ];
        ids.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
        let mut batch = Batch::default();
        for (number, id) in (1..).zip(ids.iter().rev()) {
            batch.rows.push(row(id, number));
            batch
                .documents
                .push(((*id).to_owned(), Some(String::new())));
        }
        self.write(&batch).await?;
        for order in [Order::Id, Order::LastUpdated] {
            let query = Query { order, ..all() };
            let rows = self.store.query(&self.account, &query).await?;
            let ordered = rows.iter().map(|row| &*row.id).eq(ids);
            ensure(
                ordered,
                &format!("rows are not by the bytes of ids with {order:?}"),
            )?;
        }
        let documents = self.store.documents(&self.account, "").await?;
        let ordered = documents.iter().map(|document| &*document.name).eq(ids);
        ensure(ordered, "documents are not by the bytes of names")
    }

    pub(super) async fn prefix_is_literal(&self) -> Result {
        let names = [
            "a",
            "a%",
            "a%b",
            "a_",
            "ab",
            "A",
            "a\\",
            "b",
            "a*",
            "a\u{10ffff}",
            "ä",
        ];
        for name in names {
            self.write(&document(name, "")).await?;
        }
        for prefix in [
            "",
            "a",
            "a%",
            "a_",
            "a*",
            "A",
            "a\\",
            "a\u{10ffff}",
            "c",
            "ä",
            "ab",
        ] {
            let documents = self.store.documents(&self.account, prefix).await?;
            let mut expected: Vec<&str> = names
                .into_iter()
                .filter(|name| name.starts_with(prefix))
                .collect();
            expected.sort_unstable();
            let found: Vec<&str> = documents.iter().map(|document| &*document.name).collect();
            ensure(found == expected, &format!("{prefix:?} finds {found:?}"))?;
        }
        Ok(())
    }

    pub(super) async fn queries_find_what_they_say(&self) -> Result {
        let memory = MemorySync::new();
        let mut random = Rng::with_seed(4711);
        let mut batch = Batch::default();
        for sequence in 1..=ROWS {
            let id = format!("{:016x}", random.u64(..));
            batch.rows.push(random_row(&mut random, &id, sequence));
        }
        self.write(&batch).await?;
        memory.commit("", &batch).await?;
        let all_rows = batch.rows;
        for (number, one) in CONDITIONS.iter().enumerate() {
            for other in &CONDITIONS[number..] {
                for order in ORDERS {
                    for _ in 0..3 {
                        let mut query = Query {
                            order,
                            limit: random.usize(..15),
                            ..Query::default()
                        };
                        one(&mut query, &mut random);
                        other(&mut query, &mut random);
                        query.after = random
                            .bool()
                            .then(|| random.choice(&all_rows))
                            .flatten()
                            .cloned();
                        self.ensure_as_in(&memory, &query).await?;
                    }
                }
            }
        }
        for order in ORDERS {
            self.ensure_as_in(&memory, &Query { order, ..all() })
                .await?;
        }
        Ok(())
    }

    async fn ensure_as_in(&self, memory: &MemorySync, query: &Query) -> Result {
        let found = self.store.query(&self.account, query).await?;
        let expected = memory.query("", query).await?;
        let ids = |rows: &[Row]| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        if found != expected {
            let (found, expected) = (ids(&found), ids(&expected));
            return Err(format!("{query:?} finds {found:?}, not {expected:?}").into());
        }
        let counted = self.store.count(&self.account, query).await?;
        let expected = memory.count("", query).await?;
        ensure(
            counted == expected,
            &format!("{query:?} counts {counted}, not {expected}"),
        )
    }

    /// Pages through the rows, and writes and removes some between two pages.
    pub(super) async fn pages_go_on(&self) -> Result {
        for order in ORDERS {
            let mut random = Rng::with_seed(4711);
            let mut stay = Vec::new();
            let mut batch = Batch::default();
            for number in 1..=60 {
                let id = format!("{:08x}-{order:?}", random.u32(..));
                let row = random_row(&mut random, &id, number * 10);
                if number % 3 == 0 {
                    stay.push(row.id.clone());
                }
                batch.rows.push(row);
            }
            self.write(&batch).await?;
            let mut removable = batch.rows;
            removable.retain(|row| !stay.contains(&row.id));
            let mut query = Query {
                order,
                limit: 7,
                ..Query::default()
            };
            let mut shown: Vec<String> = Vec::new();
            for page in 0.. {
                let rows = self.store.query(&self.account, &query).await?;
                let Some(last) = rows.last() else { break };
                let ends = page < 200;
                ensure(ends, &format!("pages do not end with {order:?}"))?;
                shown.extend(rows.iter().map(|row| row.id.clone()));
                let mut between = Batch::default();
                // The row of the position as well, if it may go.
                for gone in [Some(last.clone()), removable.pop()].into_iter().flatten() {
                    if !stay.contains(&gone.id) {
                        between.removed.push(gone.id);
                    }
                }
                if page < 20 {
                    let id = format!("{:08x}-{order:?}-new", random.u32(..));
                    between
                        .rows
                        .push(random_row(&mut random, &id, 5 + page * 10));
                }
                query.after = Some(last.clone());
                self.write(&between).await?;
            }
            let count = shown.len();
            let missing = stay.iter().find(|id| !shown.contains(id));
            ensure(
                missing.is_none(),
                &format!("a row is not shown with {order:?}"),
            )?;
            shown.sort();
            shown.dedup();
            ensure(
                shown.len() == count,
                &format!("a row is shown twice with {order:?}"),
            )?;
            let rest = self.store.query(&self.account, &all()).await?;
            let removed = rest.into_iter().map(|row| row.id).collect();
            self.write(&Batch {
                removed,
                ..Batch::default()
            })
            .await?;
        }
        self.write(&rows(Vec::new())).await
    }
}
