//! Settings of a token manager, and its times.

use std::sync::Arc;
use std::time::Duration;

use super::memory::RefreshPolicy;
use super::shared::Shared;
use super::token_manager::TokenManager;
use crate::auth::{MemoryStore, Provider, TokenStore};
use crate::error::{Error, Result};

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

/// Settings of a [`TokenManager`].
///
/// ```
/// use std::time::Duration;
///
/// use envd_sdk::auth::{FileStore, Provider, TokenManager};
///
/// # let provider = Provider::builder("my-client-id").authorize_url("https://login.example.com/authorize")
/// #     .token_url("https://login.example.com/oauth/token").audience("https://api.example.com")
/// #     .redirect_uri("http://127.0.0.1:4100/callback").build()?;
/// let manager = TokenManager::builder(provider)
///     .store(FileStore::new("tokens.json"))
///     .timing(|it| it.wait = Duration::from_secs(5)) // How long a caller waits for a refresh.
///     .build()?;
/// # let _ = manager;
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct TokenManagerBuilder {
    provider: Provider,
    store: Arc<dyn TokenStore>,
    account: String,
    /// Shared by the managers of one template.
    policy: Arc<RefreshPolicy>,
}

impl TokenManager {
    /// Starts the settings of a manager.
    pub fn builder(provider: Provider) -> TokenManagerBuilder {
        TokenManagerBuilder {
            provider,
            store: Arc::new(MemoryStore::new()),
            account: "default".to_owned(),
            policy: Arc::default(),
        }
    }
}

impl TokenManagerBuilder {
    setters! {
        /// Where the tokens are stored; a [`MemoryStore`] unless set, which managers of clones of these settings share.
        pub fn store(store: impl TokenStore) |it| it.store = Arc::new(store);

        /// As [`store`](Self::store), for a store that managers share.
        pub fn shared_store(store: Arc<dyn TokenStore>) |it| it.store = store;

        /// The key of the account's record in the store; `default` unless set. One user, one key; another client needs another key or
        /// store, since the record belongs to the client id and the token endpoint of its login
        /// ([`AnotherClient`](crate::auth::StoreErrorKind::AnotherClient)).
        ///
        /// Keys are not secrets: they stand in the store, in clear unless a wrapper hashes them (`hash_accounts` of the
        /// feature `sealed`). Never use a credential such as a session id; use a hash of it.
        pub fn account(key: impl Into<String>) |it| it.account = key.into();

        /// Changes the [times](Timing) of the manager.
        pub fn timing(change: impl FnOnce(&mut Timing)) |it| change(&mut Arc::make_mut(&mut it.policy).timing);

        /// Whether tokens are renewed ahead of time while the old ones are served; true unless set. Short-lived programs set it
        /// to false, so that they do not end in the middle of a refresh.
        pub fn background(yes: bool) |it| Arc::make_mut(&mut it.policy).no_background = !yes;

        /// Whether new tokens that cannot be stored stay unused; false unless set.
        ///
        /// If false, they are served from memory and [`Event::PersistFailed`](super::Event::PersistFailed) is sent; a login also
        /// returns an error unless the reason passes by itself. Either way
        /// they are kept, with the account's lock, and storing is retried for as long as the process lives.
        pub fn strict(yes: bool) |it| Arc::make_mut(&mut it.policy).strict = yes;
    }

    /// Builds the manager. Nothing is read or sent yet.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the account's key is empty.
    pub fn build(self) -> Result<TokenManager> {
        if self.account.is_empty() {
            return Err(Error::config("account key of the token manager is empty"));
        }
        let shared = Shared::new(self.provider, self.store, self.account, self.policy);
        Ok(TokenManager(Arc::new(shared)))
    }
}

// Without the key, which may be the name of a user.
debug_shows!(TokenManagerBuilder, |it| provider: it.provider, policy: it.policy);
