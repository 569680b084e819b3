//! The settings of a token manager.

use std::sync::Arc;

use super::memory::RefreshPolicy;
use super::shared::Shared;
use super::timing::Timing;
use super::token_manager::TokenManager;
use crate::auth::{MemoryStore, Provider, TokenStore};
use crate::error::{Error, Result};

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
