//! Records that are not listed any more.

use super::site::{Site, copied, told};
use crate::store::MemorySync;
use envd_sdk::model::ConsignmentStatus;

/// Holds: gone: after two clean walks in a row and a read that does not find it.
#[tokio::test]
async fn a_record_is_gone_after_two_clean_walks_and_a_read_that_does_not_find_it() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    replica.sync_full().await.unwrap();
    told(&replica, "a").await;
    site.lock().delete("r002");
    assert_eq!(replica.sync_full().await.unwrap().gone, 0);
    assert_eq!(copied(&store).await.len(), 5);
    let report = replica.sync_full().await.unwrap();
    assert_eq!(
        (report.gone, copied(&store).await),
        (1, site.ids()),
        "{report}"
    );
    assert_eq!(told(&replica, "a").await, ["gone r002"]);
    // It comes back.
    site.lock().save("r002", |_| {});
    replica.sync_full().await.unwrap();
    assert_eq!(told(&replica, "a").await, ["appeared r002"]);
}

#[tokio::test]
async fn a_record_that_a_read_shows_or_that_cannot_be_read_is_not_gone() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    replica.sync_full().await.unwrap();
    site.lock().list.record("r002", "").is_listed = false;
    for _ in 0..3 {
        assert_eq!(replica.sync_full().await.unwrap().gone, 0);
    }
    site.lock().delete("r002");
    for status in [500, 502, 401, 403, 429] {
        site.lock().reads = Some(status);
        let report = replica.sync_full().await.unwrap();
        assert_eq!(report.gone, 0, "{status} {report}");
    }
    // A service that finds nothing at all is broken.
    site.lock().reads = Some(404);
    assert_eq!(replica.sync_full().await.unwrap().gone, 0);
    site.lock().reads = None;
    assert_eq!(replica.sync_full().await.unwrap().gone, 1);
    assert_eq!(copied(&store).await, site.ids());
}

/// Holds: a walk that was interrupted or shifted makes nothing gone.
#[tokio::test]
async fn a_walk_that_shifts_or_stops_makes_nothing_gone() {
    let (site, store) = (Site::with(6), MemorySync::new());
    let replica = site.replica(store.clone());
    replica.sync_full().await.unwrap();
    // A record before the position is deleted, so another one slips past the walk, each time.
    for deleted in ["r006", "r005"] {
        site.before_request(2, |site| site.delete(deleted));
        let report = replica.sync_full().await.unwrap();
        assert_eq!((report.clean, report.gone), (false, 0), "{report}");
    }
    assert_eq!(copied(&store).await.len(), 6);
    for _ in 0..3 {
        replica.sync_full().await.unwrap();
    }
    assert_eq!(copied(&store).await, site.ids());
}

/// Lists hide what is deleted, and a read shows it as `DELETED`: the copy shows it as well, and asks no more.
#[tokio::test]
async fn a_record_that_a_read_shows_in_another_state_is_written() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    replica.sync_full().await.unwrap();
    told(&replica, "a").await;
    {
        let mut site = site.lock();
        site.save("r002", |record| record["status"] = "DELETED".into());
        site.list.record("r002", "").is_listed = false;
    }
    replica.sync_full().await.unwrap();
    let report = replica.sync_full().await.unwrap();
    assert_eq!((report.changed, report.gone), (1, 0), "{report}");
    let record = replica.consignment("r002").await.unwrap().unwrap();
    assert_eq!(record.status(), Some(ConsignmentStatus::Deleted));
    assert_eq!(told(&replica, "a").await, ["changed r002 status"]);
    let before = replica.sync_full().await.unwrap().requests;
    assert_eq!(replica.sync_full().await.unwrap().requests, before);
    assert!(told(&replica, "a").await.is_empty());
}
