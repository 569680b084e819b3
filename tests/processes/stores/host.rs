//! A host as a process: it gets tokens from a store, or holds its lock.

use std::sync::Arc;
use std::time::Duration;

use envd_sdk::auth::{AccessToken, Timing, TokenManager, TokenStore};
use envd_sdk::fake::Fake;
use envd_sdk::{Clock, Error};
use processes::{Process, child, reply, task, until};

use super::faulty_file::{FaultyFile, mend};
use super::sessions::{KEY, LIFETIME, fingerprint, provider, start};

/// Starts a host that replies to these lines:
///
/// * `expire`: a token, after its clock has advanced by the lifetime of a token
/// * `token`: a token
/// * `check`: a token, after its clock has advanced by the time between two checks of the store, and the check has ended
/// * `event`: the next event of its manager
/// * `mend`: `stored`, after its store has stopped failing and the tokens in memory are stored
///
/// The store is a [`FaultyFile`] or, behind "postgres ", a schema.
pub(crate) fn take_tokens(token_url: &str, store: &str) -> Process {
    child!(host_process, "tokens", store, token_url)
}

/// As [`take_tokens`], with a host that does not wait for the lock of another process.
pub(super) fn take_tokens_at_once(token_url: &str, store: &str) -> Process {
    child!(host_process, "tokens at once", store, token_url)
}

/// Checks that only one of eight hosts with one store refreshes at each of a hundred expiries. The fake ends the session if a
/// refresh token is used twice, so each round also checks all earlier rounds.
pub(crate) fn eight_refresh_once_each_time(fake: &Fake, store: &str) {
    let url = fake.token_url();
    let spawn = |_| take_tokens(url.as_str(), store);
    let mut children: Vec<Process> = (0..8).map(spawn).collect();
    let before = fake.token_requests();
    for round in 1..=100 {
        fake.clock().advance(LIFETIME);
        for child in &mut children {
            child.send("expire");
        }
        let tokens: Vec<_> = children.iter_mut().map(Process::receive).collect();
        assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        assert!(tokens[0].starts_with("token "), "{tokens:?}");
        assert_eq!(fake.token_requests() - before, round);
    }
}

/// Starts a host that holds the lock of the account until it ends.
pub(crate) fn hold_lock(store: &str) -> Process {
    let mut child = child!(host_process, "lock", store, "");
    assert_eq!(child.receive(), "locked");
    child
}

#[test]
fn host_process() {
    let Some(task) = task() else { return };
    let store = open(&task[1]);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
    match task[0].as_str() {
        "tokens" => {
            let lock_wait = Timing::default().lock_wait;
            runtime.block_on(reply_tokens(store, &task[2], lock_wait));
        }
        "tokens at once" => runtime.block_on(reply_tokens(store, &task[2], Duration::ZERO)),
        _ => runtime.block_on(keep_lock(store)),
    }
}

fn open(store: &str) -> Arc<dyn TokenStore> {
    #[cfg(feature = "postgres")]
    if let Some(schema) = store.strip_prefix("postgres ") {
        return Arc::new(crate::postgres::open(schema));
    }
    Arc::new(FaultyFile::at(store))
}

async fn reply_tokens(store: Arc<dyn TokenStore>, token_url: &str, lock_wait: Duration) {
    let clock = Clock::manual(start());
    let manager = TokenManager::builder(provider(token_url, clock.clone()))
        .shared_store(store)
        .account(KEY)
        .background(false)
        .timing(|timing| timing.lock_wait = lock_wait)
        .build()
        .unwrap();
    let mut events = manager.events();
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "expire" => {
                clock.advance(LIFETIME);
                reply(&shown(manager.access_token().await));
            }
            "token" => reply(&shown(manager.access_token().await)),
            "check" => {
                clock.advance(Timing::default().store_check);
                let token = manager.access_token().await;
                assert!(manager.flush(Duration::MAX).await);
                reply(&shown(token));
            }
            "event" => reply(&format!("{:?}", events.next().await.unwrap())),
            "mend" => {
                mend();
                // The task that stores the tokens waits between two attempts.
                until("a wait for the next attempt", async || clock.sleepers() > 0).await;
                clock.advance(LONGEST_PAUSE);
                assert!(manager.flush(Duration::MAX).await);
                reply("stored");
            }
            line => panic!("unknown line: {line}"),
        }
    }
}

/// The longest pause between two attempts to store tokens (row 50 of the failure modes).
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

fn shown(token: Result<AccessToken, Error>) -> String {
    match token {
        Ok(token) => fingerprint(&token),
        Err(error) if error.is_retryable() => format!("try again: {error:?}"),
        Err(error) => format!("error {error:?}"),
    }
}

async fn keep_lock(store: Arc<dyn TokenStore>) {
    let _guard = store.lock(KEY, Duration::from_secs(10)).await.unwrap();
    reply("locked");
    // Runs until the parent kills this process or exits.
    for _ in std::io::stdin().lines() {}
}
