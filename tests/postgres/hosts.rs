//! Several hosts, one database.

use std::env;
use std::process::Command;
use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::{Event, TokenManager, TokenStore};

use super::child::Child;
use super::database::{self, Database, RESTART, chain};
use super::proxy::{Mode, network};
use super::sessions::{KEY, LIFETIME, fake, log_in, manager, mark, start};

/// Row 8. The fake ends the session when a refresh token comes twice, so each round also shows that none did before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_hosts_one_refreshes_at_each_of_a_hundred_expiries() {
    let Some(database) = Database::new().await else {
        return;
    };
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    let url = fake.token_url();
    let spawn = |_| Child::take_tokens(url.as_str(), &database.schema);
    let mut children: Vec<_> = (0..8).map(spawn).collect();
    let before = fake.token_requests();
    for round in 1..=100 {
        fake.clock().advance(LIFETIME);
        for child in &mut children {
            child.tell("expire");
        }
        let answers: Vec<_> = children.iter_mut().map(Child::answer).collect();
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "{answers:?}"
        );
        assert!(answers[0].starts_with("token "), "{answers:?}");
        assert_eq!(fake.token_requests() - before, round);
    }
}

/// Row 26. The request of the host that died is still on its way, so the refresh token is good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_a_host_is_killed_in_mid_refresh_the_next_one_goes_on_after_the_grace() {
    let Some(database) = Database::new().await else {
        return;
    };
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    let (network, through) = network(&fake).await;
    network.set(Mode::HoldRequests);
    let mut child = Child::take_tokens(&through, &database.schema);
    child.tell("expire");
    network.stopped().await;
    let stored = database.sealed().load(KEY).await.unwrap().unwrap();
    assert!(stored.record.refresh_began_at().is_some());
    child.kill();
    let (clock, before) = (Clock::manual(start()), fake.token_requests());
    clock.advance(LIFETIME);
    let url = fake.token_url();
    let next = manager(url.as_str(), database.sealed(), clock)
        .build()
        .unwrap();
    let token = next.access_token().await.unwrap();
    assert_eq!(fake.token_requests(), before + 1);
    let stored = database.sealed().load(KEY).await.unwrap().unwrap();
    assert_eq!(stored.record.tokens().generation(), token.generation());
    assert!(stored.record.refresh_began_at().is_none());
}

/// The host is alive and has new tokens; the server has restarted since it took the lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_database_is_restarted_in_mid_refresh_the_new_tokens_are_stored() {
    let Some(database) = Database::alone().await else {
        return;
    };
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    let (network, through) = network(&fake).await;
    let clock = Clock::manual(start());
    let host = manager(&through, database.sealed(), clock.clone())
        .build()
        .unwrap();
    let first = host.access_token().await.unwrap();
    network.set(Mode::HoldReplies);
    clock.advance(LIFETIME);
    let refreshing = tokio::spawn({
        let host = host.clone();
        async move { host.access_token().await }
    });
    network.stopped().await;
    restart(&database).await;
    network.set(Mode::Pass);
    let second = refreshing.await.unwrap().unwrap();
    assert_ne!(mark(&first), mark(&second));
    let stored = database.sealed().load(KEY).await.unwrap().unwrap();
    assert_eq!(stored.record.tokens().generation(), second.generation());
    // And nothing is left behind: the next refresh is as any other.
    clock.advance(LIFETIME);
    host.access_token().await.unwrap();
}

/// All locks are lost with the server. A second host finds the lock free and the first one's mark: it must not use the
/// refresh token that the first one has just used, or the session is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_lost_its_lock_in_a_restart_is_given_time_to_store_its_tokens() {
    let Some(database) = Database::alone().await else {
        return;
    };
    let fake = fake().await;
    log_in(&fake, database.sealed()).await;
    let (network, through) = network(&fake).await;
    let clock = Clock::manual(start());
    let one = manager(&through, database.sealed(), clock.clone());
    let patient = database::settings(&database::pool(3), &database.schema);
    let patient = patient.grace(Duration::from_secs(60)).build().unwrap();
    let two = manager(&through, database::sealed(patient), clock.clone());
    let (one, two) = (one.build().unwrap(), two.build().unwrap());
    one.access_token().await.unwrap();
    two.access_token().await.unwrap();
    let before = fake.token_requests();
    network.set(Mode::HoldReplies);
    clock.advance(LIFETIME);
    let ask = |host: &TokenManager| {
        let host = host.clone();
        tokio::spawn(async move { host.access_token().await })
    };
    let first = ask(&one);
    network.stopped().await;
    restart(&database).await;
    let second = ask(&two);
    // Until the second host holds the lock.
    let open = "SELECT count(*)::text FROM pg_locks WHERE relation = '{table}'::regclass";
    while database.ask(open).await == "0" {}
    network.set(Mode::Pass);
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(mark(&first.unwrap()), mark(&second.unwrap()));
    assert_eq!(fake.token_requests() - before, 1);
}

/// With the command that the environment names; else as far as sessions are concerned.
async fn restart(database: &Database) {
    if let Some(command) = env::var_os(RESTART) {
        let status = Command::new("sh").arg("-c").arg(command).status();
        assert!(status.unwrap().success());
    } else {
        eprintln!("{RESTART} is not set: the sessions end, and the server runs on");
        let end = "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        database.ask(end).await;
    }
}

/// The network between a host and the database is cut while the answer of the provider comes in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_network_is_cut_in_mid_refresh_the_new_token_serves_and_is_stored_later() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (fake, cable) = (fake().await, database::proxy().await);
    log_in(&fake, database.sealed()).await;
    let (network, through) = network(&fake).await;
    let clock = Clock::manual(start());
    let store = database::store(&database::pool_through(&cable, 3), &database.schema);
    let host = manager(&through, database::sealed(store), clock.clone());
    let host = host.build().unwrap();
    let mut events = host.events();
    host.access_token().await.unwrap();
    network.set(Mode::HoldReplies);
    clock.advance(LIFETIME);
    let refreshing = tokio::spawn({
        let host = host.clone();
        async move { host.access_token().await }
    });
    network.stopped().await;
    cable.set(Mode::Cut);
    network.set(Mode::Pass);
    let token = refreshing.await.unwrap().unwrap();
    let error = loop {
        if let Event::PersistFailed { error } = events.next().await.unwrap() {
            break error;
        }
    };
    assert!(
        database::below(&error).is_unreachable(),
        "{}",
        chain(&error)
    );
    cable.set(Mode::Pass);
    for tries in 0.. {
        assert!(tries < 200, "never stored");
        // Each step ends the pause before the next try.
        clock.advance(Duration::from_secs(2));
        let stored = database.sealed().load(KEY).await.unwrap().unwrap();
        if stored.record.tokens().generation() == token.generation() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
