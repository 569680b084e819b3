//! Hosts that stop, end, or lose the database: what they were doing is not done twice.

use std::time::Duration;

use envd_sdk::fake::Fault;
use envd_sdk::sync::fleet::FleetEvent;
use processes::Mode;

use super::super::database;
use super::farm::{Farm, HOUR, SAVE};

const LEASE: Duration = Duration::from_secs(3);

/// The reply to a save comes when the clock of the fake is moved.
fn hold_save(farm: &Farm) {
    farm.fake
        .on_operation(SAVE)
        .fault(Fault::latency(HOUR))
        .times(1);
}

#[tokio::test]
async fn a_host_that_stops_waits_for_its_requests_and_gives_its_leases_back() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    farm.add_all().await;
    let id = &farm.accounts[0];
    let fleet = farm.fleet(2).shutdown_time(HOUR).build().unwrap();
    farm.write(&fleet, id).await;
    hold_save(&farm);
    let host = farm.run(&fleet);
    farm.fake.until_delayed().await;
    assert_eq!(fleet.status().await.unwrap().leased, 1);
    host.handle.stop();
    farm.fake.clock().advance(HOUR);
    host.ended().await;
    let status = fleet.status().await.unwrap();
    assert_eq!((status.leased, status.failing), (0, 0));
    // The reply is in the store, so the next host has nothing to look for.
    let requests = farm.fake.request_count(SAVE);
    let mut next = farm.run(&fleet);
    fleet.wake(id).await.unwrap();
    let waiting = next.find(|event| match event {
        FleetEvent::Passed { report, .. } => Some(report.waiting),
        _ => None,
    });
    assert_eq!(waiting.await, 0);
    next.stop().await;
    assert_eq!(
        (requests, farm.fake.request_count(SAVE), farm.records(id)),
        (1, 1, 1)
    );
}

#[tokio::test]
async fn requests_that_take_longer_are_cut_and_looked_for_by_the_next_host() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    farm.add_all().await;
    let id = &farm.accounts[0];
    let fleet = farm.fleet(2).shutdown_time(Duration::ZERO).build().unwrap();
    farm.write(&fleet, id).await;
    hold_save(&farm);
    let host = farm.run(&fleet);
    farm.fake.until_delayed().await;
    host.stop().await;
    assert_eq!(fleet.status().await.unwrap().leased, 0);
    let mut next = farm.run(&fleet);
    next.confirmed().await;
    next.stop().await;
    assert_eq!((farm.fake.request_count(SAVE), farm.records(id)), (1, 1));
}

#[tokio::test]
async fn the_accounts_of_a_host_that_was_killed_are_taken_over_after_the_lease() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    farm.add_all().await;
    let id = &farm.accounts[0];
    let fleet = farm.fleet(2).lease(LEASE).build().unwrap();
    farm.write(&fleet, id).await;
    hold_save(&farm);
    let host = farm.run(&fleet);
    farm.fake.until_delayed().await;
    host.kill().await;
    assert_eq!(fleet.status().await.unwrap().leased, 1);
    let mut next = farm.run(&fleet);
    next.confirmed().await;
    next.stop().await;
    assert_eq!((farm.fake.request_count(SAVE), farm.records(id)), (1, 1));
}

/// As a host that is suspended in the middle of a save, until another one has its account.
#[tokio::test]
async fn a_host_that_lost_its_leases_sends_nothing_more() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    farm.add_all().await;
    let id = &farm.accounts[0];
    let proxy = database::proxy().await;
    let cut_off = farm
        .fleet_of(database::pool_through(&proxy, 2))
        .lease(LEASE);
    let cut_off = cut_off
        .time_out(Duration::from_millis(500))
        .build()
        .unwrap();
    let fleet = farm.fleet(2).lease(LEASE).build().unwrap();
    farm.write(&fleet, id).await;
    hold_save(&farm);
    let mut first = farm.run(&cut_off);
    farm.fake.until_delayed().await;
    proxy.set(Mode::HoldRequests);
    let mut second = farm.run(&fleet);
    // Its pass finds the lease of the outbox, which the first host still prolongs in the store.
    second.synced(1).await;
    farm.fake.clock().advance(HOUR);
    proxy.set(Mode::Pass);
    let lost = first.find(|event| match event {
        FleetEvent::LeaseLost { account, .. } => Some(account),
        _ => None,
    });
    assert_eq!(lost.await, *id);
    first.stop().await;
    fleet.wake(id).await.unwrap();
    let waiting = |event| match event {
        FleetEvent::Passed { report, .. } => (report.waiting == 0).then_some(()),
        _ => None,
    };
    second.find(waiting).await;
    second.stop().await;
    assert_eq!((farm.fake.request_count(SAVE), farm.records(id)), (1, 1));
}
