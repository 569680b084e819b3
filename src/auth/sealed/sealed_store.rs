//! A wrapper that encrypts the records of a store.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use hmac_sha2::Sha256;
use zeroize::Zeroizing;

use crate::auth::store::StoreErrorKind;
use crate::auth::store::record::Seal;
use crate::auth::{Record, StoreError, StoreGuard, TokenSet, TokenStore, Version, Versioned};
use crate::secret::Secret;

/// The size of the nonce, which precedes the ciphertext.
const NONCE: usize = 24;

/// Separates these hashes from other uses of the same key.
const HASH_DOMAIN: &[u8] = b"envd-sdk account key 1\0";

/// A 256-bit key that encrypts records, with the id by which records refer to it. Wiped from memory when dropped.
///
/// See [`SealedStore`] for an example.
#[derive(Clone)]
pub struct SealingKey {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl SealingKey {
    /// Creates a key from 32 random bytes, for example from `openssl rand 32` or a key service.
    ///
    /// The id is stored in clear with each record. Give each new key a new id, such as the month of its first use.
    pub fn new(id: impl Into<String>, bytes: &[u8; 32]) -> Self {
        Self {
            id: id.into(),
            cipher: XChaCha20Poly1305::new(bytes.into()),
        }
    }

    /// Encrypts a text. Decryption requires the same `bound_to`.
    pub(crate) fn seal(&self, bound_to: &[u8], text: &str) -> Result<Seal, StoreError> {
        // Random nonces of 24 bytes do not collide, so no counter is needed.
        let nonce = XNonce::try_generate().map_err(|_| {
            StoreError::new(
                StoreErrorKind::Other,
                "the operating system returns no random numbers",
            )
        })?;
        let payload = Payload {
            msg: text.as_bytes(),
            aad: bound_to,
        };
        let mut sealed = nonce.to_vec();
        let ciphertext = self.cipher.encrypt(&nonce, payload);
        sealed.extend(ciphertext.map_err(|_| {
            StoreError::new(StoreErrorKind::Other, "the record cannot be encrypted")
        })?);
        Ok(Seal {
            key_id: self.id.clone(),
            text: STANDARD.encode(sealed),
        })
    }

    /// `None` if this key did not seal it for `bound_to`.
    pub(super) fn open(&self, bound_to: &[u8], seal: &Seal) -> Option<Secret> {
        let sealed = STANDARD.decode(&seal.text).ok()?;
        let (nonce, ciphertext) = sealed.split_at_checked(NONCE)?;
        let payload = Payload {
            msg: ciphertext,
            aad: bound_to,
        };
        let nonce = XNonce::try_from(nonce).ok()?;
        let opened = Zeroizing::new(self.cipher.decrypt(&nonce, payload).ok()?);
        Some(Secret::new(std::str::from_utf8(&opened).ok()?))
    }

    /// Seals with the first key.
    pub(crate) fn seal_with(
        keys: &[Self],
        bound_to: &[u8],
        text: &str,
    ) -> Result<Seal, StoreError> {
        let key = keys.first();
        key.ok_or_else(|| StoreError::new(StoreErrorKind::Other, "there is no sealing key"))?
            .seal(bound_to, text)
    }

