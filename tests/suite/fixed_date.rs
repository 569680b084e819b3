//! Fakes with a fixed date, so that no test depends on the system clock; logins at them; and access to fixtures.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use envd_sdk::auth::{ProviderBuilder, TokenManager, TokenSet};
use envd_sdk::fake::{Fake, FakeBuilder};
use envd_sdk::{Clock, Result};
use serde_json::Value;

use crate::watchdog::watch;

/// 2026-11-20, noon UTC.
pub(super) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_176_000)
}

/// A builder of a fake whose clock starts at noon and runs.
#[track_caller]
pub(super) fn fake_builder() -> FakeBuilder {
    watch();
    Fake::builder().clock(Clock::starting_at(noon()))
}

/// A builder of a fake whose clock stays at noon until the test advances it.
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

/// Logs the user in through the browser.
pub(super) async fn log_in(fake: &Fake, manager: &TokenManager) -> Result<TokenSet> {
    let login = manager.provider().authorization().start()?;
    let callback = fake.consent(login.url())?;
    manager.complete_login(login, callback.as_str()).await
}

/// Reads a file below tests/fixtures.
pub(super) fn fixture(path: &str) -> Value {
    let path = format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

/// The JSON files of a folder below tests/fixtures, sorted by name.
pub(super) fn fixtures(folder: &str) -> Vec<(String, Value)> {
    let path = format!("{}/tests/fixtures/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(path).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = files
        .filter(|name| name.split('.').next_back() == Some("json"))
        .collect();
    files.sort();
    let read = |name: String| {
        let value = fixture(&format!("{folder}/{name}"));
        (name, value)
    };
    files.into_iter().map(read).collect()
}
