//! A loop that is stopped.

use std::time::Duration;

use super::farm::{Farm, SAVE, load, now, start};
use crate::outbox::EntryState;
use envd_sdk::fake::Fault;

#[tokio::test]
async fn a_loop_that_is_stopped_leaves_its_lease_to_others() {
    let (farm, outbox) = start().await;
    let entry = outbox.save(load(10)).await.unwrap();
    let late = Fault::latency(Duration::from_secs(1));
    farm.fake.on_operation(SAVE).fault(late);
    let sending = outbox.run();
    let handle = sending.handle();
    let sending = tokio::spawn(sending.into_future());
    farm.fake.until_delayed().await;
    assert_eq!(now(&outbox, entry.id).await.state, EntryState::Sending);
    handle.stop();
    sending.await.unwrap();

    // Another process goes on at once, and finds what was in flight.
    let other = farm.outbox();
    let (report, _) = other.pass().await.unwrap();
    assert_eq!((report.confirmed, report.waiting), (1, 0));
    let entry = now(&other, entry.id).await;
    assert!(entry.is_adopted);
    assert_eq!((farm.saves(), farm.loads().len()), (1, 1));
}

#[tokio::test]
async fn a_lease_is_at_most_as_long_as_others_believe() {
    let farm = Farm::start().await;
    let outbox = farm.outbox().lease(Duration::from_secs(3_600));
    outbox.save(load(10)).await.unwrap();
    let late = Fault::latency(Duration::from_secs(1));
    farm.fake.on_operation(SAVE).fault(late);
    let frozen = tokio::spawn(async move { outbox.pass().await });
    farm.fake.until_delayed().await;

    let other = farm.outbox();
    let (report, due) = other.pass().await.unwrap();
    assert_eq!((report.waiting, report.requests), (1, 0));
    let at = due.reconciles_at.unwrap();
    assert!(other.time_until(at) > Duration::from_secs(500));
    frozen.abort();
}
