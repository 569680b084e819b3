//! How long a manager waits for tokens, locks, other processes and its store.

use std::time::Duration;

/// The timing of a token manager, set with [`TokenManagerBuilder::timing`](super::TokenManagerBuilder::timing).
///
/// ```
/// use std::time::Duration;
///
/// use envd_sdk::auth::Timing;
///
/// let timing = Timing::default();
/// assert_eq!(timing.wait, Duration::from_secs(30));
/// assert_eq!(timing.store_check, Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Timing {
    /// How long a caller waits for a token; defaults to 30 seconds, the time limit of one request to the token endpoint. The
    /// refresh continues if the caller stops waiting.
    pub wait: Duration,
    /// How long a refresh waits for another process that is refreshing; defaults to 30 seconds. Afterwards, callers get a
    /// [retryable](crate::Error::is_retryable) error with a [`StoreError`](crate::auth::StoreError) of the kind
    /// [`LockTimeout`](crate::auth::StoreErrorKind::LockTimeout) as its source.
    pub lock_wait: Duration,
    /// How long before its expiry an access token is no longer served, at most a tenth of its lifetime; defaults to 30 seconds.
    /// The margin covers small clock differences and the duration of a request. Increase it if the service's clock is ahead of
    /// the identity provider's.
    pub expiry_margin: Duration,
    /// The minimum time between two refreshes after the service refused a token; defaults to 30 seconds. It prevents a refresh
    /// per call if a server refuses every token.
    pub between_forced: Duration,
    /// How long to wait for a refresh that another process began, if the store's lock can be lost while its holder runs (see
    /// [`lock_survives_faults`](crate::auth::TokenStore::lock_survives_faults)); defaults to 2 minutes.
    ///
    /// Before a refresh token is sent, the record in the store is marked. While it is marked, the token may be used up, with
    /// the new one only in the memory of the process that sent it; sending the old token again would then end the session. The
    /// wait starts when this manager first reads the mark while the lock is free, so earlier downtime of the store does not
    /// count. It continues across calls, and each call that waits longer than [`lock_wait`](Self::lock_wait) ends with a lock
    /// time-out. The last 30 seconds are never skipped: the mark is replaced, and the store must stay readable, so that a
    /// process that could not write before can store its tokens. Then the token is sent. Meanwhile, a valid access token is
    /// served.
    ///
    /// Two minutes cover a refresh that is sent twice (the provider's [`timeout`](crate::auth::ProviderBuilder::timeout) and 30
    /// seconds, or twice the time-out) and a minute to store its reply. `None` derives the time from the provider's time-out,
    /// and adds ten seconds with [`private_key_jwt`](crate::auth::ProviderBuilder::private_key_jwt).
    pub mark_wait: Option<Duration>,
    /// How long tokens are served from memory before the store is read again; defaults to 60 seconds.
    ///
    /// The first use after that time starts a read in the background, and is itself served from memory. If another process
    /// logged the user out, or another user in, this takes effect at the next use, and an [`Event`](super::Event) reports it. A
    /// failed read has no effect. Unused accounts cause no reads.
    pub store_check: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(30),
            lock_wait: Duration::from_secs(30),
            expiry_margin: Duration::from_secs(30),
            between_forced: Duration::from_secs(30),
            mark_wait: None,
            store_check: Duration::from_secs(60),
        }
    }
}

impl Timing {
    /// How long to respect the refresh mark of another process. `timeout` is the time limit of one request, and `signing` the
    /// part of it that may pass before the request is sent.
    pub(super) fn wait_at_mark(&self, timeout: Duration, signing: Duration) -> Duration {
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
        let wait = |timeout, signing| Timing::default().wait_at_mark(secs(timeout), secs(signing));
        assert_eq!(wait(30, 0), secs(120));
        assert_eq!(wait(10, 0), secs(100));
        assert_eq!(wait(60, 0), secs(180));
        // The first request is sent after its assertion is signed.
        assert_eq!(wait(30, 10), secs(130));
        assert_eq!(wait(60, 10), secs(180));
    }
}
