//! Limits of requests, counted at the service, and `Retry-After`.

use std::time::{Duration, Instant};

use envd_sdk::fake::Fault;

use super::farm::{Farm, HOUR};

/// A machine that is slow only takes longer.
fn assert_at_most(requests: usize, per_second: f64, begun: Instant) {
    let took = begun.elapsed().as_secs_f64();
    let most = (took + 0.5) * per_second;
    let requests = u32::try_from(requests).unwrap();
    assert!(
        f64::from(requests) <= most,
        "{requests} requests in {took} s"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_keeps_its_limit() {
    let Some(farm) = Farm::start(60).await else {
        return;
    };
    farm.add_all().await;
    let fleet = farm
        .fleet(2)
        .host_requests_per_second(20.0)
        .build()
        .unwrap();
    let begun = Instant::now();
    let mut host = farm.run(&fleet);
    host.synced(60).await;
    assert!(farm.requests() >= 60);
    assert_at_most(farm.requests(), 20.0, begun);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_hosts_together_keep_the_limit_of_the_fleet() {
    let Some(farm) = Farm::start(80).await else {
        return;
    };
    farm.add_all().await;
    let fleets = [(); 3].map(|()| {
        let fleet = farm.fleet(4).concurrency(4).requests_per_second(40.0);
        fleet.build().unwrap()
    });
    let begun = Instant::now();
    let mut hosts = fleets.each_ref().map(|fleet| farm.run(fleet));
    let [one, two, three] = &mut hosts;
    for _ in 0..80 {
        tokio::select! {
            _ = one.synced(1) => {}
            _ = two.synced(1) => {}
            _ = three.synced(1) => {}
        }
    }
    assert!(farm.requests() >= 80);
    assert_at_most(farm.requests(), 40.0, begun);
    for host in hosts {
        host.stop().await;
    }
}

fn told_to_wait(status: u16) -> Fault {
    Fault::status(status).header("retry-after", "600")
}

#[tokio::test]
async fn an_account_that_is_told_to_wait_waits_alone() {
    let Some(farm) = Farm::start(5).await else {
        return;
    };
    farm.add_all().await;
    farm.fake
        .on_operation("Consignments")
        .fault(told_to_wait(429))
        .times(1);
    let fleet = farm.fleet(2).concurrency(1).build().unwrap();
    let mut host = farm.run(&fleet);
    let (account, again_in) = host.failed().await;
    assert!(again_in > Duration::from_secs(590), "{again_in:?}");
    let synced = host.synced(4).await;
    assert!(!synced.contains(&account));
    // A new entry does not change what the service has told.
    farm.write(&fleet, &account).await;
    host.stop().await;
    let page = fleet.accounts(None, 10).await.unwrap();
    let told = page.iter().find(|found| found.account == account).unwrap();
    assert!(told.due_in_seconds > 500.0 && told.failures == 1);
    assert!(farm.records(&account) == 0);
}

#[tokio::test]
async fn maintenance_or_three_accounts_in_a_row_stop_all_requests() {
    for (status, requests) in [(503, 1), (429, 3)] {
        let Some(farm) = Farm::start(8).await else {
            return;
        };
        farm.add_all().await;
        farm.fake
            .on_operation("Consignments")
            .fault(told_to_wait(status))
            .forever();
        let fleet = farm.fleet(2).concurrency(1).interval(HOUR).build().unwrap();
        let mut host = farm.run(&fleet);
        for _ in 0..requests {
            host.failed().await;
        }
        host.stop().await;
        assert_eq!(farm.requests(), requests, "{status}");
    }
}
