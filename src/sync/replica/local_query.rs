//! Queries of the copy.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::LocalRecord;
use super::instant_key::instant_key;
use crate::auth::StoreError;
use crate::error::{Error, Result};
use crate::model::{ConsignmentId, ConsignmentNumber, ConsignmentStatus, Day, Species, Timestamp};
use crate::sync::store::{Order, Query, Row, RowKeys, SyncStore};

/// How many records a page has unless set.
const PAGE_SIZE: usize = 100;

/// A query of the copy, from [`Replica::consignments`](super::Replica::consignments). It sends nothing.
///
/// All conditions must hold. Those that are texts compare with the record as it was received, letter by letter.
#[derive(Clone)]
#[must_use]
pub struct LocalQuery {
    store: Arc<dyn SyncStore>,
    account: Arc<str>,
    query: Query,
    /// An argument that cannot be used.
    problem: Option<String>,
}

/// A page of a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LocalPage {
    /// The records, in the order of the query.
    pub records: Vec<LocalRecord>,
    /// Where the next page begins; `None`: this is the last one.
    pub next: Option<LocalPosition>,
}

/// A position in the copy: after a record, whether or not it is still there. It can be stored as JSON.
///
/// Records that appear before it are not on the pages after it, and no record moves because of others. One that changes
/// while pages are read may move in an order by its date: read by [`Order::Id`] to see each record once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalPosition {
    id: String,
    sequence: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
}

impl LocalQuery {
    pub(super) fn new(store: Arc<dyn SyncStore>, account: Arc<str>) -> Self {
        let query = Query {
            limit: PAGE_SIZE,
            ..Query::default()
        };
        Self {
            store,
            account,
            query,
            problem: None,
        }
    }

    /// Only records with this status.
    pub fn status(mut self, status: impl Into<ConsignmentStatus>) -> Self {
        self.query.status = Some(status.into().as_str().to_owned());
        self
    }

    /// Only records of this species.
    pub fn species(mut self, species: impl Into<Species>) -> Self {
        self.query.species = Some(species.into().as_str().to_owned());
        self
    }

    /// Only records with this PIC as origin or destination.
    pub fn pic(mut self, pic: impl AsRef<str>) -> Self {
        self.query.pic = Some(pic.as_ref().to_owned());
        self
    }

    /// Only the record with this number.
    pub fn number(mut self, number: impl Into<ConsignmentNumber>) -> Self {
        self.query.number = Some(number.into().into());
        self
    }

    /// Only records whose movement is on this day or later. The day is the one that the record states; zones play no part.
    pub fn movement_from(mut self, day: Day) -> Self {
        self.query.movement_from = Some(day.to_string());
        self
    }

    /// Only records whose movement is on this day or earlier.
    pub fn movement_to(mut self, day: Day) -> Self {
        self.query.movement_to = Some(day.to_string());
        self
    }

    /// Only records whose last change is at this instant or later, by the dates of the service; a [`Day`] means its beginning
    /// in UTC.
    pub fn updated_since(mut self, since: impl Into<Timestamp>) -> Self {
        let since = since.into();
        self.query.updated_from = instant_key(&since);
        if self.query.updated_from.is_none() {
            self.problem = Some(format!("updated_since: {since:?} is not an instant"));
        }
        self
    }

    /// The order of the records; by id unless set.
    pub fn order(mut self, order: Order) -> Self {
        self.query.order = order;
        self
    }

    /// How many records a page holds at most; 100 unless set, and at least 1.
    pub fn page_size(mut self, records: usize) -> Self {
        self.query.limit = records.max(1);
        self
    }

    /// Only records after this position, [`next`](LocalPage::next) of the page before.
    pub fn after(mut self, position: LocalPosition) -> Self {
        self.query.after = Some(Row {
            id: position.id,
            sequence: position.sequence,
            keys: RowKeys {
                updated_at: position.updated_at,
                ..RowKeys::default()
            },
            ..Row::default()
        });
        self
    }

    /// One page of the records that meet all conditions.
    ///
    /// # Errors
    ///
    /// [`is_store`](Error::is_store); [`is_config`](Error::is_config) for a date that is not an instant.
    pub async fn list(&self) -> Result<LocalPage> {
        let mut query = self.usable()?.clone();
        // One more shows whether another page follows.
        query.limit = query.limit.saturating_add(1);
        let mut rows = self.store.query(&self.account, &query).await?;
        let more = rows.len() > self.query.limit;
        rows.truncate(self.query.limit);
        let next = rows.last().filter(|_| more).map(LocalPosition::after);
        let records = rows.iter().map(record).collect::<Result<_, _>>()?;
        Ok(LocalPage { records, next })
    }

    /// How many records meet all conditions, on all pages.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub async fn count(&self) -> Result<u64> {
        Ok(self.store.count(&self.account, self.usable()?).await?)
    }

    fn usable(&self) -> Result<&Query> {
        match &self.problem {
            Some(problem) => Err(Error::config(problem.clone())),
            None => Ok(&self.query),
        }
    }
}

impl LocalPosition {
    fn after(row: &Row) -> Self {
        Self {
            id: row.id.clone(),
            sequence: row.sequence,
            updated_at: row.keys.updated_at.clone(),
        }
    }
}

impl fmt::Debug for LocalQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalQuery").field(&self.query).finish()
    }
}

/// The record with this id, if the copy holds it.
pub(super) async fn get(
    store: &dyn SyncStore,
    account: &str,
    id: ConsignmentId,
) -> Result<Option<LocalRecord>> {
    let rows = store.rows(account, &[id.into()]).await?;
    Ok(rows.first().map(record).transpose()?)
}

