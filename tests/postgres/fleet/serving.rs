//! Accounts are served, each by one host at a time.

use std::collections::HashSet;

use envd_sdk::sync::fleet::FleetEvent;

use super::farm::{Farm, input};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_account_is_synced_once_in_an_interval_by_any_of_the_hosts() {
    let Some(farm) = Farm::start(60).await else {
        return;
    };
    farm.add_all().await;
    let fleets = [(); 3].map(|()| farm.fleet(2).concurrency(8).build().unwrap());
    let mut hosts = fleets.each_ref().map(|fleet| farm.run(fleet)).into_iter();
    let mut synced = HashSet::new();
    let (mut one, mut two, mut three) = (
        hosts.next().unwrap(),
        hosts.next().unwrap(),
        hosts.next().unwrap(),
    );
    while synced.len() < 60 {
        let event = tokio::select! {
            event = one.next() => event,
            event = two.next() => event,
            event = three.next() => event,
        };
        let FleetEvent::Synced { account, .. } = event else {
            panic!("{event:?}");
        };
        assert!(synced.insert(account), "synced twice");
    }
    for host in [one, two, three] {
        host.stop().await;
    }
    let status = fleets[0].status().await.unwrap();
    assert_eq!((status.accounts, status.due, status.leased), (60, 0, 0));
    assert_eq!(status.failing, 0);
}

#[tokio::test]
async fn an_entry_is_sent_by_a_host() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    farm.add_all().await;
    let fleet = farm.fleet(2).build().unwrap();
    let mut host = farm.run(&fleet);
    host.synced(1).await;
    let id = &farm.accounts[0];
    farm.outbox(id).save(input()).await.unwrap();
    fleet.wake(id).await.unwrap();
    let confirmed = host.find(|event| match event {
        FleetEvent::Passed { report, .. } => Some(report.confirmed),
        _ => None,
    });
    assert_eq!(confirmed.await, 1);
    assert_eq!(farm.records(id), 1);
    host.stop().await;
}
