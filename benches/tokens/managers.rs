//! Settings and a token store for managers that need no login.

use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::auth::{
    BoxFuture, Provider, ProviderBuilder, Record, StoreError, StoreGuard, TokenStore, Version,
    Versioned,
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

impl TokenStore for FixedStore {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Versioned>, StoreError>> {
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
        Box::pin(async { Ok(Some(Versioned::new(Version::new(1), record?))) })
    }

    fn swap<'a>(
        &'a self,
        _: &'a str,
        _: Option<Version>,
        _: &'a Record,
    ) -> BoxFuture<'a, Result<Option<Version>, StoreError>> {
        // Every change succeeds.
        Box::pin(async { Ok(Some(Version::new(1))) })
    }

    fn remove<'a>(&'a self, _: &'a str, _: Version) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }

    fn lock<'a>(
        &'a self,
        _: &'a str,
        _: Duration,
    ) -> BoxFuture<'a, Result<StoreGuard, StoreError>> {
        Box::pin(async { Ok(StoreGuard::new(())) })
    }
}
