//! A saleyard: records arrive and change during every walk, and there are too many to keep.

use std::time::Duration;

use serde_json::json;

use super::listing::{Compared, DAY, ListOrder, START};
use super::site::{Site, copied, told};
use crate::replica::{Replica, SyncMode, SyncReport};
use crate::store::MemorySync;

const FIVE_MINUTES: u64 = 300_000;

/// Before each of the next requests a record changes, and before every third one a record arrives; ten seconds apart.
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
    let report = replica.sync().await.unwrap();
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
        let (site, store) = (Site::with(100), MemorySync::new());
        site.lock().list.order = order;
        site.lock().list.by_position = by_position;
        let replica = site.replica(store.clone()).page_size(10);
        for day in 0..3 {
            let report = sync(&site, &replica).await;
            assert_eq!(report.mode, SyncMode::Full, "{case}: {report}");
            for number in 0..8 {
                let report = sync(&site, &replica).await;
                assert_eq!(report.mode, SyncMode::Incremental, "{case}: {report}");
                // The first one repeats the time of the full walk.
                assert!(
                    day + number == 0 || report.requests <= 5,
                    "{case}: {report}"
                );
            }
            site.clock.advance(Duration::from_millis(DAY));
        }
        // What a walk passed by is there after the next full one.
        replica.sync_full().await.unwrap();
        assert_eq!(copied(&store).await, site.ids(), "{case}");
        let listed = site.lock().list.records.clone();
        for (id, record) in listed {
            let copy = replica.consignment(id).await.unwrap().unwrap();
            assert_eq!(copy.value(), record.value, "{case}");
        }
    }
}

/// Holds: a service that compares another date is found out by the next full walk, however busy the account is.
#[tokio::test]
async fn a_busy_account_of_a_service_that_compares_another_date_is_read_in_full() {
    for compared in [Compared::Created, Compared::Moved] {
        for (order, by_position) in orders() {
            let case = format!("{compared:?} {order:?} {by_position}");
            let (site, store) = (Site::with(60), MemorySync::new());
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

/// Three records of 40 days ago, and three of now.
fn aged() -> Site {
    let site = Site::with(0);
    site.lock().list.now = START - 40 * DAY;
    (1..=3).for_each(|number| site.lock().save(&format!("old{number}"), |_| {}));
    site.lock().list.now = START;
    (1..=3).for_each(|number| site.lock().save(&format!("r{number}"), |_| {}));
    site
}

const DAYS: Duration = Duration::from_secs(24 * 60 * 60);

/// Holds: what is older than the horizon is neither walked nor gone.
#[tokio::test]
async fn what_is_older_than_the_horizon_is_neither_walked_nor_gone() {
    for named in [true, false] {
        let (site, store) = (aged(), MemorySync::new());
        let mut replica = site.replica(store.clone()).horizon(10 * DAYS);
        replica.compared.value.take_if(|_| !named);
        let report = replica.sync_full().await.unwrap();
        assert_eq!((report.appeared, report.clean), (3, true), "{report}");
        assert_eq!(copied(&store).await, ["r1", "r2", "r3"]);
        // Where it is not known which date is compared, the whole list is read.
        assert_eq!(report.seen, if named { 3 } else { 6 });
        site.lock().save("old1", |_| {});
        assert_eq!(replica.sync().await.unwrap().appeared, 1);

        site.lock().list.now += 20 * DAY;
        site.clock.advance(20 * DAYS);
        (4..=5).for_each(|number| site.lock().save(&format!("r{number}"), |_| {}));
        (1..=2).for_each(|number| site.lock().delete(&format!("r{number}")));
        replica.sync_full().await.unwrap();
        site.lock().delete("r4");
        site.take_requests();
        let reports = [
            replica.sync_full().await.unwrap(),
            replica.sync_full().await.unwrap(),
        ];
        assert_eq!(reports.map(|report| report.gone), [0, 1]);
        let reads = site.take_requests().into_iter();
        let reads: Vec<String> = reads
            .filter(|request| request.0 == "Consignment")
            .map(|request| request.1)
            .collect();
        assert_eq!(reads.first().map(String::as_str), Some("r4"));
        assert!(
            !reads.iter().any(|id| id == "r1" || id == "r2"),
            "{reads:?}"
        );
        assert_eq!(copied(&store).await, ["old1", "r1", "r2", "r3", "r5"]);
        // A longer horizon needs two walks of its own.
        let longer = replica.horizon(100 * DAYS);
        assert_eq!(longer.sync_full().await.unwrap().gone, 0);
        assert_eq!(longer.sync_full().await.unwrap().gone, 2);
        assert_eq!(copied(&store).await, site.ids());
    }
}

/// Holds: retention prunes rows, and tells consumers only if asked.
#[tokio::test]
async fn retention_prunes_rows_and_tells_consumers_only_if_asked() {
    for reports in [true, false] {
        let (site, store) = (aged(), MemorySync::new());
        let replica = site.replica(store.clone());
        replica.sync_full().await.unwrap();
        assert_eq!(told(&replica, "a").await.len(), 6);
        let mut replica = replica.retention(10 * DAYS);
        replica.reports_pruned = reports;
        assert_eq!(
            replica.sync().await.unwrap().pruned,
            0,
            "after full walks only"
        );
        let report = replica.sync_full().await.unwrap();
        assert_eq!(
            (report.pruned, report.gone, report.seen),
            (3, 0, 3),
            "{report}"
        );
        assert_eq!(copied(&store).await, ["r1", "r2", "r3"]);
        let expected: &[&str] = if reports {
            &["pruned old1", "pruned old2", "pruned old3"]
        } else {
            &[]
        };
        let mut pruned = told(&replica, "a").await;
        pruned.sort();
        assert_eq!(pruned, expected);
        assert_eq!(told(&replica, "b").await.len(), 3);
        // What is within the horizon is kept, and what changes again appears again.
        site.lock().save("old2", |_| {});
        let replica = replica.horizon(100 * DAYS);
        assert_eq!(replica.sync().await.unwrap().appeared, 1);
        let report = replica.sync_full().await.unwrap();
        assert_eq!((report.pruned, report.appeared), (0, 2), "{report}");
        assert_eq!(told(&replica, "b").await.len(), 3);
    }
}
