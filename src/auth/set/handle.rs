//! The set as users hold it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::TokenManagerSetBuilder;
use super::shelf::Shelf;
use crate::auth::failure::unavailable;
use crate::auth::{TokenManager, TokenManagerBuilder};
use crate::error::Result;

/// One [`TokenManager`] for each of many users, made when it is asked for. Cheap to clone; clones share everything.
///
/// The managers share a store and a provider, and nothing else: each knows one account. There is no timer and no task
/// for an account. A token is renewed when it is used, so sessions of users who stay away are left to end.
///
/// Accounts that nobody has used for a while are forgotten in memory; the store keeps their tokens. A manager that
/// somebody still holds, that is renewing its tokens, or has some that are not stored yet, stays.
///
/// ```
/// use envd_sdk::auth::{MemoryStore, Provider, TokenManager, TokenManagerSet};
///
/// # fn main() -> envd_sdk::Result<()> {
/// # let provider = Provider::builder("my-client-id").authorize_url("https://login.example.com/authorize")
/// #     .token_url("https://login.example.com/oauth/token").audience("https://api.example.com")
/// #     .redirect_uri("https://app.example.com/callback").build()?;
/// let template = TokenManager::builder(provider).store(MemoryStore::new());
/// let managers = TokenManagerSet::builder(template).capacity(10_000).build()?;
///
/// // In the handler of a request, with the user of the session:
/// let sam = managers.manager("auth0|sam")?;
/// let client = envd_sdk::Client::builder("https://api.example.com/graphql").token_source(sam).build()?;
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TokenManagerSet(Arc<Inner>);

struct Inner {
    settings: TokenManagerSetBuilder,
    shelf: Mutex<Shelf>,
}

impl TokenManagerSet {
    pub(super) fn new(settings: TokenManagerSetBuilder) -> Self {
        Self(Arc::new(Inner {
            settings,
            shelf: Mutex::default(),
        }))
    }

    /// Starts the settings of a set. The template has all that the managers have in common; its
    /// [`account`](TokenManagerBuilder::account) is not used.
    pub fn builder(template: TokenManagerBuilder) -> TokenManagerSetBuilder {
        TokenManagerSetBuilder::new(template)
    }

    /// The manager of an account; the same one for the same key, for as long as somebody holds it.
    ///
    /// Take the key from a session that you have checked, never from the request itself: whoever names the key gets the
    /// tokens.
    ///
    /// # Errors
    ///
    /// [`is_config`](crate::Error::is_config) when the key is empty. [`is_retryable`](crate::Error::is_retryable) when
    /// the set is full of accounts that are all in use.
    pub fn manager(&self, key: &str) -> Result<TokenManager> {
        let settings = &self.0.settings;
        let now = settings.template.clock().boot();
        let mut accounts = self.shelf();
        if let Some(manager) = accounts.find(key, now) {
            return Ok(manager);
        }
        accounts.sort_out(now.saturating_sub(settings.idle), now);
        if accounts.len() >= settings.capacity && !accounts.make_room(now) {
            return Err(unavailable("too many accounts are in use at once"));
        }
        let manager = settings.template.clone().account(key).build()?;
        accounts.put(key, manager.clone(), now);
        Ok(manager)
    }

    /// How many accounts are in memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shelf().len()
    }

    /// Whether no account is in memory.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // No user code runs under the lock, so a poisoned one is still in order.
        self.0.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for TokenManagerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys may be the names of users.
        write!(f, "TokenManagerSet({} accounts)", self.len())
    }
}
