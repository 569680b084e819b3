//! Memory and tasks of 100,000 idle accounts, each with a loaded token.

use envd_sdk::Clock;
use envd_sdk::auth::{TokenManager, TokenManagerSet};
use envd_sdk::fake::Fake;
use tokio::runtime::Handle;

use crate::goal;
use crate::managers::{FixedStore, provider};

const ACCOUNTS: u32 = 100_000;

pub(crate) async fn run() -> bool {
    let fake = Fake::start().await;
    let template = TokenManager::builder(provider(&fake, Clock::system())).store(FixedStore::new());
    let set = TokenManagerSet::builder(template).build().expect("a set");
    // Warm-up: the first account pays for what all share.
    let first = set.manager("first").expect("a manager");
    first.access_token().await.expect("a token");
    drop(first);
    let (memory, tasks) = (resident(), Handle::current().metrics().num_alive_tasks());
    for number in 1..ACCOUNTS {
        let manager = set.manager(&format!("user-{number}"));
        let token = manager.expect("a manager").access_token().await;
        token.expect("a token");
    }
    // Yield, so that finished tasks are removed.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let tasks = Handle::current()
        .metrics()
        .num_alive_tasks()
        .saturating_sub(tasks);
    let Some((before, after)) = memory.zip(resident()) else {
        println!("the resident memory cannot be read on this system");
        return true;
    };
    let each = (after - before) / f64::from(ACCOUNTS);
    goal(
        each < 4_096.0 && tasks == 0 && set.len() == ACCOUNTS as usize,
        &format!(
            "{} idle accounts take {each:.0} bytes each, with tokens of 1,664 bytes, and {tasks} tasks (goal: 4,096)",
            set.len()
        ),
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