fn record(row: &Row) -> Result<LocalRecord, StoreError> {
    LocalRecord::from_payload(&row.id, &row.payload)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Depth;
    use super::*;
    use crate::sync::store::{Batch, MemorySync};

    const ACCOUNT: &str = "envd-1";

    async fn put(store: &MemorySync, sequence: u64, json: Value) {
        let record = serde_json::from_value::<Box<serde_json::value::RawValue>>(json).unwrap();
        let record = LocalRecord::new(&record, Depth::Summary, None);
        let row = Row {
            id: record.id().unwrap().into(),
            sequence,
            keys: record.keys(),
            payload: record.to_payload(),
            ..Row::default()
        };
        let rows = vec![row];
        let batch = Batch {
            rows,
            ..Batch::default()
        };
        assert!(store.commit(ACCOUNT, &batch).await.unwrap());
    }

    async fn store() -> MemorySync {
        let store = MemorySync::new();
        for (id, status, species, from, to, day, updated) in [
            (
                "1",
                "DRAFT",
                "CATTLE",
                "QAZZ7777",
                "QDZZ3333",
                "2026-11-20",
                "2026-11-20T00:00:00Z",
            ),
            (
                "2",
                "SUBMITTED",
                "CATTLE",
                "QAZZ7777",
                "QXZZ1111",
                "2026-11-21T10:00:00",
                "2026-11-20T09:00:00.5+11:00",
            ),
            (
                "3",
                "DRAFT",
                "SHEEP",
                "QDZZ3333",
                "QAZZ7777",
                "2026-11-22",
                "2026-11-19T00:00:00Z",
            ),
            (
                "4",
                "NEW_STATUS",
                "GOATS",
                "QXZZ1111",
                "QXZZ1111",
                "soon",
                "soon",
            ),
        ] {
            let record = json!({"id": id, "number": format!("C-{id}"), "status": status, "species": species, "origin": {"pic": from},
                "destination": {"pic": to}, "movementDate": day, "updatedAt": updated});
            put(&store, 10 - id.parse::<u64>().unwrap(), record).await;
        }
        store
    }

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[tokio::test]
    async fn conditions_hold_all_together() {
        let store = Arc::new(store().await);
        let all = || LocalQuery::new(store.clone(), ACCOUNT.into());
        for (query, expected) in [
            (all(), "1234"),
            (all().status(ConsignmentStatus::Draft), "13"),
            (all().status("NEW_STATUS"), "4"),
            (all().species("CATTLE").status("SUBMITTED"), "2"),
            (all().pic("QAZZ7777"), "123"),
            (all().pic("QDZZ3333").number("C-3"), "3"),
            (all().movement_from(day("2026-11-21")), "23"),
            (
                all()
                    .movement_from(day("2026-11-21"))
                    .movement_to(day("2026-11-21")),
                "2",
            ),
            (all().movement_to(day("2026-11-21")), "12"),
            (all().updated_since("2026-11-19T22:00:00.5Z"), "12"),
            (all().updated_since("2026-11-19T22:00:00.500000001Z"), "1"),
            (all().updated_since(day("2026-11-20")), "1"),
            (all().order(Order::LastUpdated), "1234"),
            (all().order(Order::Sequence), "4321"),
        ] {
            let page = query.list().await.unwrap();
            let ids: String = page
                .records
                .iter()
                .map(|record| record.id().unwrap().to_string())
                .collect();
            assert_eq!(ids, expected, "{query:?}");
            assert_eq!(
                query.count().await.unwrap(),
                expected.len() as u64,
                "{query:?}"
            );
            assert_eq!(page.next, None);
        }
        let error = all().updated_since("soon").list().await.unwrap_err();
        assert!(
            error.is_config() && error.to_string().contains("updated_since"),
            "{error}"
        );
        assert!(
            all()
                .updated_since("soon")
                .count()
                .await
                .unwrap_err()
                .is_config()
        );
        let elsewhere = LocalQuery::new(store.clone(), "envd-2".into());
        assert_eq!(elsewhere.count().await.unwrap(), 0);
        assert_eq!(
            get(&*store, ACCOUNT, "2".into())
                .await
                .unwrap()
                .unwrap()
                .number(),
            Some("C-2".into())
        );
        assert_eq!(get(&*store, "envd-2", "2".into()).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_position_survives_records_that_come_and_go() {
        for order in [Order::Id, Order::LastUpdated, Order::Sequence] {
            let store = Arc::new(store().await);
            let query = LocalQuery::new(store.clone(), ACCOUNT.into())
                .order(order)
                .page_size(2);
            let first = query.list().await.unwrap();
            let (before, next) = (&first.records, first.next.unwrap());
            // The last record of the page goes, and others come on both sides.
            let removed = before[1].id().unwrap();
            let batch = Batch {
                removed: vec![removed.into()],
                ..Batch::default()
            };
            store.commit(ACCOUNT, &batch).await.unwrap();
            put(
                &store,
                1,
                json!({"id": "0", "updatedAt": "2026-12-01T00:00:00Z"}),
            )
            .await;
            put(
                &store,
                20,
                json!({"id": "9", "updatedAt": "2026-01-01T00:00:00Z"}),
            )
            .await;

            let stored = serde_json::to_string(&next).unwrap();
            let mut position = Some(serde_json::from_str(&stored).unwrap());
            let mut seen: Vec<_> = before
                .iter()
                .map(|record| record.id().unwrap().to_string())
                .collect();
            while let Some(after) = position {
                let page = query.clone().after(after).list().await.unwrap();
                seen.extend(
                    page.records
                        .iter()
                        .map(|record| record.id().unwrap().to_string()),
                );
                position = page.next;
            }
            seen.sort();
            assert_eq!(seen, ["1", "2", "3", "4", "9"], "{order:?}");
        }
    }
}
