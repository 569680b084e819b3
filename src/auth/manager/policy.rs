//! Times and switches of a token manager.

use std::time::Duration;

/// Made by [`TokenManagerBuilder`](super::TokenManagerBuilder), which describes each of them.
#[derive(Clone, Debug)]
pub(super) struct RefreshPolicy {
    pub(super) wait: Duration,
    pub(super) lock_wait: Duration,
    pub(super) background: bool,
    pub(super) strict: bool,
    pub(super) margin: Duration,
    pub(super) between_forced: Duration,
    /// Computed from the provider's time-out unless set.
    pub(super) mark_wait: Option<Duration>,
    pub(super) store_check: Duration,
}

impl Default for RefreshPolicy {
    fn default() -> Self {
        Self {
            // One request to the token endpoint may take as long.
            wait: Duration::from_secs(30),
            lock_wait: Duration::from_secs(30),
            background: true,
            strict: false,
            // Covers clocks that differ a little, and the time that a request takes.
            margin: Duration::from_secs(30),
            // A server that refuses every token must not cause a refresh for every call.
            between_forced: Duration::from_secs(30),
            mark_wait: None,
            store_check: Duration::from_secs(60),
        }
    }
}

impl RefreshPolicy {
    /// How long the refresh mark of another process stands; by default a request that is sent twice, and a minute to store
    /// its reply. `timeout` is that of one request, and `signing` how much of it may pass before it is sent.
    pub(super) fn mark_wait(&self, timeout: Duration, signing: Duration) -> Duration {
        self.mark_wait.unwrap_or_else(|| {
            let first = timeout.max(Duration::from_secs(30).saturating_add(signing));
            let store = Duration::from_secs(60);
            first.saturating_add(timeout).saturating_add(store)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_wait_covers_two_requests_and_the_time_to_store_the_reply() {
        let secs = Duration::from_secs;
        let wait =
            |timeout, signing| RefreshPolicy::default().mark_wait(secs(timeout), secs(signing));
        assert_eq!(wait(30, 0), secs(120));
        assert_eq!(wait(10, 0), secs(100));
        assert_eq!(wait(60, 0), secs(180));
        // A first request that is sent when its assertion is signed.
        assert_eq!(wait(30, 10), secs(130));
        assert_eq!(wait(60, 10), secs(180));
    }
}
