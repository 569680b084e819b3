//! The settings of a token manager, including its timing.

use std::sync::Arc;
use std::time::Duration;

use super::memory::RefreshPolicy;
use super::shared::Shared;
use super::token_manager::TokenManager;
use crate::auth::{MemoryStore, Provider, TokenStore};
use crate::error::{Error, Result};

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
    /// Shared by all managers built from clones of these settings.
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
    /// Where the tokens are stored; defaults to a [`MemoryStore`] that managers built from clones of these settings share.
    pub fn store(mut self, store: impl TokenStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Like [`store`](Self::store), for a store that is already shared.
    pub fn shared_store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.store = store;
        self
    }

    /// The key of the account's record in the store; defaults to `default`. Use one key per user. Another client needs
    /// another key or store, because a record belongs to the client id and token endpoint of its login
    /// ([`AnotherClient`](crate::auth::StoreErrorKind::AnotherClient)).
    ///
    /// Keys are not secrets: the store keeps them in clear, unless a wrapper hashes them (`hash_accounts` of the feature
    /// `sealed`). Never use a credential such as a session id; use a hash of it.
    pub fn account(mut self, key: impl Into<String>) -> Self {
        self.account = key.into();
        self
    }

    /// Changes the [timing](Timing) of the manager.
    pub fn timing(mut self, change: impl FnOnce(&mut Timing)) -> Self {
        change(&mut Arc::make_mut(&mut self.policy).timing);
        self
    }

    /// Whether to renew tokens in advance, while the old ones are served; defaults to true. Short-lived programs set this
    /// to false, so that they do not exit during a refresh.
    pub fn background(mut self, yes: bool) -> Self {
        Arc::make_mut(&mut self.policy).no_background = !yes;
        self
    }

    /// Whether to withhold new tokens that cannot be stored; defaults to false.
    ///
    /// If false, they are served from memory, and [`Event::PersistFailed`](super::Event::PersistFailed) is sent; a login
    /// also returns an error if the problem is permanent. Either way, the manager keeps the tokens and the account's lock,
    /// and retries for as long as the process runs.
    pub fn strict(mut self, yes: bool) -> Self {
        Arc::make_mut(&mut self.policy).strict = yes;
        self
    }

    /// Builds the manager. Does not read or send anything yet.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the account's key is empty.
    pub fn build(self) -> Result<TokenManager> {
        if self.account.is_empty() {
            return Err(Error::config("account key of the token manager is empty"));
        }
        let shared = Shared::new(self.provider, self.store, self.account, self.policy);
        Ok(TokenManager(Arc::new(shared)))
    }
}

// Hides the key, which may be the name of a user.
debug_shows!(TokenManagerBuilder, |it| provider: it.provider, policy: it.policy);
