//! Fakes on a fixed date, so that no test depends on the system clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use envd_sdk::Clock;
use envd_sdk::fake::{Fake, FakeBuilder};

/// 2026-11-20, noon UTC.
pub(super) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_176_000)
}

/// A builder of a fake whose clock starts then and runs.
pub(super) fn fake_builder() -> FakeBuilder {
    Fake::builder().clock(Clock::starting_at(noon()))
}

pub(super) async fn start_fake() -> Fake {
    fake_builder().start().await.unwrap()
}
