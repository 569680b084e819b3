//! The round trips of a refresh.

use envd_sdk::Clock;
use envd_sdk::auth::TokenStore;

use super::database::{self, Database};
use crate::stores::sessions::{LIFETIME, fake, log_in, manager, start};

#[tokio::test]
async fn a_refresh_takes_three_round_trips_and_a_valid_token_none() {
    let database = Database::new().await;
    let fake = fake().await;
    let proxy = database::proxy().await;
    log_in(&fake, database.sealed()).await;
    let store = database::store(&database::pool_through(&proxy, 4), &database.schema);
    let clock = Clock::manual(start());
    // Warm-up: checks the tables and opens the connections for a lock, a write, and a lock that is being released.
    let mut locks = Vec::new();
    for key in ["a", "b", "c"] {
        locks.push(store.lock(key, LIFETIME).await.unwrap());
    }
    drop(locks);
    let url = fake.token_url();
    let manager = manager(url.as_str(), database::sealed(store), clock.clone());
    let manager = manager.build().unwrap();
    manager.access_token().await.unwrap();

    let (before, _) = proxy.round_trips();
    for _ in 0..1_000 {
        manager.access_token().await.unwrap();
    }
    assert_eq!(proxy.round_trips().0 - before, 0);
    for round in 1..=5 {
        clock.advance(LIFETIME);
        manager.access_token().await.unwrap();
        assert_eq!(proxy.round_trips().0 - before, 3 * round);
        // A refresh does not wait for the release of its lock, so the next round does.
        let open = "SELECT count(*)::text FROM pg_locks WHERE relation = '{table}'::regclass";
        let is_free = async || database.query_text(open).await == "0";
        processes::until("the release of a lock", is_free).await;
    }
}
