//! Which date `fromDate` compares, and what happens when it is not the time of the last change.

use std::time::Duration;

use serde_json::{Value, json};

use super::listing::{Compared, DAY};
use super::site::{Site, copied, saved_as};
use crate::replica::SyncMode;
use crate::store::MemorySync;

/// Holds: incremental only if `changed since` alone explains the list.
#[tokio::test]
async fn only_a_service_that_compares_the_last_change_makes_an_account_incremental() {
    for (compared, mode) in [
        (Compared::Updated, SyncMode::Incremental),
        (Compared::Created, SyncMode::Full),
        (Compared::Moved, SyncMode::Full),
        (Compared::Nothing, SyncMode::Full),
    ] {
        let (site, store) = (Site::with(6), MemorySync::new());
        site.lock().list.compared = compared;
        let replica = site.replica(store.clone());
        assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Full);
        // Nothing tells the readings apart yet.
        assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Full);
        for heads in 0..2 {
            site.lock().next_day("r001", heads);
            replica.sync().await.unwrap();
        }
        let report = replica.sync().await.unwrap();
        assert_eq!(report.mode, mode, "{report}");
        assert_eq!(copied(&store).await, site.ids());
    }
}

#[tokio::test]
async fn a_change_during_the_calibration_does_not_break_it() {
    let (site, store) = (Site::with(6), MemorySync::new());
    let replica = site.replica(store.clone());
    replica.sync().await.unwrap();
    site.lock().next_day("r001", 1);
    // Three pages, then the question.
    site.before_request(4, |site| {
        site.save("r002", |_| {});
        site.save("other", |_| {});
    });
    replica.sync().await.unwrap();
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Incremental);
    assert_eq!(copied(&store).await, site.ids());
}

/// Holds: a save of one's own is a witness.
#[tokio::test]
async fn a_save_that_is_not_listed_makes_the_account_full_at_once() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    site.make_incremental(&replica).await;
    site.lock().save("mine", |_| {});
    replica.witness(&saved_as("mine")).await.unwrap();
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Incremental);

    // The service goes over to another date, and keeps a save out of the list.
    site.lock().list.compared = Compared::Created;
    site.lock().next_day("r004", 1);
    replica.witness(&saved_as("r004")).await.unwrap();
    let report = replica.sync().await.unwrap();
    assert_eq!(
        (report.mode, report.changed),
        (SyncMode::Full, 1),
        "{report}"
    );
    assert!(report.why.contains("r004"), "{report}");
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Full);
}

#[tokio::test]
async fn a_full_walk_is_due_after_a_day_and_when_the_clock_was_set_back() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    site.make_incremental(&replica).await;
    site.clock.advance(Duration::from_secs(86_399));
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Incremental);
    site.clock.advance(Duration::from_secs(1));
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Full);
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Incremental);
    site.clock
        .set_wall(site.clock.now() - Duration::from_secs(10));
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Full);
}

#[tokio::test]
async fn a_record_that_is_gone_tells_no_readings_apart() {
    let (site, store) = (Site::with(3), MemorySync::new());
    // It lists what moves from a day on: the one record that was edited, and the one that is deleted before it is asked.
    site.lock().list.compared = Compared::Moved;
    for id in ["r001", "r002"] {
        let moves_late = |record: &mut Value| record["movementDate"] = json!("2026-12-24");
        site.lock().save(id, moves_late);
    }
    let replica = site.replica(store.clone());
    replica.sync().await.unwrap();
    site.lock().next_day("r001", 1);
    // Two pages, then the question.
    site.before_request(3, |site| site.delete("r002"));
    replica.sync().await.unwrap();
    assert_eq!(replica.sync().await.unwrap().mode, SyncMode::Full);
}

/// Holds: an implausible date is no watermark.
#[tokio::test]
async fn a_record_with_a_date_in_the_future_hides_no_change() {
    let (site, store) = (Site::with(5), MemorySync::new());
    let replica = site.replica(store.clone());
    let years = 3 * 365 * DAY;
    site.lock().list.now += years;
    site.lock().save("r005", |_| {});
    site.lock().list.now -= years;
    site.make_incremental(&replica).await;
    site.lock()
        .save("r002", |record| record["heads"] = json!(5));
    let report = replica.sync().await.unwrap();
    assert_eq!(
        (report.mode, report.changed),
        (SyncMode::Incremental, 1),
        "{report}"
    );
}
