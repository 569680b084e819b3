//! Queries of a copy in memory.

use envd_sdk::ErrorKind;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::Depth;
use super::*;
use crate::store::rows::{Batch, RecordRow};
use crate::store::{MemorySync, SyncStore};

const ACCOUNT: &str = "envd-1";

async fn put(store: &MemorySync, sequence: u64, json: Value) {
    let record = serde_json::from_value::<Box<serde_json::value::RawValue>>(json).unwrap();
    let record = LocalRecord::new(&record, Depth::Summary);
    let row = RecordRow {
        id: record.id().unwrap().into(),
        sequence,
        keys: record.keys(),
        payload: crate::account_store::json(&record),
        ..RecordRow::default()
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
    for line in [
        "1 DRAFT CATTLE QAZZ7777 QDZZ3333 2026-11-20 2026-11-20T00:00:00Z",
        "2 SUBMITTED CATTLE QAZZ7777 QXZZ1111 2026-11-21T10:00:00 2026-11-20T09:00:00.5+11:00",
        "3 DRAFT SHEEP QDZZ3333 QAZZ7777 2026-11-22 2026-11-19T00:00:00Z",
        "4 NEW_STATUS GOATS QXZZ1111 QXZZ1111 soon soon",
    ] {
        let parts: Vec<&str> = line.split(' ').collect();
        let [id, status, species, from, to, day, updated] = parts[..] else {
            panic!("{line}");
        };
        let record = json!({"id": id, "number": format!("C-{id}"), "status": status, "species": species, "origin": {"pic": from},
            "destination": {"pic": to}, "movementDate": day, "updatedAt": updated});
        put(&store, 10 - id.parse::<u64>().unwrap(), record).await;
    }
    store
}

fn ids(records: &[LocalRecord]) -> Vec<String> {
    let ids = records.iter().map(|record| record.id().unwrap());
    ids.map(|id| id.to_string()).collect()
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

#[tokio::test]
async fn conditions_hold_all_together() {
    let store = Arc::new(store().await);
    let all = || LocalQuery::new(AccountStore::new(store.clone(), ACCOUNT));
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
        assert_eq!(ids(&page.records).concat(), expected, "{query:?}");
        let count = query.count().await.unwrap();
        assert_eq!(count, expected.len() as u64, "{query:?}");
        assert_eq!(page.next, None);
    }
    let error = all().updated_since("soon").list().await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.to_string().contains("updated_since"),
        "{error}"
    );
    let error = all().updated_since("soon").count().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Config);
    let elsewhere = LocalQuery::new(AccountStore::new(store.clone(), "envd-2"));
    assert_eq!(elsewhere.count().await.unwrap(), 0);
    let get = async |account| {
        let rows = store.rows(account, &["2".to_owned()]).await.unwrap();
        rows.first().map(|row| LocalRecord::of(row).unwrap())
    };
    let found = get(ACCOUNT).await.unwrap();
    assert_eq!(found.number(), Some("C-2".into()));
    assert_eq!(get("envd-2").await, None);
}

#[tokio::test]
async fn a_position_survives_records_that_come_and_go() {
    for order in [Order::Id, Order::LastUpdated, Order::Sequence] {
        let store = Arc::new(store().await);
        let query = LocalQuery::new(AccountStore::new(store.clone(), ACCOUNT))
            .order(order)
            .page_size(2);
        let first = query.list().await.unwrap();
        let (before, next) = (&first.records, first.next.unwrap());
        // Remove the last record of the page, and add a record on either side of it.
        let removed = before[1].id().unwrap();
        let batch = Batch {
            removed: vec![removed.into()],
            ..Batch::default()
        };
        store.commit(ACCOUNT, &batch).await.unwrap();
        for (sequence, id, month) in [(1, "0", 12), (20, "9", 10)] {
            let updated = format!("2026-{month}-01T00:00:00Z");
            put(&store, sequence, json!({"id": id, "updatedAt": updated})).await;
        }

        let stored = serde_json::to_string(&next).unwrap();
        let mut position = Some(serde_json::from_str(&stored).unwrap());
        let mut seen = ids(before);
        while let Some(after) = position {
            let page = query.clone().after(after).list().await.unwrap();
            seen.extend(ids(&page.records));
            position = page.next;
        }
        seen.sort();
        assert_eq!(seen, ["1", "2", "3", "4", "9"], "{order:?}");
    }
}
