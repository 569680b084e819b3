//! The wrapper.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::SealingKey;
use crate::auth::{BoxFuture, Record, StoreError, StoreGuard, TokenStore, Version, Versioned};

/// Encrypts the records of a store, so that nobody who reads the store reads a token.
///
/// The key comes from you; keep it apart from what it seals. To change it, make the new one the first and hand in the old
/// one as [`older_key`](Self::older_key) until every record was written once more: at the latest when all sessions of its
/// time have ended.
///
/// ```
/// use envd_sdk::auth::FileStore;
/// use envd_sdk::sealed::{SealedStore, SealingKey};
///
/// # let (this_year, last_year) = ([1; 32], [2; 32]);
/// let store = SealedStore::new(FileStore::new("tokens.json"), SealingKey::new("2027", &this_year))
///     .older_key(SealingKey::new("2026", &last_year));
/// # let _ = store;
/// ```
#[derive(Clone)]
pub struct SealedStore<S> {
    inner: S,
    keys: Arc<Vec<SealingKey>>,
    accept_unsealed: bool,
}

impl<S: TokenStore> SealedStore<S> {
    /// Seals with the key what goes into the store, and opens what comes out.
    #[must_use]
    pub fn new(inner: S, key: SealingKey) -> Self {
        Self {
            inner,
            keys: Arc::new(vec![key]),
            accept_unsealed: false,
        }
    }

    /// A key that opens records, and seals none any more.
    #[must_use]
    pub fn older_key(mut self, key: SealingKey) -> Self {
        Arc::make_mut(&mut self.keys).push(key);
        self
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
                Err(StoreError::unreadable("the stored record is not sealed"))
            };
        };
        let mut keys = self.keys.iter().filter(|key| key.id() == seal.key_id());
        let Some(key) = keys.next() else {
            return Err(StoreError::unreadable(
                "the stored record takes a sealing key that was not handed in",
            ));
        };
        let text = key.open(account, seal).ok_or_else(|| {
            StoreError::unreadable(
                "the stored record does not open: it was changed, moved, or sealed with another key of the same id",
            )
        })?;
        let record = Record::from_secret_json(&text)?;
        Ok(Versioned::new(stored.version, record))
    }
}

impl<S: TokenStore> TokenStore for SealedStore<S> {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Versioned>, StoreError>> {
        Box::pin(async move {
            let stored = self.inner.load(key).await?;
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
            self.inner.swap(key, expected, &sealed).await
        })
    }

    fn remove<'a>(
        &'a self,
        key: &'a str,
        expected: Version,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.inner.remove(key, expected)
    }

    fn lock<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> BoxFuture<'a, Result<StoreGuard, StoreError>> {
        self.inner.lock(key, wait)
    }

    fn lock_and_load<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> BoxFuture<'a, Result<(StoreGuard, Option<Versioned>), StoreError>> {
        Box::pin(async move {
            let (guard, stored) = self.inner.lock_and_load(key, wait).await?;
            let opened = stored.map(|stored| self.open(key, stored)).transpose()?;
            Ok((guard, opened))
        })
    }

    fn lock_survives_faults(&self) -> bool {
        self.inner.lock_survives_faults()
    }
}

impl<S: fmt::Debug> fmt::Debug for SealedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedStore")
            .field("inner", &self.inner)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}
