//! Settings of a token manager.

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
    /// Where the tokens are stored; a [`MemoryStore`] unless set, which managers of clones of these settings share.
    pub fn store(self, store: impl TokenStore) -> Self {
        self.shared_store(Arc::new(store))
    }

    setters! {
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
