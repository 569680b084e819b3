//! Encrypts rows, changes and documents around a store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use hmac_sha2::Sha256;
use serde::{Deserialize, Serialize};

use crate::auth::StoreError;
use crate::auth::sealed::SealingKey;
use crate::auth::sealed::sealed_store::keyed_hash;
use crate::auth::store::StoreErrorKind;
use crate::auth::store::record::Seal;
use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, Query, Row, RowKeys, RowStore, SyncStore,
};

/// Separates these hashes from any other use of the same key.
const HASH_DOMAIN: &[u8] = b"envd-sdk copy 1\0";

/// Encrypts the copies in another store, so that no record can be read from that store (feature `sealed`).
///
/// Payloads of records and changes, and the texts of documents, are encrypted with XChaCha20-Poly1305. Each is bound to its
/// account and to its id, name or number, and opens nowhere else; an older one of the same record can be put back by a person
/// who can write to the store. The names of accounts, PICs and the numbers of consignments are replaced by HMAC-SHA256 of
/// them, so rows are still found by them.
///
/// The inner store keeps in the clear: ids, statuses, species, days of movements, instants of updates, the names of documents
/// and thereby of consumers, the id of the sealing key, and how large everything is.
///
/// You provide both keys; keep them apart from the store. The sealing key is changed in three deploys, as that of
/// [`SealedStore`](crate::auth::sealed::SealedStore): what is not written again keeps the old key, so drop that key only after
/// the copy was made anew. The key of the hashes stays: with another one nothing is found.
///
/// ```
/// use envd_sdk::auth::sealed::SealingKey;
/// use envd_sdk::sync::store::{MemorySync, SealedSync};
///
/// # let (sealing, hashes) = ([1; 32], [2; 32]);
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let store = SealedSync::new(MemorySync::new(), SealingKey::new("2027", &sealing), &hashes);
/// let replica = account.replica(store);
/// replica.sync().await?;
/// assert!(replica.consignments().count().await? > 0);
/// # Ok(()) });
/// ```
///
/// # Errors
///
/// Those of the inner store. What does not open is [`is_unreadable`](StoreError::is_unreadable); if this process lacks its
/// key, [`missing_key_id`](StoreError::missing_key_id) names the key.
#[derive(Clone)]
pub struct SealedSync<S> {
    inner: S,
    keys: Arc<Vec<SealingKey>>,
    hash: Hmac<Sha256>,
}

/// What is sealed of a row: its keys as well, for the store has hashes of some.
#[derive(Serialize, Deserialize)]
struct SealedRow<K, P> {
    keys: K,
    payload: P,
}

impl<S: SyncStore> SealedSync<S> {
    /// Encrypts with the key what is written to `inner`, and decrypts what is read from it. `hash_key` are 32 random bytes.
    #[must_use]
    pub fn new(inner: S, key: SealingKey, hash_key: &[u8; 32]) -> Self {
        Self {
            inner,
            keys: Arc::new(vec![key]),
            hash: keyed_hash(hash_key, HASH_DOMAIN),
        }
    }

    /// Adds a key that decrypts and does not encrypt: the next one, or the previous one.
    #[must_use]
    pub fn reading_key(mut self, key: SealingKey) -> Self {
        Arc::make_mut(&mut self.keys).push(key);
        self
    }

    /// The name under which the inner store keeps an account: to find or delete it there.
    #[must_use]
    pub fn stored_account(&self, account: &str) -> String {
        self.hashed(&["account", account])
    }

    fn hashed(&self, parts: &[&str]) -> String {
        let hash = self.hash.clone().chain_update(joined(parts));
        URL_SAFE_NO_PAD.encode(hash.finalize().into_bytes())
    }

    fn hashed_key(&self, account: &str, kind: &str, key: Option<&String>) -> Option<String> {
        key.map(|key| self.hashed(&[kind, account, key]))
    }

    fn seal(&self, bound_to: &[&str], text: &str) -> Result<String, StoreError> {
        let seal = SealingKey::seal_with(&self.keys, &joined(bound_to), text)?;
        serde_json::to_string(&seal)
            .map_err(|_| StoreError::new(StoreErrorKind::Other, "a seal cannot be written"))
    }

