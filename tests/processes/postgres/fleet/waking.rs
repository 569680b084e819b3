//! A new entry is sent at once, or at the next poll.

use std::time::Duration;

use envd_sdk::auth::postgres::deadpool_postgres::tokio_postgres::NoTls;

use super::super::database;
use super::farm::{Farm, HOUR};

#[tokio::test]
async fn a_notification_wakes_a_host_that_does_not_poll() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    farm.add_all().await;
    let fleet = farm.fleet(2).poll(HOUR);
    let fleet = fleet.listen(database::config(), NoTls).build().unwrap();
    let mut host = farm.run(&fleet);
    host.synced(1).await;
    let id = &farm.accounts[0];
    for number in 1..=3 {
        farm.write(&fleet, id).await;
        host.confirmed().await;
        assert_eq!(farm.records(id), number);
    }
    host.stop().await;
}

/// A fleet with other tables in the same database is not woken, so its accounts are served by its own hosts alone.
#[tokio::test]
async fn an_account_that_is_added_is_served_at_once() {
    let Some(farm) = Farm::start(2).await else {
        return;
    };
    let fleet = farm.fleet(2).poll(HOUR).listen(database::config(), NoTls);
    let fleet = fleet.build().unwrap();
    let mut host = farm.run(&fleet);
    for id in &farm.accounts {
        fleet.add([id.clone()]).await.unwrap();
        assert_eq!(host.synced(1).await[0], *id);
    }
    host.stop().await;
}

/// `LISTEN` is accepted there and nothing ever comes, so this is what polling finds.
#[cfg(unix)]
#[tokio::test]
async fn behind_a_pooler_of_transactions_entries_are_found_by_polling() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    let pooler = super::super::pooler::Pooler::start("transaction").await;
    farm.add_all().await;
    let fleet = farm
        .fleet_of(pooler.pool(4))
        .poll(Duration::from_millis(20));
    let fleet = fleet.listen(pooler.config(), NoTls).build().unwrap();
    let mut host = farm.run(&fleet);
    host.synced(1).await;
    farm.write(&fleet, &farm.accounts[0]).await;
    host.confirmed().await;
    host.stop().await;
    assert_eq!(fleet.status().await.unwrap().leased, 0);
}
