//! A store in memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync;

use super::{Record, StoreError, StoreGuard, TokenStore, Version, Versioned};
use crate::locked::lock;

/// Keeps tokens in memory for the life of the process. Clones share their contents.
///
/// For tests, and for programs that log in at each start. To keep tokens longer, use a [`FileStore`](super::FileStore) or your
/// own [`TokenStore`].
///
/// ```
/// use std::sync::Arc;
///
/// use envd_sdk::auth::{MemoryStore, Provider, TokenManager};
///
/// # let provider = Provider::builder("my-client-id").authorize_url("https://login.example.com/authorize")
/// #     .token_url("https://login.example.com/oauth/token").audience("https://api.example.com")
/// #     .redirect_uri("https://app.example.com/callback").build()?;
/// // One store for the managers of all users.
/// let store = Arc::new(MemoryStore::new());
/// let manager = |provider| TokenManager::builder(provider).shared_store(store.clone());
/// let sam = manager(provider.clone()).account("sam").build()?;
/// let kim = manager(provider).account("kim").build()?;
/// # let _ = (sam, kim);
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Accounts>>);

#[derive(Default)]
struct Accounts {
    /// Counts all writes, so that no version repeats, even after a record was removed.
    writes: u64,
    records: HashMap<String, Versioned>,
    locks: HashMap<String, Arc<sync::Mutex<()>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock_of(&self, key: &str) -> Arc<sync::Mutex<()>> {
        let mut accounts = lock(&self.0);
        // Unused locks are removed here, so that the map does not grow with former users.
        if accounts.locks.len() > 2 * accounts.records.len() + 64 {
            accounts.locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        accounts.locks.entry(key.to_owned()).or_default().clone()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys may be user names.
        write!(f, "MemoryStore({} accounts)", lock(&self.0).records.len())
    }
}

#[async_trait]
impl TokenStore for MemoryStore {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        Ok(lock(&self.0).records.get(key).cloned())
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let mut accounts = lock(&self.0);
        if accounts.records.get(key).map(|stored| stored.version) != expected {
            return Ok(None);
        }
        accounts.writes += 1;
        let version = Version::new(accounts.writes);
        let stored = Versioned::new(version, new.clone());
        accounts.records.insert(key.to_owned(), stored);
        Ok(Some(version))
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let mut accounts = lock(&self.0);
        let found = accounts.records.get(key).map(|stored| stored.version) == Some(expected);
        if found {
            accounts.records.remove(key);
        }
        Ok(found)
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        let lock = self.lock_of(key).lock_owned();
        match tokio::time::timeout(wait, lock).await {
            Ok(guard) => Ok(StoreGuard::new(guard)),
            Err(_) => Err(StoreError::lock_timeout()),
        }
    }

    fn lock_survives_faults(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        "memory of this process".to_owned()
    }
}
