//! The store under test, with accounts that nobody has used before.

use std::sync::Arc;

use serde_json::json;

use super::Verdict;
use crate::auth::{Record, TokenStore, Version};

/// One law's view of the store.
pub(super) struct Bench<S> {
    open: Arc<dyn Fn() -> S + Send + Sync>,
    pub(super) store: S,
    /// Not yet in the store.
    pub(super) key: String,
}

impl<S: TokenStore> Bench<S> {
    pub(super) fn new(open: Arc<dyn Fn() -> S + Send + Sync>) -> Self {
        Self {
            store: open(),
            open,
            key: format!("conformance-{:016x}", fastrand::u64(..)),
        }
    }

    /// The same store, as another process has it.
    pub(super) fn another(&self) -> S {
        (self.open)()
    }

    pub(super) async fn put(&self, generation: u64) -> Result<Version, String> {
        let record = record(generation)?;
        let put = self.store.swap(&self.key, None, &record).await;
        put.map_err(failed)?
            .ok_or_else(|| "a first write is refused".to_owned())
    }

    /// The generation and version that are stored.
    pub(super) async fn stored(&self) -> Result<Option<(u64, Version)>, String> {
        let stored = self.store.load(&self.key).await.map_err(failed)?;
        Ok(stored.map(|stored| (stored.record.tokens().generation(), stored.version)))
    }

    /// Leaves nothing behind.
    pub(super) async fn tidy(&self) -> Verdict {
        if let Some((_, version)) = self.stored().await? {
            let removed = self.store.remove(&self.key, version).await;
            removed.map_err(failed)?;
        }
        Ok(())
    }
}

/// A record with everything in it, in the sizes that providers issue.
pub(super) fn record(generation: u64) -> Result<Record, String> {
    let text = json!({
        "form": 1,
        "tokens": {
            "access_token": format!("at-{generation}-{}", "x".repeat(1_500)),
            "refresh_token": format!("rt-{generation}-\"\\/"),
            "id_token": format!("it-{generation}-{}", "y".repeat(1_000)),
            "subject": "auth0|Zoë \u{1f404}",
            "scopes": ["openid", "offline_access"],
            "issued_at_ms": 1_795_000_000_123_u64,
            "lifetime_ms": 86_400_000,
            "generation": generation,
            "session_ends_at_ms": 1_797_592_000_123_u64,
        },
        "intent": {"generation": generation, "at_ms": 1_795_000_000_456_u64, "owner": u64::MAX},
        "ended": "refused",
    });
    Record::from_secret_json(&text.to_string().into()).map_err(failed)
}

pub(super) fn failed(error: impl std::error::Error) -> String {
    format!("an error: {error}")
}

/// `Err` with these words unless it is so.
pub(super) fn law(holds: bool, seen: &str) -> Verdict {
    if holds { Ok(()) } else { Err(seen.to_owned()) }
}
