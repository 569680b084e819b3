//! Many users, and the round trips of a refresh.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use envd_sdk::Clock;
use envd_sdk::auth::{Record, TokenManager, TokenStore};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::database::{self, Database};
use crate::stores::sessions::{LIFETIME, fake, log_in, manager, provider, start};

const USERS: usize = 10_000;
const HOSTS: usize = 2;

/// Rotates each user's refresh token, and records when one is received twice.
#[derive(Clone, Default)]
struct Rotation(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    current: HashMap<String, u64>,
    refreshes: usize,
    reused: usize,
}

impl Respond for Rotation {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let form: HashMap<_, _> = url::form_urlencoded::parse(&request.body).collect();
        let (user, number) = form["refresh_token"].rsplit_once('.').unwrap();
        let number: u64 = number.parse().unwrap();
        let mut seen = self.0.lock().unwrap();
        seen.refreshes += 1;
        let current = seen.current.entry(user.to_owned()).or_insert(1);
        if *current != number {
            seen.reused += 1;
            let body = r#"{"error": "invalid_grant"}"#;
            return ResponseTemplate::new(403).set_body_raw(body, "application/json");
        }
        *current += 1;
        let body = format!(
            r#"{{"access_token": "at-{user}.{0}", "refresh_token": "{user}.{0}", "expires_in": 3600}}"#,
            number + 1
        );
        ResponseTemplate::new(200).set_body_raw(body, "application/json")
    }
}

fn first(user: usize) -> Record {
    let text = format!(
        r#"{{"form": 1, "tokens": {{"access_token": "at-user-{user}.1", "refresh_token": "user-{user}.1",
        "subject": "user-{user}", "issued_at_ms": 1795000000000, "lifetime_ms": 3600000, "generation": 1}}}}"#
    );
    Record::from_secret_json(&text.into()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_users_on_two_hosts_are_refreshed_once_each() {
    let database = Database::new().await;
    let (server, rotation) = (MockServer::start().await, Rotation::default());
    Mock::given(any())
        .respond_with(rotation.clone())
        .mount(&server)
        .await;
    let url = format!("{}/oauth/token", server.uri());
    let clock = Clock::manual(start());
    let hosts: Vec<Vec<TokenManager>> = (0..HOSTS)
        .map(|_| {
            let store = database::store(&database::pool(16), &database.schema);
            let store: Arc<dyn TokenStore> = Arc::new(database::sealed(store));
            // One provider for all managers: each provider has its own HTTP client.
            let provider = provider(&url, clock.clone());
            let manager = |user| {
                let builder = TokenManager::builder(provider.clone());
                let builder = builder.shared_store(store.clone()).background(false);
                builder.account(format!("user-{user}")).build().unwrap()
            };
            (0..USERS).map(manager).collect()
        })
        .collect();
    let store = database::sealed(database::store(&database::pool(16), &database.schema));
    let began = Instant::now();
    for_all_users(move |user| {
        let store = store.clone();
        async move {
            let written = store
                .swap(&format!("user-{user}"), None, &first(user))
                .await;
            assert!(written.unwrap().is_some());
        }
    })
    .await;
    let filled = began.elapsed();

    // Both hosts have all tokens and send no request.
    let hosts = Arc::new(hosts);
    let began = Instant::now();
    ask_all(&hosts, 1).await;
    let read = began.elapsed();
    assert_eq!(rotation.0.lock().unwrap().refreshes, 0);

    clock.advance(LIFETIME);
    let began = Instant::now();
    ask_all(&hosts, 2).await;
    let renewed = began.elapsed();
    let seen = rotation.0.lock().unwrap();
    assert_eq!((seen.refreshes, seen.reused), (USERS, 0));
    eprintln!(
        "{USERS} users on {HOSTS} hosts: stored in {filled:?}, read by both in {read:?}, \
         refreshed once each and adopted by the other host in {renewed:?}"
    );
}

/// Each host requests the token of each user, and is the first for half of them; both get the token of this generation.
async fn ask_all(hosts: &Arc<Vec<Vec<TokenManager>>>, generation: u64) {
    let hosts = hosts.clone();
    for_all_users(move |user| {
        let hosts = hosts.clone();
        async move {
            // One host after the other: another test covers concurrent requests for one lock.
            let one = hosts[user % 2][user].access_token().await;
            let two = hosts[1 - user % 2][user].access_token().await;
            let (one, two) = (one.unwrap(), two.unwrap());
            assert_eq!(one.expose(), format!("at-user-{user}.{generation}"));
            assert_eq!(one.expose(), two.expose());
        }
    })
    .await;
}

/// Runs the work for all users, 64 at a time.
async fn for_all_users<F: Future<Output = ()> + Send + 'static>(
    work: impl Fn(usize) -> F + Clone + Send + 'static,
) {
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let workers = (0..64).map(|_| {
        let (next, work) = (next.clone(), work.clone());
        tokio::spawn(async move {
            loop {
                let user = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if user >= USERS {
                    break;
                }
                work(user).await;
            }
        })
    });
    let workers: Vec<_> = workers.collect();
    for worker in workers {
        worker.await.unwrap();
    }
}

#[tokio::test]
async fn a_refresh_takes_three_round_trips_and_a_valid_token_none() {
    let database = Database::new().await;
    let (fake, proxy) = (fake().await, database::proxy().await);
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
