//! Latency of callers while an early refresh hangs.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use envd_sdk::Clock;
use envd_sdk::auth::TokenManager;
use envd_sdk::fake::Fake;
use tokio::net::TcpListener;

use crate::managers::{FixedStore, settings};
use crate::row;
use crate::row::Goal;

const CALLS: usize = 20_000;
const ROUNDS: usize = 10;

pub(crate) async fn run() -> bool {
    let fake = Fake::start().await;
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = silent.local_addr().expect("an address");
    let manager = |store: FixedStore| {
        let provider =
            settings(&fake, Clock::system()).token_url(format!("http://{address}/token"));
        let builder = TokenManager::builder(provider.build().expect("settings"));
        builder
            .store(store)
            .account("sam")
            .build()
            .expect("a manager")
    };
    let idle = manager(FixedStore::new());
    idle.access_token().await.expect("a token");
    let due = manager(FixedStore::aged(Duration::from_secs(80_000)));
    // The first call loads the token, which is still valid; the second starts its refresh.
    for _ in 0..2 {
        due.access_token().await.expect("the old token");
    }
    // The refresh request gets no reply.
    let _hanging = silent.accept().await.expect("a refresh request");

    let mut worst = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (manager, times) in [&idle, &due].into_iter().zip(&mut worst) {
            times.push(p99(manager));
        }
    }
    let [idle, hanging] = worst.map(|mut rounds| {
        rounds.sort();
        rounds[ROUNDS / 2]
    });
    let added = hanging.saturating_sub(idle);
    let again = tokio::time::timeout(Duration::ZERO, silent.accept()).await;
    assert!(again.is_err(), "one refresh request");
    row(
        "read while a refresh hangs, 99th percentile over that without",
        added.as_secs_f64() * 1e9,
        "ns",
        Goal::AtMost(1_000.0),
    )
}

/// The 99th percentile of the call times. Panics if a call does not complete in its first poll.
fn p99(manager: &TokenManager) -> Duration {
    let mut context = Context::from_waker(Waker::noop());
    let mut times: Vec<_> = (0..CALLS)
        .map(|_| {
            let begun = Instant::now();
            let Poll::Ready(Ok(_)) = pin!(manager.access_token()).poll(&mut context) else {
                panic!("a call waits for the refresh");
            };
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[CALLS / 100 * 99]
}
