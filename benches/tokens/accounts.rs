//! Memory and tasks of 100,000 idle accounts, each with a loaded token and a client over the pool of all.

use envd_sdk::auth::TokenManager;
use envd_sdk::fake::Fake;
use envd_sdk::{Client, Clock};
use tokio::runtime::Handle;

use crate::managers::{FixedStore, provider};
use crate::row;
use crate::row::Goal;

const ACCOUNTS: u32 = 100_000;

pub(crate) async fn run() -> bool {
    let fake = Fake::start().await;
    let template = TokenManager::builder(provider(&fake, Clock::system())).store(FixedStore::new());
    let manager = |key: &str| template.clone().account(key).build().expect("a manager");
    // Warm-up: the first account pays for what all share.
    let first = manager("first");
    first.access_token().await.expect("a token");
    let client = Client::builder(fake.graphql_url().as_str()).token_source(first);
    let client = client.build().expect("a client");
    let mut accounts = Vec::with_capacity(ACCOUNTS as usize);
    let memory = resident();
    let tasks = Handle::current().metrics().num_alive_tasks();
    for number in 1..ACCOUNTS {
        let manager = manager(&format!("user-{number}"));
        manager.access_token().await.expect("a token");
        let user = client.with_token_source(manager);
        accounts.push(user.account(format!("envd-{number}")));
    }
    // Yield, so that finished tasks are removed.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let tasks = Handle::current()
        .metrics()
        .num_alive_tasks()
        .saturating_sub(tasks);
    assert_eq!(tasks, 0);
    let Some((before, after)) = memory.zip(resident()) else {
        println!("the resident memory cannot be read on this system");
        return true;
    };
    drop(accounts);
    row(
        "memory of an idle account with its client, of 100,000, of which its tokens are 1,664 bytes",
        ((after - before) / f64::from(ACCOUNTS)).round(),
        "bytes",
        Goal::AtMost(4_096.0),
    )
}

/// The resident memory in bytes; `None` without /proc.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024.0)
}
