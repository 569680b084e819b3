//! The times of a token manager.

use std::time::Duration;

/// The times of a token manager; set by [`TokenManagerBuilder::timing`](super::TokenManagerBuilder::timing).
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
    /// How long a caller waits for a token; 30 seconds unless set, as long as one request to the token endpoint may take. The
    /// refresh continues when the caller gives up.
    pub wait: Duration,
    /// How long a refresh waits for another process that refreshes; 30 seconds unless set. After that callers get an error
    /// that is [retryable](crate::Error::is_retryable), with a [`StoreError`](crate::auth::StoreError) of the kind
    /// [`LockTimeout`](crate::auth::StoreErrorKind::LockTimeout) below it.
    pub lock_wait: Duration,
    /// How long before its expiry an access token is no longer served, at most a tenth of its life; 30 seconds unless set, which
    /// covers clocks that differ a little, and the time that a request takes. More helps where the service's clock is ahead of
    /// the identity provider's.
    pub expiry_margin: Duration,
    /// The shortest time between two refreshes after the service refused a token; 30 seconds unless set. A server that refuses
    /// every token must not cause a refresh for every call.
    pub between_forced: Duration,
    /// How long to wait for a refresh that another process began, where the lock of the store can end while its holder runs
    /// (see [`lock_survives_faults`](crate::auth::TokenStore::lock_survives_faults)); 2 minutes unless set.
    ///
    /// Before a refresh token is sent, the record in the store is marked. While the mark stands, the token may be used up
    /// and the new one in the memory of the process that sent it: sending it again would end the session. The wait begins
    /// when this manager first reads the mark while the lock is free, so earlier downtime of the store does not count. It
    /// continues from call to call, and each call that waits longer than [`lock_wait`](Self::lock_wait) ends with a lock
    /// time-out. In the last 30 seconds, which are never left out, the mark is replaced and the store must be readable all
    /// the time, so that a process that could not write before can store its tokens. Then the token is sent. An access
    /// token that is still valid is served meanwhile.
    ///
    /// Two minutes cover a refresh that is sent twice (the provider's [`timeout`](crate::auth::ProviderBuilder::timeout)
    /// and 30 seconds, or twice the time-out) and a minute to store its reply; `None` follows the provider's time-out, and is ten
    /// seconds longer with [`private_key_jwt`](crate::auth::ProviderBuilder::private_key_jwt).
    pub mark_wait: Option<Duration>,
    /// How long tokens are served from memory before the store is read again; 60 seconds unless set.
    ///
    /// The first use after that time starts a read in the background and is itself served from memory: a logout, or the
    /// login of another user, in another process takes effect with the next use, and an [`Event`](super::Event) reports it.
    /// A store that cannot be read changes nothing. Accounts that are not used cause no reads.
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
    /// How long the refresh mark of another process stands. `timeout` is that of one request, and `signing` how much of it may
    /// pass before it is sent.
    pub(super) fn wait_at_mark(&self, timeout: Duration, signing: Duration) -> Duration {
        self.mark_wait.unwrap_or_else(|| {
            let first = timeout.max(Duration::from_secs(30).saturating_add(signing));
            let store = Duration::from_secs(60);
            first.saturating_add(timeout).saturating_add(store)
        })
    }
}
