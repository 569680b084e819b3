//! Settings and a token store for managers that need no login.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use envd_sdk::Clock;
use envd_sdk::auth::{
    Provider, ProviderBuilder, Record, StoreError, StoreGuard, TokenStore, Version, Versioned,
};
use envd_sdk::fake::Fake;
use serde_json::json;

pub(crate) fn provider(fake: &Fake, clock: Clock) -> Provider {
    settings(fake, clock).build().expect("settings of the fake")
}

pub(crate) fn settings(fake: &Fake, clock: Clock) -> ProviderBuilder {
    Provider::builder(fake.client_id())
        .authorize_url(fake.authorize_url())
        .token_url(fake.token_url())
        .audience(fake.audience())
        .redirect_uri(fake.redirect_uri())
        .scopes(["openid", "offline_access"])
        .clock(clock)
}

/// Returns a record with tokens of one day and of typical sizes for every account, and stores nothing.
pub(crate) struct FixedStore {
    age: Duration,
}

impl FixedStore {
    pub(crate) fn new() -> Self {
        Self::aged(Duration::ZERO)
    }

    /// The tokens were issued this long ago.
    pub(crate) fn aged(age: Duration) -> Self {
        Self { age }
    }
}

#[async_trait]
impl TokenStore for FixedStore {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let issued_at = since.unwrap_or_default().saturating_sub(self.age);
        let record = json!({"form": 1, "tokens": {
            "access_token": format!("{key}{}", "a".repeat(900 - key.len())),
            "refresh_token": format!("{key}{}", "r".repeat(64 - key.len())),
            "id_token": format!("{key}{}", "i".repeat(700 - key.len())),
            "subject": key,
            "scopes": ["openid", "offline_access"],
            "issued_at_ms": u64::try_from(issued_at.as_millis()).unwrap_or_default(),
            "lifetime_ms": 86_400_000,
            "generation": 1,
        }});
        let record = Record::from_secret_json(&record.to_string().into());
        Ok(Some(Versioned::new(Version::new(1), record?)))
    }

    async fn swap(
        &self,
        _: &str,
        _: Option<Version>,
        _: &Record,
    ) -> Result<Option<Version>, StoreError> {
        // Every change succeeds.
        Ok(Some(Version::new(1)))
    }

    async fn remove(&self, _: &str, _: Version) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn lock(&self, _: &str, _: Duration) -> Result<StoreGuard, StoreError> {
        Ok(StoreGuard::new(()))
    }
}
