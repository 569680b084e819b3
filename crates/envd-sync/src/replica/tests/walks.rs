//! Full and incremental walks: what they write, and what they leave for the next one.

use envd_sdk::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::listing::{DAY, ListOrder, Total, instant};
use super::site::{Site, copied, told};
use crate::replica::{Depth, SyncMode, WalkProgress};
use crate::store::MemorySync;
use crate::store::tests::faulty_store::FaultyStore;
use envd_sdk::model::Timestamp;

/// Holds: the first walk is full, and one a day; others ask from the watermark minus the overlap.
#[tokio::test]
async fn the_first_sync_copies_everything_and_tells_it_once() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    let report = replica.sync().await.unwrap();
    assert_eq!(
        (report.mode, report.clean),
        (SyncMode::Full, true),
        "{report}"
    );
    assert_eq!((report.seen, report.appeared, report.pages), (5, 5, 3));
    assert_eq!(report.requests, site.take_requests().len() as u64);
    assert_eq!(copied(&store).await, site.ids());
    assert_eq!(told(&replica, "a").await.len(), 5);
    assert_eq!(told(&replica, "a").await.len(), 0);
    // A consumer that is named late is told everything that is there.
    assert_eq!(told(&replica, "b").await.len(), 5);
}

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

#[tokio::test]
async fn an_incremental_sync_tells_what_changed_and_asks_from_the_watermark_minus_the_overlap() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    site.make_incremental(&replica).await;
    told(&replica, "a").await;
    let submitted = |record: &mut Value| record["status"] = json!("SUBMITTED");
    site.lock().save("r003", submitted);
    let moved = |record: &mut Value| record["origin"] = json!({"pic": "QAZZ7777"});
    site.lock().save("r003", moved);
    site.lock().save("new", |_| {});
    // Its date changes, and not its content.
    site.lock().save("r004", |_| {});
    let report = replica.sync().await.unwrap();
    assert_eq!(report.mode, SyncMode::Incremental);
    assert_eq!((report.appeared, report.changed), (1, 1));
    let from = &site.take_requests()[0].2;
    assert_eq!(from, "2026-11-20T23:56:00Z");
    assert_eq!(
        told(&replica, "a").await,
        ["appeared new", "changed r003 origin,status"]
    );
    assert_eq!(report.watermark.unwrap().as_str(), "2026-11-21T00:10:00Z");
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

/// Holds: the watermark is none of a later page.
#[tokio::test]
async fn a_record_edited_behind_a_walk_falls_into_the_next_incremental_one() {
    let (site, store) = (Site::with(8), MemorySync::new());
    site.lock().list.order = ListOrder::Id;
    let replica = site.replica(store.clone()).overlap(Duration::ZERO);
    site.make_incremental(&replica).await;
    told(&replica, "a").await;
    // The walk has passed r002 when it is edited, and the last page shows an instant a day later.
    site.before_request(3, |site| {
        site.save("r002", |record| record["heads"] = json!(1));
        site.next_day("r008", 1);
    });
    let report = replica.sync_full().await.unwrap();
    assert!(report.clean, "{report}");
    assert_eq!(told(&replica, "a").await, ["changed r008 heads"]);
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Incremental);
    assert_eq!(told(&replica, "a").await, ["changed r002 heads"]);
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
async fn a_list_whose_total_changes_is_not_clean_and_one_without_totals_may_be() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    site.before_request(2, |site| site.save("new", |_| {}));
    assert!(!replica.sync().await.unwrap().clean);
    site.lock().list.total = Total::Null;
    assert!(replica.sync_full().await.unwrap().clean);
    // Without a total, a record that comes twice shows that the list moved.
    site.before_request(2, |site| site.save("newer", |_| {}));
    assert!(!replica.sync_full().await.unwrap().clean);
    assert_eq!(replica.sync_full().await.unwrap().appeared, 1);
    assert_eq!(copied(&store).await, site.ids());
}

#[tokio::test]
async fn an_incremental_walk_that_shifts_does_not_move_the_watermark() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    site.make_incremental(&replica).await;
    let before = replica.sync().await.unwrap().watermark;
    (0..5).for_each(|number| site.lock().save(&format!("n{number}"), |_| {}));
    // The newest is deleted behind the walk, so one slips past it.
    site.before_request(2, |site| site.delete("n4"));
    let report = replica.sync().await.unwrap();
    assert_eq!((report.mode, report.clean), (SyncMode::Incremental, false));
    assert_eq!(report.watermark, before);
    let report = replica.sync().await.unwrap();
    let time = |at: Option<Timestamp>| at.and_then(|at| at.to_time());
    let is_later = time(report.watermark.clone()) > time(before);
    assert!(report.clean && is_later, "{report}");
    assert_eq!(copied(&store).await.len(), site.ids().len() + 1);
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
