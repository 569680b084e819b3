//! Callers of a token that is due, while its refresh hangs.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use envd_sdk::Clock;
use envd_sdk::auth::TokenManager;
use envd_sdk::fake::Fake;
use tokio::net::TcpListener;

use crate::goal;
use crate::session::{Everybody, settings};

const CALLS: usize = 20_000;
const ROUNDS: usize = 10;

pub(crate) async fn run() -> bool {
    let fake = Fake::start().await;
    let deaf = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = deaf.local_addr().expect("an address");
    let manager = |store: Everybody| {
        let provider =
            settings(&fake, Clock::system()).token_url(format!("http://{address}/token"));
        let builder = TokenManager::builder(provider.build().expect("settings"));
        builder
            .store(store)
            .account("sam")
            .build()
            .expect("a manager")
    };
    let calm = manager(Everybody::new());
    calm.access_token().await.expect("a token");
    let due = manager(Everybody::aged(Duration::from_secs(80_000)));
    // The first call loads the old token, which still serves; the second begins its renewal.
    for _ in 0..2 {
        due.access_token().await.expect("the old token");
    }
    // Never answered.
    let _hanging = deaf.accept().await.expect("a refresh");

    let mut worst = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (manager, times) in [&calm, &due].into_iter().zip(&mut worst) {
            times.push(p99(manager));
        }
    }
    let [calm, hanging] = worst.map(|mut rounds| {
        rounds.sort();
        rounds[ROUNDS / 2]
    });
    let added = hanging.saturating_sub(calm);
    let again = tokio::time::timeout(Duration::ZERO, deaf.accept()).await;
    goal(
        added < Duration::from_micros(1) && again.is_err(),
        &format!(
            "99 of 100 calls end within {calm:?}, and within {hanging:?} while a refresh hangs (goal: 1 \u{b5}s more)"
        ),
    )
}

/// Each call is there at once, or this ends in a panic.
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
