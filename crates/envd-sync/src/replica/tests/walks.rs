//! Full and incremental walks: what they write, and what they leave for the next one.

use envd_sdk::ErrorKind;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::listing::{DAY, ListOrder, instant};
use super::site::{Site, copied, told};
use crate::replica::{Depth, SyncMode, WalkProgress};
use crate::store::MemorySync;
use crate::store::tests::faulty_store::FaultyStore;
use envd_sdk::model::Timestamp;

/// Holds: a sync with nothing new makes at most two requests and no write.
#[tokio::test]
async fn a_sync_with_nothing_new_is_one_request_and_no_write() {
    for order in [
        ListOrder::LatestUpdateFirst,
        ListOrder::EarliestUpdateFirst,
        ListOrder::Id,
    ] {
        let (site, store) = (Site::with(5), MemorySync::new());
        site.lock().list.order = order;
        let counted = FaultyStore::new(&store, usize::MAX);
        let replica = site.replica(counted.clone());
        site.make_incremental(&replica).await;
        if order == ListOrder::EarliestUpdateFirst {
            // The watermark is none of a later page, where the newest record was.
            replica.sync().await.unwrap();
            site.take_requests();
        }
        let (before, reads) = (counted.commits(), counted.all_reads());
        for _ in 0..3 {
            let report = replica.sync().await.unwrap();
            assert_eq!(
                (report.mode, report.clean),
                (SyncMode::Incremental, true),
                "{report}"
            );
            assert_eq!(site.take_requests().len(), 1);
        }
        assert_eq!(counted.commits(), before);
        // Each of these calls is one statement of a database.
        assert!(counted.all_reads() - reads <= 3 * 3, "{order:?}");
    }
}

/// Holds: a walk that stopped continues from its page.
#[tokio::test]
async fn a_walk_that_stops_continues_at_its_page_in_another_process() {
    for commits in 0..6 {
        let (site, store) = (Site::with(9), MemorySync::new());
        let failed = site.replica(FaultyStore::new(&store, commits)).sync().await;
        let failed = failed.map(|report| report.to_string());
        let pages = commits.min(5);
        assert_eq!(copied(&store).await.len(), (2 * pages).min(9));
        assert_eq!(failed.is_err(), commits < 5, "{failed:?}");
        site.take_requests();

        let replica = site.replica(store.clone());
        let report = replica.sync().await.unwrap();
        assert_eq!(report.resumed, (1..5).contains(&commits), "{report}");
        // The service may still receive what the first process requested ahead, which is a later page.
        let requests = site.take_requests().into_iter();
        let of_full = requests.filter(|(_, _, from)| from.is_empty());
        let first = of_full.map(|(_, cursor, _)| cursor.parse().unwrap_or(0));
        assert_eq!(first.min(), (commits < 5).then_some(2 * commits));
        assert!(report.clean);
        assert_eq!(copied(&store).await, site.ids());
        assert_eq!(told(&replica, "a").await.len(), 9);
    }
}

#[tokio::test]
async fn a_refused_cursor_starts_the_walk_anew() {
    let (site, store) = (Site::with(7), MemorySync::new());
    let stopped = site.replica(FaultyStore::new(&store, 2));
    stopped.sync().await.unwrap_err();
    site.lock().refused.push("4".to_owned());
    let replica = site.replica(store.clone());
    // The cursor is refused for good, so the sync fails after it has started anew once.
    assert!(replica.sync().await.unwrap_err().kind() == ErrorKind::Rejected);
    site.lock().refused.clear();
    site.before_request(2, |site| site.refused.push("6".to_owned()));
    site.before_request(3, |site| site.refused.clear());
    let report = replica.sync().await.unwrap();
    assert_eq!((report.restarts, report.clean), (1, true), "{report}");
    assert_eq!(copied(&store).await, site.ids());
    assert_eq!(told(&replica, "a").await.len(), 7);
}

/// Holds: full depth reads each new or changed record once.
#[tokio::test]
async fn full_depth_reads_each_new_or_changed_record_once() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone()).depth(Depth::Full);
    let reads = |site: &Site, id: &str| {
        let requests = site.take_requests().into_iter();
        let reads = requests.filter(|request| request.0 == "Consignment" && request.1.contains(id));
        reads.count()
    };
    replica.sync().await.unwrap();
    assert_eq!(reads(&site, ""), 5);
    site.lock()
        .save("r002", |record| record["heads"] = json!(3));
    let report = replica.sync().await.unwrap();
    assert_eq!((reads(&site, "r002"), report.changed), (1, 1));
    replica.sync().await.unwrap();
    assert_eq!(reads(&site, "r002"), 0);
    let mut feed = replica.changes("a");
    let change = feed.next().await.unwrap().unwrap();
    assert_eq!(change.record().depth(), Depth::Full);
    assert!(change.record().json().contains("answers"));
}

#[tokio::test]
async fn a_service_with_an_earlier_state_than_the_copy_is_read_in_full_at_once() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    site.make_incremental(&replica).await;
    // As a fake that is started again.
    for record in site.lock().list.records.values_mut() {
        record.updated -= 3 * DAY;
        record.value["updatedAt"] = json!(Timestamp::from(instant(record.updated)));
    }
    let report = replica.sync().await.unwrap();
    assert_eq!((report.mode, report.seen), (SyncMode::Full, 5), "{report}");
    assert!(report.why.contains("2026-11-21T00:06:00Z"), "{report}");
    let report = replica.sync().await.unwrap();
    assert_eq!(report.mode, SyncMode::Incremental);
    assert_eq!((report.seen, report.problems.len()), (1, 0), "{report}");
}

#[tokio::test]
async fn progress_is_told_after_each_page() {
    let site = Site::with(5);
    let told = Arc::new(Mutex::new(Vec::new()));
    let sender = Arc::clone(&told);
    let replica = site.replica(MemorySync::new());
    let replica = replica.on_progress(move |progress: &WalkProgress| {
        sender
            .lock()
            .unwrap()
            .push((progress.pages, progress.records, progress.estimate));
    });
    replica.sync().await.unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        [(1, 2, Some(5)), (2, 4, Some(5)), (3, 5, Some(5))]
    );
}
