//! Accounts are served, each by one host at a time.

use std::collections::HashSet;

use envd_sdk::sync::fleet::FleetEvent;

use super::farm::Farm;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_account_is_synced_once_in_an_interval_by_any_of_the_hosts() {
    let Some(farm) = Farm::start(60).await else {
        return;
    };
    farm.add_all().await;
    let fleets = [(); 3].map(|()| farm.fleet(2).concurrency(8).build().unwrap());
    let [mut one, mut two, mut three] = fleets.each_ref().map(|fleet| farm.run(fleet));
    let mut synced = HashSet::new();
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
    assert_eq!((status.failing, status.waiting), (0, 0));
    let page = fleets[0]
        .accounts(Some(&farm.accounts[57]), 10)
        .await
        .unwrap();
    let ids: Vec<_> = page.iter().map(|account| account.account.clone()).collect();
    assert_eq!(ids, farm.accounts[58..]);
    assert!(
        page.iter()
            .all(|account| account.synced_ago.is_some() && account.due_in_seconds > 0.0)
    );
}

#[tokio::test]
async fn an_account_is_served_again_after_its_interval_and_not_after_it_was_removed() {
    let Some(farm) = Farm::start(2).await else {
        return;
    };
    farm.add_all().await;
    let fleet = farm
        .fleet(2)
        .interval(std::time::Duration::from_secs(1))
        .build()
        .unwrap();
    let mut host = farm.run(&fleet);
    let removed = &farm.accounts[0];
    let mut seen = 0;
    while seen < 2 {
        seen += usize::from(host.synced(1).await == [removed.clone()]);
    }
    assert!(fleet.remove(removed).await.unwrap());
    assert!(!fleet.remove(removed).await.unwrap());
    assert_eq!(
        fleet
            .add([removed.clone(), farm.accounts[1].clone()])
            .await
            .unwrap(),
        1
    );
    assert!(fleet.remove(removed).await.unwrap());
    host.stop().await;
    let ids = fleet.accounts(None, 10).await.unwrap();
    assert_eq!(ids.len(), 1);
    assert_eq!(ids[0].account, farm.accounts[1]);
}
