//! A store in the keyring of the operating system.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use keyring_core::{CredentialStore, Entry, Error as KeyringError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use zeroize::Zeroizing;

use crate::auth::store::{StoreErrorKind, read_stored};
use crate::auth::{FileStore, Record, StoreError, StoreGuard, TokenStore, Version, Versioned};
use crate::locked::lock;
use crate::secret::Secret;

/// The version of the entry format. An entry with a higher version is from a newer crate, and is left unchanged.
const FORM: u32 = 1;

#[derive(Serialize, Deserialize)]
struct StoredEntry<'a> {
    form: u32,
    version: u64,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// Stores refresh tokens in the keyring of the operating system: the Keychain of macOS, the Credential Manager of Windows, the
/// Secret Service of Linux and the BSDs. Clones share all state.
///
/// Keyring entries are small (about 2.5 kB on Windows), so the stored record contains only the refresh token. Access token and
/// id token stay in memory: a process that starts renews its tokens first. Keyrings have no locks, so locks are files, as with
/// [`FileStore`].
///
/// ```
/// use std::sync::Arc;
/// use envd_sdk::auth::{FileStore, StoreErrorKind, TokenStore};
/// use envd_sdk::auth::keyring::KeyringStore;
///
/// # test_support::example(async {
/// let folder = std::env::temp_dir();
/// let locks = folder.join("my-app-keyring");
/// let store: Arc<dyn TokenStore> = match KeyringStore::open("my-app", locks).await {
///     Ok(keyring) => Arc::new(keyring),
///     // No keyring: tokens in a file are less protected, so inform the user.
///     Err(error) if error.kind() == StoreErrorKind::Unsupported => {
///         Arc::new(FileStore::new(folder.join("my-app-tokens.json")))
///     }
///     Err(error) => return Err(error.into()),
/// };
/// # drop(store);
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct KeyringStore {
    keyring: Arc<CredentialStore>,
    service: String,
    locks: FileStore,
    /// The complete records written by this process, valid while their versions match the stored ones.
    whole: Arc<Mutex<HashMap<String, Versioned>>>,
}

impl KeyringStore {
    /// Connects to the user's keyring. `service` identifies the entries; `locks` is the prefix of the lock files, in a
    /// directory that must exist. All processes that share the entries must use the same values.
    ///
    /// If a machine's keyring is only sometimes available, its user ends up with two sessions.
    ///
    /// # Cancel safety
    ///
    /// Opening writes nothing. If the future is dropped, an attempt to connect ends in the background.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](crate::auth::StoreErrorKind::Unsupported) if there is no keyring, for example on a machine without a
    /// session bus. There is no silent fallback; the example above shows one.
    pub async fn open(
        service: impl Into<String>,
        locks: impl Into<PathBuf>,
    ) -> Result<Self, StoreError> {
        let runtime = Handle::try_current().map_err(|_| {
            StoreError::new(
                StoreErrorKind::Other,
                "the keyring store must be opened inside a tokio runtime",
            )
        })?;
        let keyring = runtime
            .spawn_blocking(native)
            .await
            .map_err(|_| StoreError::new(StoreErrorKind::Other, "the keyring could not be opened"))?
            .map_err(|error| {
                let message = "there is no keyring for this user on this machine";
                StoreError::new(StoreErrorKind::Unsupported, message).with_source(cause(&error))
            })?;
        Ok(Self::with_keyring(keyring, service.into(), locks.into()))
    }

    pub(crate) fn with_keyring(
        keyring: Arc<CredentialStore>,
        service: String,
        locks: PathBuf,
    ) -> Self {
        Self {
            keyring,
            service,
            locks: FileStore::new(locks),
            whole: Arc::default(),
        }
    }

    fn entry(&self, key: &str) -> Result<Entry, StoreError> {
        self.keyring.build(&self.service, key, None).map_err(failed)
    }

