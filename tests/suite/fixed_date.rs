//! Fakes on a fixed date, so that no test depends on the system clock, and logins at them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use envd_sdk::auth::{ProviderBuilder, TokenManager, TokenSet};
use envd_sdk::fake::{Fake, FakeBuilder};
use envd_sdk::{Clock, Result};

use crate::watchdog::watch;

/// 2026-11-20, noon UTC.
pub(super) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_176_000)
}

/// A builder of a fake whose clock starts then and runs.
#[track_caller]
pub(super) fn fake_builder() -> FakeBuilder {
    watch();
    Fake::builder().clock(Clock::starting_at(noon()))
}

/// One whose clock stands then until the test moves it.
#[track_caller]
pub(super) fn manual() -> (FakeBuilder, Clock) {
    let clock = Clock::manual(noon());
    (fake_builder().clock(clock.clone()), clock)
}

#[track_caller]
pub(super) fn start_fake() -> impl Future<Output = Fake> {
    let starting = fake_builder().start();
    async { starting.await.unwrap() }
}

pub(super) fn manager(provider: ProviderBuilder) -> TokenManager {
    TokenManager::builder(provider.build().unwrap())
        .build()
        .unwrap()
}

/// The user logs in in the browser.
pub(super) async fn log_in(fake: &Fake, manager: &TokenManager) -> Result<TokenSet> {
    let login = manager.provider().authorization().start()?;
    let callback = fake.consent(login.url())?;
    manager.complete_login(login, callback.as_str()).await
}
