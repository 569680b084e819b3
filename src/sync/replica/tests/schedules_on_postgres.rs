//! The first of the random schedules, with the copy in Postgres, and what a sync asks of it.

use super::schedules::Schedule;
use super::site::Site;
use crate::sync::store::postgres::tests::TestSchema;

#[test]
fn the_copy_in_postgres_and_the_feed_equal_the_service_after_any_schedule() {
    let Some(schema) = TestSchema::new() else {
        return;
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    for number in 0..25 {
        println!("schedule {number}"); // Shown when it fails.
        runtime.block_on(async {
            let mut schedule = Schedule::new(number, schema.store(number)).await;
            schedule.run().await;
        });
    }
}

/// Each of these calls is one statement (`tests/processes/postgres/sync_cost.rs`).
#[test]
fn a_sync_that_finds_nothing_new_takes_at_most_three_statements() {
    let Some(schema) = TestSchema::new() else {
        return;
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let (site, store) = (Site::with(6).await, schema.store(0));
        let replica = site.replica(store.clone());
        site.make_incremental(&replica).await;
        replica.sync().await.unwrap();
        store.take_calls();
        let report = replica.sync().await.unwrap();
        assert_eq!((report.appeared, report.changed), (0, 0));
        let calls = store.take_calls();
        let are_reads = calls
            .iter()
            .all(|call| ["documents", "rows"].contains(call));
        assert!(are_reads && calls.len() <= 3, "{calls:?}");
    });
}