    fn open(&self, bound_to: &[&str], sealed: &str) -> Result<String, StoreError> {
        let seal: Seal = serde_json::from_str(sealed)
            .map_err(|_| unreadable("what the store of the copy holds is not sealed"))?;
        let opened = SealingKey::open_with(&self.keys, &joined(bound_to), &seal)?;
        Ok(opened.expose().to_owned())
    }

    /// With hashes in the place of what nobody may read in the store.
    fn hash_keys(&self, account: &str, keys: &mut RowKeys) {
        for (kind, key) in [
            ("number", &mut keys.number),
            ("pic", &mut keys.origin_pic),
            ("pic", &mut keys.destination_pic),
        ] {
            *key = self.hashed_key(account, kind, key.as_ref());
        }
    }

    fn seal_row(&self, account: &str, row: &mut Row) -> Result<(), StoreError> {
        let (keys, payload) = (&row.keys, &*row.payload);
        let text = serde_json::to_string(&SealedRow { keys, payload })
            .map_err(|_| StoreError::new(StoreErrorKind::Other, "a row cannot be written"))?;
        row.payload = self.seal(&["row", account, &row.id], &text)?;
        self.hash_keys(account, &mut row.keys);
        Ok(())
    }

    fn opened_rows(&self, account: &str, mut rows: Vec<Row>) -> Result<Vec<Row>, StoreError> {
        for row in &mut rows {
            let text = self.open(&["row", account, &row.id], &row.payload)?;
            let sealed: SealedRow<_, _> = serde_json::from_str(&text).map_err(|_| {
                unreadable("a sealed row has a form that this version does not know")
            })?;
            (row.keys, row.payload) = (sealed.keys, sealed.payload);
        }
        Ok(rows)
    }

    /// The account and a query as the inner store knows them.
    fn sealed_query(&self, account: &str, query: &Query) -> (String, Query) {
        let mut query = query.clone();
        query.number = self.hashed_key(account, "number", query.number.as_ref());
        query.pic = self.hashed_key(account, "pic", query.pic.as_ref());
        if let Some(after) = &mut query.after {
            // Of the row before, the order needs nothing that is sealed.
            after.payload.clear();
            self.hash_keys(account, &mut after.keys);
        }
        (self.stored_account(account), query)
    }

    fn sealed_batch(&self, account: &str, batch: &Batch) -> Result<Batch, StoreError> {
        let mut batch = batch.clone();
        for (name, text) in &mut batch.documents {
            if let Some(text) = text {
                *text = self.seal(&["document", account, name], text)?;
            }
        }
        for row in &mut batch.rows {
            self.seal_row(account, row)?;
        }
        for change in &mut batch.changes {
            let number = change.sequence.to_string();
            change.payload =
                self.seal(&["change", account, &change.id, &number], &change.payload)?;
        }
        Ok(batch)
    }
}

#[async_trait]
impl<S: SyncStore> RowStore for SealedSync<S> {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        let stored = self.stored_account(account);
        let mut documents = self.inner.documents(&stored, prefix).await?;
        for document in &mut documents {
            let bound_to = ["document", account, &document.name];
            document.text = self.open(&bound_to, &document.text)?;
        }
        Ok(documents)
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<Row>, StoreError> {
        let rows = self.inner.rows(&self.stored_account(account), ids).await?;
        self.opened_rows(account, rows)
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError> {
        let (stored, query) = self.sealed_query(account, query);
        self.opened_rows(account, self.inner.query(&stored, &query).await?)
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        let (stored, query) = self.sealed_query(account, query);
        self.inner.count(&stored, &query).await
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        let stored = self.stored_account(account);
        let mut changes = self.inner.changes(&stored, range, limit).await?;
        for change in &mut changes {
            let number = change.sequence.to_string();
            let bound_to = ["change", account, &change.id, &number];
            change.payload = self.open(&bound_to, &change.payload)?;
        }
        Ok(changes)
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        let stored = self.stored_account(account);
        let sealed = self.sealed_batch(account, batch)?;
        self.inner.commit(&stored, &sealed).await
    }
}

impl<S: fmt::Debug> fmt::Debug for SealedSync<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedSync")
            .field("inner", &self.inner)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

/// The parts with their lengths before them, so that no two lists of parts are the same bytes.
fn joined(parts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part.as_bytes());
    }
    bytes
}

fn unreadable(message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Unreadable, message)
}
