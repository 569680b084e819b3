//! Several hosts, one database.

use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::TokenStore;
use processes::{Mode, Proxy, until};

use super::database::{Database, log_in_at};
use crate::stores::host::{eight_refresh_once_each_time, take_tokens};
use crate::stores::sessions::{KEY, LIFETIME, fake, log_in, manager, start};

/// Row 8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_hosts_one_refreshes_at_each_of_a_hundred_expiries() {
    let database = Database::new().await;
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    eight_refresh_once_each_time(&fake, &database.of_host());
}

/// Row 26. The request of the killed host has not arrived, so the refresh token is still valid.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_host_is_killed_during_a_refresh_the_next_one_refreshes_after_mark_wait() {
    let database = Database::new().await;
    let fake = fake().await;
    let network = Proxy::of(&fake).await;
    let through = network.through(fake.token_url());
    log_in_at(&fake, &through, database.sealed()).await;
    network.set(Mode::HoldRequests);
    let mut child = take_tokens(&through, &database.of_host());
    child.send("expire");
    network.stopped().await;
    let stored = database.sealed().load(KEY).await.unwrap().unwrap();
    assert!(stored.record.refresh_began_at().is_some());
    child.kill();
    // What was held back does not pass.
    network.set(Mode::Cut);
    network.set(Mode::Pass);
    let (clock, before) = (Clock::manual(start()), fake.token_requests());
    clock.advance(LIFETIME);
    let next = manager(&through, database.sealed(), clock.clone());
    // A single call waits longer than `mark_wait`.
    let next = next
        .timing(|it| (it.wait, it.lock_wait) = (LIFETIME, LIFETIME))
        .build()
        .unwrap();
    let began = clock.now();
    let asking = tokio::spawn(async move { next.access_token().await });
    let has_waited = async || {
        clock.advance(Duration::from_millis(500));
        tokio::time::sleep(Duration::from_millis(2)).await;
        asking.is_finished()
    };
    until("a token after the mark of a killed host", has_waited).await;
    let token = asking.await.unwrap().unwrap();
    let waited = clock.now().duration_since(began).unwrap();
    assert!(waited >= Duration::from_secs(120), "{waited:?}");
    assert_eq!(fake.token_requests(), before + 1);
    let stored = database.sealed().load(KEY).await.unwrap().unwrap();
    assert_eq!(stored.record.tokens().generation(), token.generation());
    assert!(stored.record.refresh_began_at().is_none());
}
