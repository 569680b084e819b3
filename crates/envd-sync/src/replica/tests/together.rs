//! Several processes and several accounts over one store.

use std::sync::Arc;

use serde_json::json;

use super::listing::ListOrder;
use super::site::{Site, copied, told};
use crate::replica::{Replica, SyncMode, SyncReport};
use crate::store::MemorySync;
use crate::store::tests::faulty_store::{FaultyStore, Moment};

async fn sync(replica: Replica, is_full: bool) -> SyncReport {
    let report = if is_full {
        replica.sync_full().await
    } else {
        replica.sync().await
    };
    report.unwrap()
}

/// Holds: failure point 22: several processes.
#[tokio::test]
async fn another_process_may_sync_before_any_commit() {
    for order in [ListOrder::LatestUpdateFirst, ListOrder::Id] {
        for at in 1..8 {
            for (first_full, other_full) in
                [(false, false), (true, false), (false, true), (true, true)]
            {
                let (site, store) = (Site::with(7), MemorySync::new());
                site.lock().list.order = order;
                let counted = FaultyStore::new(&store, usize::MAX);
                let replica = site.replica(counted.clone());
                site.make_incremental(&replica).await;
                told(&replica, "a").await;
                for (id, heads) in [("r003", 3), ("new", 4), ("r001", 5)] {
                    site.lock()
                        .save(id, |record| record["heads"] = json!(heads));
                }
                let other = sync(site.replica(store.clone()), other_full);
                counted.at(Moment::BeforeCommit(at), async { drop(other.await) });
                let report = sync(replica.clone(), first_full).await;
                assert_eq!(copied(&store).await, site.ids(), "{at} {report}");
                let mut told = told(&replica, "a").await;
                told.sort();
                assert_eq!(
                    told,
                    ["appeared new", "changed r001 heads", "changed r003 heads"]
                );
                // Everything that a full walk began is ended.
                let report = replica.sync().await.unwrap();
                assert_eq!(
                    (report.mode, report.resumed),
                    (SyncMode::Incremental, false),
                    "{report}"
                );
            }
        }
    }
}

#[tokio::test]
async fn processes_that_sync_at_the_same_time_tell_everything_once() {
    let (site, store) = (Site::with(40), MemorySync::new());
    let syncs: Vec<_> = (0..4)
        .map(|_| {
            let replica = site.replica(store.clone());
            tokio::spawn(async move { replica.sync().await.unwrap() })
        })
        .collect();
    let mut appeared = 0;
    for sync in syncs {
        appeared += sync.await.unwrap().appeared;
    }
    assert_eq!(appeared, 40);
    assert_eq!(copied(&store).await, site.ids());
    assert_eq!(told(&site.replica(store), "a").await.len(), 40);
}

/// Holds: a record that is listed again meanwhile stays.
#[tokio::test]
async fn a_record_that_is_listed_again_while_it_is_asked_for_stays() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let counted = FaultyStore::new(&store, usize::MAX);
    let replica = site.replica(counted.clone());
    replica.sync_full().await.unwrap();
    site.lock().delete("r002");
    replica.sync_full().await.unwrap();
    // Two pages, then the removal.
    let (other, records) = (site.replica(store.clone()), site.shared());
    counted.at(Moment::BeforeCommit(3), async move {
        records.lock().unwrap().save("r002", |_| {});
        other.sync_full().await.unwrap();
    });
    assert_eq!(replica.sync_full().await.unwrap().gone, 0);
    assert_eq!(copied(&store).await, site.ids());
}

/// Holds: one store keeps accounts apart.
#[tokio::test]
async fn one_store_keeps_accounts_apart() {
    let (site, store) = (Site::with(3), MemorySync::new());
    let one = site.replica(store.clone());
    one.sync().await.unwrap();
    site.lock().save("r004", |_| {});
    let two = Replica::new(&site.account("envd-2"), store.clone());
    assert_eq!(two.sync().await.unwrap().appeared, 4);
    assert_eq!(copied(&store).await.len(), 3);
    assert_eq!(told(&two, "a").await.len(), 4);
    assert_eq!(told(&one, "a").await.len(), 3);
    // A store behind a pointer is shared as well.
    let shared = Arc::new(store);
    let three = Replica::new(&site.account("envd-1"), Arc::clone(&shared));
    assert_eq!(three.sync().await.unwrap().appeared, 1);
}
