//! Puts a manager together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::TokenManager;
use super::shared::{Policy, Shared};
use crate::auth::{MemoryStore, Provider, TokenStore};
use crate::error::{Error, Result};
use crate::transport::Clock;

/// Settings of a [`TokenManager`].
#[derive(Clone)]
#[must_use]
pub struct TokenManagerBuilder {
    provider: Provider,
    store: Option<Arc<dyn TokenStore>>,
    account: String,
    policy: Policy,
}

impl TokenManagerBuilder {
    pub(super) fn new(provider: Provider) -> Self {
        Self {
            provider,
            store: None,
            account: "default".to_owned(),
            policy: Policy {
                // As long as one request to the token endpoint may take.
                wait: Duration::from_secs(30),
                lock_wait: Duration::from_secs(30),
                background: true,
                strict: false,
                // Clocks a little off, and the time that a request takes.
                margin: Duration::from_secs(30),
                // A server that refuses every token must not make every call a refresh.
                between_forced: Duration::from_secs(30),
            },
        }
    }

    /// Where the tokens are kept; a [`MemoryStore`] of its own unless set.
    pub fn store(mut self, store: impl TokenStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// As [`store`](Self::store), for one that managers share.
    pub fn shared_store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// The key of the account's record in the store; `default` unless set. One user, one key.
    pub fn account(mut self, key: impl Into<String>) -> Self {
        self.account = key.into();
        self
    }

    /// How long a caller waits for a token; 30 seconds unless set. The refresh goes on when the caller gives up.
    pub fn wait(mut self, limit: Duration) -> Self {
        self.policy.wait = limit;
        self
    }

    /// How long a refresh waits for another process that refreshes; 30 seconds unless set.
    pub fn lock_wait(mut self, limit: Duration) -> Self {
        self.policy.lock_wait = limit;
        self
    }

    /// Whether tokens are renewed ahead of time while the old ones serve; true unless set. Short-lived programs set it
    /// to false, so that they do not end in the middle of a refresh.
    pub fn background(mut self, yes: bool) -> Self {
        self.policy.background = yes;
        self
    }

    /// Whether new tokens that cannot be stored stay unused; false unless set.
    ///
    /// Unset, they serve from memory and [`Event::PersistFailed`](super::Event::PersistFailed) tells. Either way they are
    /// kept and storing is tried again.
    pub fn strict(mut self, yes: bool) -> Self {
        self.policy.strict = yes;
        self
    }

    /// How long before its end an access token is given up, at most a tenth of its life; 30 seconds unless set. More
    /// helps where the service's clock is ahead of the identity provider's.
    pub fn expiry_margin(mut self, margin: Duration) -> Self {
        self.policy.margin = margin;
        self
    }

    /// The shortest time between two refreshes that are made because the service refused a token; 30 seconds unless
    /// set.
    pub fn between_forced(mut self, time: Duration) -> Self {
        self.policy.between_forced = time;
        self
    }

    /// The clock of the provider.
    pub(in crate::auth) fn clock(&self) -> &Clock {
        self.provider.clock()
    }

    /// Settles which store it is: managers built from clones share it.
    pub(in crate::auth) fn with_one_store(mut self) -> Self {
        self.store
            .get_or_insert_with(|| Arc::new(MemoryStore::new()));
        self
    }

    /// Builds the manager. Nothing is read or sent yet.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the account's key is empty.
    pub fn build(self) -> Result<TokenManager> {
        if self.account.is_empty() {
            return Err(Error::config("the account's key is empty"));
        }
        let store = self.store.unwrap_or_else(|| Arc::new(MemoryStore::new()));
        let shared = Shared::new(self.provider, store, self.account, self.policy);
        Ok(TokenManager::new(shared))
    }
}

impl fmt::Debug for TokenManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key may be the name of a user.
        f.debug_struct("TokenManagerBuilder")
            .field("provider", &self.provider)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
