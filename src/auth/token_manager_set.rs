//! The managers of many users, in the order of their last use.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::failure::unavailable;
use super::{TokenManager, TokenManagerBuilder};
use crate::error::{Error, Result};

/// How many accounts a lookup checks for eviction, so that no lookup takes long.
const EVICTION_BATCH: usize = 16;

/// One [`TokenManager`] for each of many users, made at its first use. Cheap to clone; clones share everything.
///
/// The managers share a store and a provider, and nothing else: each has one account. There is no timer and no task for an
/// account. A token is renewed when it is used, so the sessions of users who stay away end by themselves.
///
/// Accounts that are idle for a while are evicted from memory; the store keeps their tokens. A manager stays while a caller
/// holds it, while it renews its tokens, and while it has tokens that are not stored yet.
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
#[doc(alias("session", "tenant"))]
#[derive(Clone)]
pub struct TokenManagerSet(Arc<Inner>);

struct Inner {
    settings: TokenManagerSetBuilder,
    accounts: Mutex<Accounts>,
}

/// Settings of a [`TokenManagerSet`].
///
/// See [`TokenManagerSet`] for an example.
#[derive(Debug)]
#[must_use]
pub struct TokenManagerSetBuilder {
    template: TokenManagerBuilder,
    capacity: usize,
    idle: Duration,
}

impl TokenManagerSetBuilder {
    /// How many accounts are kept in memory; 100,000 unless set.
    pub fn capacity(mut self, accounts: usize) -> Self {
        self.capacity = accounts;
        self
    }

    /// How long an account is kept in memory after its last use; 15 minutes unless set.
    pub fn idle(mut self, time: Duration) -> Self {
        self.idle = time;
        self
    }

    /// Builds the set.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the capacity is 0.
    pub fn build(self) -> Result<TokenManagerSet> {
        if self.capacity == 0 {
            return Err(Error::config("capacity of the set of token managers is 0"));
        }
        Ok(TokenManagerSet(Arc::new(Inner {
            settings: self,
            accounts: Mutex::default(),
        })))
    }
}

impl TokenManagerSet {
    /// Starts the settings of a set. The template has the settings that all managers share; its
    /// [`account`](TokenManagerBuilder::account) is not used.
    pub fn builder(template: TokenManagerBuilder) -> TokenManagerSetBuilder {
        TokenManagerSetBuilder {
            template: template.with_one_store(),
            // Some hundred megabytes with tokens of the usual sizes.
            capacity: 100_000,
            // Longer than a manager pauses after failures.
            idle: Duration::from_secs(15 * 60),
        }
    }

    /// The manager of an account; the same one for the same key, for as long as a caller holds it.
    ///
    /// Take the key from a session that you have checked, never from the request itself: the key gives access to the
    /// tokens.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the key is empty. [`is_retryable`](Error::is_retryable) when the set is full of
    /// accounts that are all in use.
    pub fn manager(&self, key: &str) -> Result<TokenManager> {
        let settings = &self.0.settings;
        let now = settings.template.clock().boot();
        let mut accounts = self.accounts();
        if let Some(manager) = accounts.get(key, now) {
            return Ok(manager);
        }
        accounts.evict_idle(now.saturating_sub(settings.idle), now);
        if accounts.by_key.len() >= settings.capacity && !accounts.evict_one(now) {
            return Err(unavailable("too many accounts are in use at once"));
        }
        let manager = settings.template.clone().account(key).build()?;
        let key: Arc<str> = key.into();
        accounts.queue.push_back((key.clone(), now));
        let account = Account {
            manager: manager.clone(),
            last_used: now,
        };
        accounts.by_key.insert(key, account);
        Ok(manager)
    }

    /// How many accounts are in memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.accounts().by_key.len()
    }

    /// Whether no account is in memory.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        // No user code runs under the lock, so a poisoned one is still consistent.
        let accounts = self.0.accounts.lock();
        accounts.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for TokenManagerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys may be the names of users.
        write!(f, "TokenManagerSet({} accounts)", self.len())
    }
}

/// An LRU cache: every account stands once in the map and once in the queue.
#[derive(Default)]
struct Accounts {
    by_key: HashMap<Arc<str>, Account>,
    /// With the time of a use. A later use is noticed when the account comes to the front, so that a lookup does not
    /// have to move anything.
    queue: VecDeque<(Arc<str>, Duration)>,
}

struct Account {
    manager: TokenManager,
    last_used: Duration,
}

impl Accounts {
    fn get(&mut self, key: &str, now: Duration) -> Option<TokenManager> {
        let account = self.by_key.get_mut(key)?;
        account.last_used = now;
        Some(account.manager.clone())
    }

    /// Evicts some of the accounts whose last use is before a time.
    fn evict_idle(&mut self, before: Duration, now: Duration) {
        for _ in 0..EVICTION_BATCH.min(self.queue.len()) {
            match self.queue.front() {
                Some((_, used)) if *used < before => self.check_front(now),
                _ => break,
            };
        }
    }

    /// Evicts the least recently used account that can be evicted; returns whether there is one.
    fn evict_one(&mut self, now: Duration) -> bool {
        // Twice: the first round may only bring the times of use up to date.
        (0..2 * self.queue.len()).any(|_| self.check_front(now))
    }

    /// Evicts the account at the front; moves it to the end if it was used since, or is in use. Returns whether it was
    /// evicted.
    fn check_front(&mut self, now: Duration) -> bool {
        let Some((key, known)) = self.queue.pop_front() else {
            return false;
        };
        let Some(account) = self.by_key.get(&key) else {
            return false;
        };
        let used = if account.last_used > known {
            account.last_used
        } else if account.manager.is_idle() {
            self.by_key.remove(&key);
            return true;
        } else {
            now
        };
        self.queue.push_back((key, used));
        false
    }
}

#[cfg(test)]
mod tests;
