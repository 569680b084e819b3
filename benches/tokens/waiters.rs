//! 10,000 callers of one expired token.

use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::auth::{MemoryStore, TokenManager};
use envd_sdk::fake::Fake;

use crate::managers::provider;
use crate::row;
use crate::row::Goal;

const CALLERS: usize = 10_000;

pub(crate) async fn run() -> bool {
    let clock = Clock::manual(SystemTime::now());
    let fake = Fake::builder().clock(clock.clone());
    let fake = fake.start().await.expect("a fake");
    let builder = TokenManager::builder(provider(&fake, clock.clone()));
    let manager = builder.store(MemoryStore::new()).build();
    let manager = manager.expect("a manager");
    let login = manager.provider().authorization().start();
    let login = login.expect("a login");
    let callback = fake.consent(login.url()).expect("a callback");
    let done = manager.complete_login(login, callback.as_str()).await;
    done.expect("tokens");
    clock.advance(Duration::from_secs(86_400));
    let before = fake.token_requests();
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let manager = manager.clone();
            tokio::spawn(async move { manager.access_token().await.is_ok() })
        })
        .collect();
    let mut served = 0;
    for caller in callers {
        served += usize::from(caller.await.unwrap_or(false));
    }
    assert_eq!(served, CALLERS);
    row(
        "requests for 10,000 callers of a token that has expired",
        (fake.token_requests() - before) as f64,
        "in all",
        Goal::AtMost(1.0),
    )
}
