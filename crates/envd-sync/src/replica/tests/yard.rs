//! A saleyard: records arrive and change during every scan, and the copy cannot keep them all.

use std::time::Duration;

use serde_json::json;

use super::listing::{Compared, DAY, ListOrder};
use super::site::{Site, copied};
use crate::replica::{Replica, SyncMode, SyncReport};
use crate::store::MemorySync;
use crate::tests::script::within;

const FIVE_MINUTES: u64 = 300_000;

/// Changes a record before each of the next requests, and adds one before every third, ten seconds apart.
fn keep_busy(site: &Site, requests: usize) {
    for number in 1..=requests {
        site.before_request(number, move |site| {
            site.list.now -= 50_000;
            let ids: Vec<String> = site.list.records.keys().cloned().collect();
            let id = &ids[(number * 37) % ids.len()];
            let heads = site.list.now;
            site.save(id, |record| record["heads"] = json!(heads % 1_000));
            if number % 3 == 0 {
                site.list.now -= 50_000;
                site.save(&format!("n{heads}"), |_| {});
            }
        });
    }
}

async fn sync(site: &Site, replica: &Replica) -> SyncReport {
    keep_busy(site, 40);
    let report = within("a sync", Box::pin(replica.sync())).await.unwrap();
    site.lock().edits.clear();
    site.lock().list.now += FIVE_MINUTES;
    site.clock.advance(Duration::from_millis(FIVE_MINUTES));
    report
}

fn orders() -> impl Iterator<Item = (ListOrder, bool)> {
    let orders = [
        ListOrder::LatestUpdateFirst,
        ListOrder::EarliestUpdateFirst,
        ListOrder::NewestFirst,
        ListOrder::Id,
    ];
    orders
        .into_iter()
        .flat_map(|order| [(order, true), (order, false)])
}

/// Holds: a busy account is incremental from the second sync, and its profile is never refuted.
#[tokio::test]
async fn a_busy_account_is_read_in_full_once_a_day_and_otherwise_by_a_few_requests() {
    for (order, by_position) in orders() {
        let case = format!("{order:?} {by_position}");
        let site = Site::with(100);
        let store = MemorySync::new();
        site.lock().list.order = order;
        site.lock().list.by_position = by_position;
        let replica = site.replica(store.clone()).page_size(10);
        for day in 0..3 {
            let report = sync(&site, &replica).await;
            assert_eq!(report.mode, SyncMode::Full, "{case}: {report}");
            for number in 0..8 {
                let report = sync(&site, &replica).await;
                assert_eq!(report.mode, SyncMode::Incremental, "{case}: {report}");
                // The first one repeats the time span of the full scan.
                assert!(
                    day + number == 0 || report.requests <= 5,
                    "{case}: {report}"
                );
            }
            site.clock.advance(Duration::from_millis(DAY));
        }
        // The next full scan finds the records that earlier scans passed by.
        replica.sync_full().await.unwrap();
        assert_eq!(copied(&store).await, site.ids(), "{case}");
        let listed = site.lock().list.records.clone();
        for (id, record) in listed {
            let copy = replica.consignment(id).await.unwrap().unwrap();
            assert_eq!(copy.value(), record.value, "{case}");
        }
    }
}

/// Holds: a service that compares another date is found out by the next full scan, however busy the account is.
#[tokio::test]
async fn a_busy_account_of_a_service_that_compares_another_date_is_read_in_full() {
    for compared in [Compared::Created, Compared::Moved] {
        for (order, by_position) in orders() {
            let case = format!("{compared:?} {order:?} {by_position}");
            let site = Site::with(60);
            let store = MemorySync::new();
            site.lock().list.compared = compared;
            site.lock().list.order = order;
            site.lock().list.by_position = by_position;
            let replica = site.replica(store.clone()).page_size(10);
            for number in 10..16 {
                site.lock().save(&format!("r0{number}"), |_| {});
                site.lock().save(&format!("m0{number}"), |_| {});
                sync(&site, &replica).await;
            }
            site.clock.advance(Duration::from_millis(DAY));
            sync(&site, &replica).await;
            for _ in 0..2 {
                let report = sync(&site, &replica).await;
                assert_eq!(report.mode, SyncMode::Full, "{case} {report}");
                assert!(report.why.contains("does not hold"), "{case} {report}");
            }
        }
    }
}