    /// Opens with the key that the seal names.
    pub(crate) fn open_with(
        keys: &[Self],
        bound_to: &[u8],
        seal: &Seal,
    ) -> Result<Secret, StoreError> {
        let key = keys
            .iter()
            .find(|key| key.id == seal.key_id)
            .ok_or_else(|| missing_key(&seal.key_id))?;
        key.open(bound_to, seal).ok_or_else(|| {
            let message = "the stored record does not open: it was changed, moved, or sealed with another key of the same id";
            StoreError::new(StoreErrorKind::Unreadable, message)
        })
    }
}

debug_shows!(SealingKey, |it| id: it.id);

/// HMAC-SHA256 for text to be added. The domain separates it from other uses of the key.
pub(crate) fn keyed_hash(key: &[u8; 32], domain: &[u8]) -> Hmac<Sha256> {
    // The block size of SHA-256: RFC 2104 pads shorter keys with zeros.
    let mut block = Zeroizing::new([0; 64]);
    for (filled, byte) in block.iter_mut().zip(key) {
        *filled = *byte;
    }
    let mut hash = Hmac::<Sha256>::new((&*block).into());
    hash.update(domain);
    hash
}

/// The record with a seal, keeping only its times, generation and refresh mark in clear.
pub(super) fn sealed_record(record: &Record, seal: Seal) -> Record {
    let tokens = TokenSet {
        access_token: Secret::default(),
        refresh_token: None,
        id_token: None,
        subject: None,
        scopes: Vec::new(),
        ..record.tokens.clone()
    };
    Record {
        refresh_mark: record.refresh_mark,
        seal: Some(seal),
        ..Record::new(tokens)
    }
}

/// Encrypts the records of another store, so that no token can be read from that store.
///
/// You provide the key; keep it separate from the store.
///
/// # Changing the key
///
/// Hosts are deployed one after another, and each must be able to read the records of all others. Therefore, changing the key
/// takes three deployments:
///
/// 1. every host gets the new key as a [`reading_key`](Self::reading_key), and still seals with the old one;
/// 2. every host seals with the new key, and keeps the old one as a reading key;
/// 3. once every record was rewritten, at the latest when all earlier sessions have ended, remove the old key.
///
/// A host that lacks a record's key leaves the record unchanged, and its error has the id of the key:
/// [`StoreError::missing_key_id`].
///
/// ```
/// use envd_sdk::auth::FileStore;
/// use envd_sdk::auth::sealed::{SealedStore, SealingKey};
///
/// # let this_year = [1; 32];
/// # let last_year = [2; 32];
/// // The second deployment.
/// let store = SealedStore::new(FileStore::new("tokens.json"), SealingKey::new("2027", &this_year))
///     .reading_key(SealingKey::new("2026", &last_year));
/// # let _ = store;
/// ```
#[derive(Clone)]
pub struct SealedStore<S> {
    inner: S,
    keys: Arc<Vec<SealingKey>>,
    /// Hashes account keys. Wiped from memory when dropped.
    account_hash: Option<Hmac<Sha256>>,
    accept_unsealed: bool,
}

impl<S: TokenStore> SealedStore<S> {
    /// Encrypts data written to `inner` with this key, and decrypts data read from it.
    pub fn new(inner: S, key: SealingKey) -> Self {
        Self {
            inner,
            keys: Arc::new(vec![key]),
            account_hash: None,
            accept_unsealed: false,
        }
    }

    /// Adds a key for decryption only: the next key, or the previous one.
    #[must_use]
    pub fn reading_key(mut self, key: SealingKey) -> Self {
        Arc::make_mut(&mut self.keys).push(key);
        self
    }

    /// Hides accounts from the inner store, which gets an HMAC-SHA256 of each account's key instead.
    ///
    /// For account keys that are names of people or secrets, such as session ids. The hash key is separate from the sealing
    /// key, has 32 random bytes, and must not change when the sealing key does: with a different hash key, no record is found,
    /// and all users have to log in again. Records stored before this was enabled are not found either. To keep them, rename
    /// each to its [`stored_account`](Self::stored_account) while no host runs.
    ///
    /// ```
    /// use envd_sdk::auth::MemoryStore;
    /// use envd_sdk::auth::sealed::{SealedStore, SealingKey};
    ///
    /// # let sealing = [1; 32];
    /// # let accounts = [2; 32];
    /// let store = SealedStore::new(MemoryStore::new(), SealingKey::new("2027", &sealing));
    /// let store = store.hash_accounts(&accounts);
    /// assert!(!store.stored_account("sam@example.com").contains("sam"));
    /// ```
    #[must_use]
    pub fn hash_accounts(mut self, key: &[u8; 32]) -> Self {
        let hash = keyed_hash(key, HASH_DOMAIN);
        self.account_hash = Some(hash);
        self
    }

