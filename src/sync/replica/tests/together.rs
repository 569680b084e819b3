//! Several processes and several accounts over one store.

use std::sync::Arc;

use serde_json::json;

use super::site::{ListOrder, Site, copied, told};
use crate::auth::BoxFuture;
use crate::sync::replica::SyncMode;
use crate::sync::store::MemorySync;
use crate::sync::store::faulty_store::FaultyStore;

/// A sync by another process in place of nothing, before a commit of the first one.
fn other(
    site: &Site,
    store: &MemorySync,
    full: bool,
) -> impl Fn() -> BoxFuture<'static, ()> + use<> {
    let replica = site.replica(store.clone());
    move || {
        let replica = replica.clone();
        Box::pin(async move {
            let sync = if full {
                replica.sync_full().await
            } else {
                replica.sync().await
            };
            sync.unwrap();
        })
    }
}

/// Holds: failure point 22: several processes.
#[tokio::test]
async fn another_process_may_sync_before_any_commit() {
    for order in [ListOrder::NewestFirst, ListOrder::Id] {
        for at in 1..8 {
            for (first_full, other_full) in
                [(false, false), (true, false), (false, true), (true, true)]
            {
                let (site, store) = (Site::with(7).await, MemorySync::new());
                site.lock().order = order;
                let counted = FaultyStore::new(&store, usize::MAX);
                let replica = site.replica(counted.clone());
                site.make_incremental(&replica).await;
                told(&replica, "a").await;
                site.now(|site| {
                    site.save("r003", |record| record["heads"] = json!(3));
                    site.save("new", |_| {});
                    site.save("r001", |record| record["heads"] = json!(5));
                });
                counted.before_commit(at, other(&site, &store, other_full));
                let sync = if first_full {
                    replica.sync_full().await
                } else {
                    replica.sync().await
                };
                let report = sync.unwrap();
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
    let (site, store) = (Site::with(40).await, MemorySync::new());
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
    let (site, store) = (Site::with(5).await, MemorySync::new());
    let counted = FaultyStore::new(&store, usize::MAX);
    let replica = site.replica(counted.clone());
    replica.sync_full().await.unwrap();
    site.now(|site| site.delete("r002"));
    replica.sync_full().await.unwrap();
    // Two pages, then the removal.
    let again = other(&site, &store, true);
    let records = site.shared();
    counted.before_commit(3, move || {
        records.lock().unwrap().save("r002", |_| {});
        again()
    });
    assert_eq!(replica.sync_full().await.unwrap().gone, 0);
    assert_eq!(copied(&store).await, site.ids());
}

/// Holds: one store keeps accounts apart.
#[tokio::test]
async fn one_store_keeps_accounts_apart() {
    let (site, store) = (Site::with(3).await, MemorySync::new());
    let one = site.replica(store.clone());
    one.sync().await.unwrap();
    site.now(|site| site.save("r004", |_| {}));
    let two = site.account("envd-2").replica(store.clone());
    assert_eq!(two.sync().await.unwrap().appeared, 4);
    assert_eq!(copied(&store).await.len(), 3);
    assert_eq!(told(&two, "a").await.len(), 4);
    assert_eq!(told(&one, "a").await.len(), 3);
    // A store behind a pointer is shared as well.
    let shared = Arc::new(store);
    let three = site.account("envd-1").replica(Arc::clone(&shared));
    assert_eq!(three.sync().await.unwrap().appeared, 1);
}
