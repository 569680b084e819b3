//! Fakes on a fixed day, so that no test depends on the date of the machine.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use envd_sdk::Clock;
use envd_sdk::fake::{Fake, FakeBuilder};

/// 2026-11-20, noon.
pub(super) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_176_000)
}

/// Settings of a fake with a running clock that starts on that day.
pub(super) fn fake_builder() -> FakeBuilder {
    Fake::builder().clock(Clock::starting_at(noon()))
}

pub(super) async fn start_fake() -> Fake {
    fake_builder().start().await.unwrap()
}
