//! Copies of accounts, outboxes and question lists against the fake.

mod auto_traits;
mod banks;
mod instants;
mod redaction;

use std::time::{Duration, UNIX_EPOCH};

use envd_sdk::Clock;
use envd_sdk::fake::Fake;

/// 2026-11-20, noon UTC, so that no test depends on the system clock.
const NOON: Duration = Duration::from_secs(1_795_176_000);

/// A fake with a clock that starts at noon and runs.
async fn start_fake() -> Fake {
    let clock = Clock::starting_at(UNIX_EPOCH + NOON);
    Fake::builder().clock(clock).start().await.unwrap()
}
