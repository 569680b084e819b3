//! The store itself.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keyring_core::CredentialStore;

use super::entry::{Keyring, of_the_user};
use crate::auth::{
    FileStore, Record, StoreError, StoreFuture, StoreGuard, TokenStore, Version, Versioned,
};

/// Keeps refresh tokens in the keyring of the operating system: the Keychain of macOS, the Credential Manager of Windows,
/// the Secret Service of Linux and the BSDs. Clones share everything.
///
/// Entries of keyrings are small (about 2.5 kB on Windows), so only the refresh token is stored, with what belongs to it.
/// Access and id token stay in memory: a process that starts renews its tokens first. Keyrings have no locks, so the
/// locks are files, as those of [`FileStore`].
///
/// ```
/// use std::sync::Arc;
/// use envd_sdk::auth::{FileStore, TokenStore};
/// use envd_sdk::auth::keyring::KeyringStore;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let folder = std::env::temp_dir();
/// let store: Arc<dyn TokenStore> = match KeyringStore::open("my-app", folder.join("my-app-keyring")).await {
///     Ok(keyring) => Arc::new(keyring),
///     // Tell the user that the tokens will lie in a file.
///     Err(error) if error.is_unsupported() => Arc::new(FileStore::new(folder.join("my-app-tokens.json"))),
///     Err(error) => return Err(error),
/// };
/// # drop(store);
/// # Ok::<(), envd_sdk::auth::StoreError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KeyringStore {
    keyring: Keyring,
    locks: FileStore,
    /// The whole records that were written here, for as long as they are the stored ones.
    whole: Arc<Mutex<HashMap<String, Versioned>>>,
}

impl KeyringStore {
    /// Connects to the user's keyring. Entries stand under `service`; the names of the lock files begin with `locks`,
    /// whose directory must exist. All processes that share the entries must name the same.
    ///
    /// # Errors
    ///
    /// [`is_unsupported`](StoreError::is_unsupported) when there is no keyring, such as on a machine without a session
    /// bus. Nothing else is used in its place unless you say so: see [`open_or_file`](Self::open_or_file).
    pub async fn open(
        service: impl Into<String>,
        locks: impl Into<PathBuf>,
    ) -> Result<Self, StoreError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| {
            StoreError::new("the keyring store must be opened inside a tokio runtime")
        })?;
        let opened = runtime.spawn_blocking(of_the_user).await;
        let keyring = opened.map_err(|_| StoreError::new("the keyring could not be opened"))??;
        Ok(Self::of(keyring, service.into(), locks.into()))
    }

    /// The user's keyring, or a [`FileStore`] where there is none: with a warning in the log, because tokens in a file
    /// are less well kept. A user whose machine has a keyring at one time and none at another has two sessions.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), but for a missing keyring.
    pub async fn open_or_file(
        service: impl Into<String>,
        file: impl Into<PathBuf>,
    ) -> Result<Arc<dyn TokenStore>, StoreError> {
        let file = file.into();
        match Self::open(service, file.clone()).await {
            Ok(keyring) => Ok(Arc::new(keyring)),
            Err(error) if error.is_unsupported() => {
                tracing::warn!("{error}; tokens are kept in a file instead");
                Ok(Arc::new(FileStore::new(file)))
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn of(store: Arc<CredentialStore>, service: String, locks: PathBuf) -> Self {
        Self {
            keyring: Keyring { store, service },
            locks: FileStore::new(locks),
            whole: Arc::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn keyring_of_test(&self) -> Arc<CredentialStore> {
        self.keyring.store.clone()
    }

    fn whole(&self) -> MutexGuard<'_, HashMap<String, Versioned>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stored record, completed from memory if it is the one that was written here.
    fn read(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let stored = self.keyring.read(key)?;
        let mut whole = self.whole();
        let same = |known: &&Versioned| Some(known.version) == stored.as_ref().map(|s| s.version);
        if let Some(known) = whole.get(key).filter(same) {
            return Ok(Some(known.clone()));
        }
        whole.remove(key);
        Ok(stored)
    }

    fn replace(
        &self,
        key: String,
        expected: Option<Version>,
        new: Record,
    ) -> Result<Option<Version>, StoreError> {
        let stored = self.keyring.read(&key)?.map(|stored| stored.version);
        if stored != expected {
            return Ok(None);
        }
        let next = match stored {
            Some(version) => version.number().wrapping_add(1),
            // An entry that was deleted and written anew must not repeat versions.
            None => fastrand::u64(..1 << 52),
        };
        let version = Version::new(next);
        let small = new.without_access_token().to_secret_json();
        self.keyring.write(&key, version, &small)?;
        self.whole().insert(key, Versioned::new(version, new));
        Ok(Some(version))
    }

    fn delete(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let stored = self.keyring.read(key)?.map(|stored| stored.version);
        if stored != Some(expected) {
            return Ok(false);
        }
        self.keyring.delete(key)?;
        self.whole().remove(key);
        Ok(true)
    }
}

impl TokenStore for KeyringStore {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        let (store, key) = (self.clone(), key.to_owned());
        // Under the write lock: keyrings do not promise that a read in the middle of a write sees one or the other.
        Box::pin(self.locks.with_write_lock(move || store.read(&key)))
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        let (store, key, new) = (self.clone(), key.to_owned(), new.clone());
        Box::pin(
            self.locks
                .with_write_lock(move || store.replace(key, expected, new)),
        )
    }

    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        let (store, key) = (self.clone(), key.to_owned());
        Box::pin(
            self.locks
                .with_write_lock(move || store.delete(&key, expected)),
        )
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        self.locks.lock(key, wait)
    }

    fn lock_survives_faults(&self) -> bool {
        self.locks.lock_survives_faults()
    }
}

impl fmt::Debug for KeyringStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyringStore")
            .field("service", &self.keyring.service)
            .finish_non_exhaustive()
    }
}