    /// The key under which the inner store keeps an account, to find, rename or delete its record there.
    pub fn stored_account<'a>(&self, account: &'a str) -> Cow<'a, str> {
        match &self.account_hash {
            Some(hash) => {
                let hash = hash.clone().chain_update(account).finalize().into_bytes();
                // 43 characters, which fit every store.
                Cow::Owned(URL_SAFE_NO_PAD.encode(hash))
            }
            None => Cow::Borrowed(account),
        }
    }

    /// Whether to accept records that are not sealed; defaults to false, which makes them an error.
    ///
    /// Use it to migrate a store that was not sealed: each record is sealed at its next write. While it is set, anyone who can
    /// write to the store can insert tokens, so remove it afterwards.
    #[must_use]
    pub fn accept_unsealed_records(mut self, yes: bool) -> Self {
        self.accept_unsealed = yes;
        self
    }

    fn open(&self, account: &str, stored: Versioned) -> Result<Versioned, StoreError> {
        let unreadable = |message| StoreError::new(StoreErrorKind::Unreadable, message);
        let Some(seal) = &stored.record.seal else {
            let refused = unreadable("the stored record is not sealed");
            return self.accept_unsealed.then_some(stored).ok_or(refused);
        };
        let text = SealingKey::open_with(&self.keys, account.as_bytes(), seal)?;
        Ok(Versioned::new(
            stored.version,
            Record::from_secret_json(&text)?,
        ))
    }
}

#[async_trait]
impl<S: TokenStore> TokenStore for SealedStore<S> {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let stored = self.inner.load(&self.stored_account(key)).await?;
        stored.map(|stored| self.open(key, stored)).transpose()
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let text = new.to_secret_json();
        let seal = SealingKey::seal_with(&self.keys, key.as_bytes(), text.expose())?;
        let sealed = sealed_record(new, seal);
        let account = self.stored_account(key);
        self.inner.swap(&account, expected, &sealed).await
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let account = self.stored_account(key);
        self.inner.remove(&account, expected).await
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        self.inner.lock(&self.stored_account(key), wait).await
    }

    async fn lock_and_load(
        &self,
        key: &str,
        wait: Duration,
    ) -> Result<(StoreGuard, Option<Versioned>), StoreError> {
        let account = self.stored_account(key);
        let (guard, stored) = self.inner.lock_and_load(&account, wait).await?;
        let opened = stored.map(|stored| self.open(key, stored)).transpose()?;
        Ok((guard, opened))
    }

    /// A record sealed with a key that this process lacks is left alone: another host can read it.
    async fn set_aside_unreadable(&self, key: &str) -> Result<bool, StoreError> {
        let account = self.stored_account(key);
        let Ok(stored) = self.inner.load(&account).await else {
            return self.inner.set_aside_unreadable(&account).await;
        };
        let Some(stored) = stored else {
            return Ok(false);
        };
        let version = stored.version;
        match self.open(key, stored) {
            Err(error) if is_damaged(&error) => self.inner.remove(&account, version).await,
            _ => Ok(false),
        }
    }

    fn lock_survives_faults(&self) -> bool {
        self.inner.lock_survives_faults()
    }

    fn describe(&self) -> String {
        format!("{}, sealed", self.inner.describe())
    }
}

/// Shows a limited, escaped part of the id, because the store may contain any text instead.
fn missing_key(id: &str) -> StoreError {
    let shown: String = id.chars().take(64).flat_map(char::escape_debug).collect();
    let message = format!(
        "the stored record is sealed with the key \"{shown}\", which this process does not have"
    );
    let mut error = StoreError::new(StoreErrorKind::Unreadable, message);
    error.missing_key_id = Some(id.to_owned());
    error
}

/// Whether no host can read it: neither one with another key, nor one with a newer version.
fn is_damaged(error: &StoreError) -> bool {
    error.kind() == StoreErrorKind::Unreadable && error.missing_key_id().is_none()
}

debug_shows!(SealedStore<S: std::fmt::Debug>, |it|
    inner: it.inner,
    keys: it.keys,
    hashes_accounts: it.account_hash.is_some(),
);
