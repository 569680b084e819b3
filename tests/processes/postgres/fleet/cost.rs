//! What an account costs in which nothing changes.

use envd_sdk::sync::replica::{SyncMode, SyncReport};
use envd_sdk::sync::store::PostgresSync;

use super::super::database;
use super::farm::{Farm, HOUR, Host};

const ACCOUNTS: usize = 64;

/// Counted at a proxy, with the store of the copies in the same database. Each statement is one round trip.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_without_changes_takes_at_most_three_statements_and_two_requests_an_account() {
    let Some(farm) = Farm::start(ACCOUNTS).await else {
        return;
    };
    farm.fill();
    let proxy = database::proxy().await;
    let store = PostgresSync::builder(database::pool_through(&proxy, 8));
    let store = store.schema(&farm.database.schema).build().unwrap();
    store.migrate().await.unwrap();
    let pool = database::pool_through(&proxy, 4);
    let fleet = farm.fleet_over(pool, store).interval(HOUR).poll(HOUR);
    let fleet = fleet.build().unwrap();
    let mut host = farm.run(&fleet);
    farm.add_all().await;
    round(&farm, &mut host).await;
    farm.change();
    // Finds the change, and which date the service compares.
    round(&farm, &mut host).await;
    for _ in 0..4 {
        let (before, requests) = (proxy.round_trips().0, farm.requests());
        let reports = round(&farm, &mut host).await;
        for report in reports {
            assert_eq!(report.mode, SyncMode::Incremental, "{report}");
            assert_eq!(report.changed, 0, "{report}");
        }
        let statements = proxy.round_trips().0 - before;
        assert!(statements <= 3 * ACCOUNTS, "{statements} statements");
        assert!(farm.requests() - requests <= 2 * ACCOUNTS);
    }
    host.stop().await;
}

/// Syncs every account, and waits until all are given back.
async fn round(farm: &Farm, host: &mut Host) -> Vec<SyncReport> {
    let table = format!("\"{}\".fleet_account", farm.database.schema);
    let due = format!("UPDATE {table} SET due_at = now(), sync_due_at = now()");
    farm.database.run(&due).await;
    host.handle.claim_now();
    let mut reports = Vec::new();
    for _ in 0..ACCOUNTS {
        reports.push(host.report().await);
    }
    let leased = format!("SELECT count(lease_host)::text FROM {table}");
    while farm.database.query_text(&leased).await != "0" {
        host.handle.claim_now();
        tokio::task::yield_now().await;
    }
    reports
}
