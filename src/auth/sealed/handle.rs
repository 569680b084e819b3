//! The wrapper.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::SealingKey;
use super::account_hash::AccountHash;
use crate::auth::store::StoreErrorKind;
use crate::auth::{BoxFuture, Record, StoreError, StoreGuard, TokenStore, Version, Versioned};

/// Encrypts the records of a store, so that nobody who reads the store reads a token.
///
/// The key comes from you; keep it apart from what it seals.
///
/// # Changing the key
///
/// Hosts are deployed one after the other, and each must read what any other one writes. So it takes three deploys:
///
/// 1. every host gets the new key as a [`reading_key`](Self::reading_key), and goes on to seal with the old one;
/// 2. every host seals with the new key, and keeps the old one as a reading key;
/// 3. when every record was written once more, at the latest when all sessions of that time have ended, the old key goes.
///
/// A host that meets a record of a key it does not have leaves the record alone, and its error names the key:
/// [`StoreError::missing_key_id`].
///
/// ```
/// use envd_sdk::auth::FileStore;
/// use envd_sdk::auth::sealed::{SealedStore, SealingKey};
///
/// # let (this_year, last_year) = ([1; 32], [2; 32]);
/// // The second deploy.
/// let store = SealedStore::new(FileStore::new("tokens.json"), SealingKey::new("2027", &this_year))
///     .reading_key(SealingKey::new("2026", &last_year));
/// # let _ = store;
/// ```
#[derive(Clone)]
pub struct SealedStore<S> {
    inner: S,
    keys: Arc<Vec<SealingKey>>,
    account_hash: Option<Arc<AccountHash>>,
    accept_unsealed: bool,
}

impl<S: TokenStore> SealedStore<S> {
    /// Seals with the key what goes into the store, and opens what comes out.
    #[must_use]
    pub fn new(inner: S, key: SealingKey) -> Self {
        Self {
            inner,
            keys: Arc::new(vec![key]),
            account_hash: None,
            accept_unsealed: false,
        }
    }

    /// A further key that opens records and seals none: the next one, or the one before.
    #[must_use]
    pub fn reading_key(mut self, key: SealingKey) -> Self {
        Arc::make_mut(&mut self.keys).push(key);
        self
    }

    /// Hides accounts from the store inside: it sees HMAC-SHA256 of each account's key instead of the key.
    ///
    /// For accounts that are named by what people are called, or by what must not be known, such as session ids. The key of
    /// the hash is one of its own, of 32 random bytes, and stays when the sealing key changes: under another one no record
    /// is found, and all users have to log in again. Records that were stored before are not found either; to keep them,
    /// rename each to its [`stored_account`](Self::stored_account) while no host runs.
    ///
    /// ```
    /// use envd_sdk::auth::MemoryStore;
    /// use envd_sdk::auth::sealed::{SealedStore, SealingKey};
    ///
    /// # let (sealing, accounts) = ([1; 32], [2; 32]);
    /// let store = SealedStore::new(MemoryStore::new(), SealingKey::new("2027", &sealing)).hash_accounts(&accounts);
    /// assert!(!store.stored_account("sam@example.com").contains("sam"));
    /// ```
    #[must_use]
    pub fn hash_accounts(mut self, key: &[u8; 32]) -> Self {
        self.account_hash = Some(Arc::new(AccountHash::new(key)));
        self
    }