    fn read_entry(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let json = match self.entry(key)?.get_secret() {
            Ok(json) => Zeroizing::new(json),
            Err(KeyringError::NoEntry) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let stored: StoredEntry<'_> = read_stored(&json, FORM, "the entry in the keyring")?;
        let record = Record::from_secret_json(&Secret::new(stored.record.get()))?;
        Ok(Some(Versioned::new(Version::new(stored.version), record)))
    }

    fn write_entry(&self, key: &str, version: Version, new: &Record) -> Result<(), StoreError> {
        let record = new.without_access_token().to_secret_json();
        let unfit = |_| StoreError::new(StoreErrorKind::Other, "the record cannot be written");
        let stored = StoredEntry {
            form: FORM,
            version: version.number(),
            record: serde_json::from_str(record.expose()).map_err(unfit)?,
        };
        // Allocated once, because a growing buffer leaves copies of the tokens in memory.
        let mut json = Zeroizing::new(Vec::with_capacity(record.expose().len() + 64));
        serde_json::to_writer(&mut *json, &stored).map_err(unfit)?;
        self.entry(key)?.set_secret(&json).map_err(failed)
    }

    /// Returns the stored record, or the complete one if this process wrote it.
    fn read(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let stored = self.read_entry(key)?;
        let mut whole = lock(&self.whole);
        let version = stored.as_ref().map(|stored| stored.version);
        if let Some(known) = whole
            .get(key)
            .filter(|known| Some(known.version) == version)
        {
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
        let stored = self.read_entry(&key)?.map(|stored| stored.version);
        if stored != expected {
            return Ok(None);
        }
        let next = match stored {
            Some(version) => version.number().wrapping_add(1),
            // Starts at a random number, so that an entry that is deleted and recreated does not repeat versions.
            None => fastrand::u64(..1 << 52),
        };
        let version = Version::new(next);
        self.write_entry(&key, version, &new)?;
        lock(&self.whole).insert(key, Versioned::new(version, new));
        Ok(Some(version))
    }

    fn delete(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let stored = self.read_entry(key)?.map(|stored| stored.version);
        if stored != Some(expected) {
            return Ok(false);
        }
        self.entry(key)?.delete_credential().map_err(failed)?;
        lock(&self.whole).remove(key);
        Ok(true)
    }
}

#[async_trait]
impl TokenStore for KeyringStore {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let store = self.clone();
        let key = key.to_owned();
        // Reads under the write lock, because during a write a keyring may return neither the old nor the new entry.
        self.locks.with_write_lock(move || store.read(&key)).await
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let store = self.clone();
        let key = key.to_owned();
        let new = new.clone();
        let replace = move || store.replace(key, expected, new);
        self.locks.with_write_lock(replace).await
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let store = self.clone();
        let key = key.to_owned();
        let delete = move || store.delete(&key, expected);
        self.locks.with_write_lock(delete).await
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        self.locks.lock(key, wait).await
    }

    fn lock_survives_faults(&self) -> bool {
        self.locks.lock_survives_faults()
    }

    fn describe(&self) -> String {
        format!("keyring, service {}", self.service)
    }
}

debug_shows!(KeyringStore, |it| service: it.service);

#[cfg(all(unix, not(any(target_vendor = "apple", target_os = "android"))))]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(
    windows,
    target_os = "macos",
    all(unix, not(any(target_vendor = "apple", target_os = "android")))
)))]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(KeyringError::NoDefaultStore)
}

fn failed(error: KeyringError) -> StoreError {
    let kind = match &error {
        KeyringError::BadEncoding(_) | KeyringError::BadDataFormat(..) => {
            StoreErrorKind::Unreadable
        }
        KeyringError::NoDefaultStore | KeyringError::NotSupportedByStore(_) => {
            StoreErrorKind::Unsupported
        }
        KeyringError::NoStorageAccess(_) => StoreErrorKind::Denied,
        _ => StoreErrorKind::Other,
    };
    StoreError::new(kind, "the keyring of the operating system failed").with_source(cause(&error))
}

/// Describes an error of the library without entry names and contents, which may reveal user names.
fn cause(error: &KeyringError) -> String {
    match error {
        KeyringError::PlatformFailure(below) => format!("error of the platform: {below}"),
        KeyringError::NoStorageAccess(below) => format!("no access, it may be locked: {below}"),
        KeyringError::NoEntry => "there is no such entry".to_owned(),
        KeyringError::TooLong(what, limit) => format!("{what} is longer than {limit}"),
        KeyringError::Ambiguous(entries) => format!("{} entries match", entries.len()),
        _ => "the keyring does not support this".to_owned(),
    }
}
