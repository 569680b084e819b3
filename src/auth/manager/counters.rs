//! How often things happened.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Event;

/// What a manager did since it was built; made by [`TokenManager::counters`](super::TokenManager::counters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Refresh requests that were sent, repeated ones included.
    pub requests: u64,
    /// Refreshes that brought new tokens.
    pub refreshed: u64,
    /// Refreshes that failed for a time.
    pub failed: u64,
    /// Tokens that another process had renewed.
    pub adopted: u64,
    /// New tokens that could not be stored at once.
    pub persist_failed: u64,
    /// Answers that were lost.
    pub ambiguous: u64,
}

#[derive(Default)]
pub(super) struct Counts {
    pub(super) requests: AtomicU64,
    refreshed: AtomicU64,
    failed: AtomicU64,
    adopted: AtomicU64,
    persist_failed: AtomicU64,
    ambiguous: AtomicU64,
}

impl Counts {
    pub(super) fn note(&self, event: &Event) {
        let count = match event {
            Event::Refreshed { .. } => &self.refreshed,
            Event::RefreshFailed { .. } => &self.failed,
            Event::Adopted { .. } => &self.adopted,
            Event::PersistFailed { .. } => &self.persist_failed,
            Event::RotationAmbiguous => &self.ambiguous,
            Event::ReauthRequired { .. } | Event::LoggedOut => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Counters {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counters {
            requests: count(&self.requests),
            refreshed: count(&self.refreshed),
            failed: count(&self.failed),
            adopted: count(&self.adopted),
            persist_failed: count(&self.persist_failed),
            ambiguous: count(&self.ambiguous),
        }
    }
}