    /// Under which key the store inside keeps an account: to find, rename or delete its record there.
    #[must_use]
    pub fn stored_account<'a>(&self, account: &'a str) -> Cow<'a, str> {
        match &self.account_hash {
            Some(hash) => Cow::Owned(hash.of(account)),
            None => Cow::Borrowed(account),
        }
    }

    /// Whether records that are not sealed are read; false unless set, and then they are an error.
    ///
    /// For the days in which a store that was not sealed changes over: each record is sealed when it is next written.
    /// Set, it lets those who can write to the store slip in tokens of theirs, so take it out afterwards.
    #[must_use]
    pub fn accept_unsealed_records(mut self, yes: bool) -> Self {
        self.accept_unsealed = yes;
        self
    }

    fn seal(&self, account: &str, record: &Record) -> Result<Record, StoreError> {
        let seal = self.keys[0].seal(account, &record.to_secret_json())?;
        Ok(record.sealed(seal))
    }

    fn open(&self, account: &str, stored: Versioned) -> Result<Versioned, StoreError> {
        let Some(seal) = stored.record.seal() else {
            return if self.accept_unsealed {
                Ok(stored)
            } else {
                Err(StoreError::of(
                    StoreErrorKind::Unreadable,
                    "the stored record is not sealed",
                ))
            };
        };
        let mut keys = self.keys.iter().filter(|key| key.id() == seal.key_id());
        let Some(key) = keys.next() else {
            return Err(missing_key(seal.key_id()));
        };
        let text = key.open(account, seal).ok_or_else(|| {
            StoreError::of(StoreErrorKind::Unreadable, "the stored record does not open: it was changed, moved, or sealed with another key of the same id",
            )
        })?;
        let record = Record::from_secret_json(&text)?;
        Ok(Versioned::new(stored.version, record))
    }
}

impl<S: TokenStore> TokenStore for SealedStore<S> {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Versioned>, StoreError>> {
        Box::pin(async move {
            let stored = self.inner.load(&self.stored_account(key)).await?;
            stored.map(|stored| self.open(key, stored)).transpose()
        })
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> BoxFuture<'a, Result<Option<Version>, StoreError>> {
        Box::pin(async move {
            let sealed = self.seal(key, new)?;
            let account = self.stored_account(key);
            self.inner.swap(&account, expected, &sealed).await
        })
    }

    fn remove<'a>(
        &'a self,
        key: &'a str,
        expected: Version,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let account = self.stored_account(key);
            self.inner.remove(&account, expected).await
        })
    }

    fn lock<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> BoxFuture<'a, Result<StoreGuard, StoreError>> {
        Box::pin(async move { self.inner.lock(&self.stored_account(key), wait).await })
    }

    fn lock_and_load<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> BoxFuture<'a, Result<(StoreGuard, Option<Versioned>), StoreError>> {
        Box::pin(async move {
            let account = self.stored_account(key);
            let (guard, stored) = self.inner.lock_and_load(&account, wait).await?;
            let opened = stored.map(|stored| self.open(key, stored)).transpose()?;
            Ok((guard, opened))
        })
    }

    /// What was sealed with a key that is not here stays: another host can read it.
    fn set_aside_unreadable<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let account = self.stored_account(key);
            match self.inner.load(&account).await {
                Ok(None) => Ok(false),
                Ok(Some(stored)) => {
                    let version = stored.version;
                    match self.open(key, stored) {
                        Err(error) if is_damaged(&error) => {
                            self.inner.remove(&account, version).await
                        }
                        _ => Ok(false),
                    }
                }
                Err(_) => self.inner.set_aside_unreadable(&account).await,
            }
        })
    }

    fn lock_survives_faults(&self) -> bool {
        self.inner.lock_survives_faults()
    }
}

/// The id is shown, in part when it is long: the store may hold anything there.
pub(super) fn missing_key(id: &str) -> StoreError {
    let shown: String = id.chars().take(64).flat_map(char::escape_debug).collect();
    let message = format!(
        "the stored record is sealed with the key \"{shown}\", which this process does not have"
    );
    let mut error = StoreError::of(StoreErrorKind::Unreadable, message);
    error.missing_key_id = Some(id.to_owned());
    error
}

/// Whether no host can read it: neither one with another key, nor one of a newer version.
fn is_damaged(error: &StoreError) -> bool {
    error.is_unreadable() && !error.is_newer_version() && error.missing_key_id().is_none()
}

impl<S: fmt::Debug> fmt::Debug for SealedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedStore")
            .field("inner", &self.inner)
            .field("keys", &self.keys)
            .field("hashes_accounts", &self.account_hash.is_some())
            .finish_non_exhaustive()
    }
}
