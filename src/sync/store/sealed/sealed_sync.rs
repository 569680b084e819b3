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
        serde_json::to_string(&seal).map_err(|_| StoreError::new("a seal cannot be written"))
    }

    fn open(&self, bound_to: &[&str], sealed: &str) -> Result<String, StoreError> {
        let seal: Seal = serde_json::from_str(sealed)
            .map_err(|_| unreadable("what the store of the copy holds is not sealed"))?;
        let opened = SealingKey::open_with(&self.keys, &joined(bound_to), &seal)?;
        Ok(opened.expose().to_owned())
    }

    fn sealed_keys(&self, account: &str, keys: &RowKeys) -> RowKeys {
        RowKeys {
            number: self.hashed_key(account, "number", keys.number.as_ref()),
            origin_pic: self.hashed_key(account, "pic", keys.origin_pic.as_ref()),
            destination_pic: self.hashed_key(account, "pic", keys.destination_pic.as_ref()),
            ..keys.clone()
        }
    }

    fn sealed_row(&self, account: &str, row: &Row) -> Result<Row, StoreError> {
        let (keys, payload) = (&row.keys, &*row.payload);
        let text = serde_json::to_string(&SealedRow { keys, payload })
            .map_err(|_| StoreError::new("a row cannot be written"))?;
        Ok(Row {
            id: row.id.clone(),
            sequence: row.sequence,
            generation: row.generation,
            keys: self.sealed_keys(account, keys),
            payload: self.seal(&["row", account, &row.id], &text)?,
        })
    }

    fn opened_row(&self, account: &str, row: Row) -> Result<Row, StoreError> {
        let text = self.open(&["row", account, &row.id], &row.payload)?;
        let SealedRow { keys, payload } = serde_json::from_str(&text)
            .map_err(|_| unreadable("a sealed row has a form that this version does not know"))?;
        Ok(Row {
            keys,
            payload,
            ..row
        })
    }

    fn sealed_query(&self, account: &str, query: &Query) -> Query {
        // Of the row before, the order needs these alone.
        let position = |row: &Row| Row {
            id: row.id.clone(),
            sequence: row.sequence,
            keys: RowKeys {
                updated_at: row.keys.updated_at.clone(),
                ..RowKeys::default()
            },
            ..Row::default()
        };
        Query {
            number: self.hashed_key(account, "number", query.number.as_ref()),
            pic: self.hashed_key(account, "pic", query.pic.as_ref()),
            after: query.after.as_ref().map(position),
            ..query.clone()
        }
    }

    fn sealed_batch(&self, account: &str, batch: &Batch) -> Result<Batch, StoreError> {
        let document = |(name, text): &(String, Option<String>)| {
            let text = text.as_ref();
            let sealed = text.map(|text| self.seal(&["document", account, name], text));
            Ok((name.clone(), sealed.transpose()?))
        };
        let rows = batch.rows.iter().map(|row| self.sealed_row(account, row));
        let change = |change: &ChangeRow| {
            let number = change.sequence.to_string();
            let bound_to = ["change", account, &change.id, &number];
            Ok(ChangeRow {
                payload: self.seal(&bound_to, &change.payload)?,
                id: change.id.clone(),
                ..*change
            })
        };
        Ok(Batch {
            expected: batch.expected.clone(),
            documents: batch
                .documents
                .iter()
                .map(document)
                .collect::<Result<_, StoreError>>()?,
            rows: rows.collect::<Result<_, _>>()?,
            seen: batch.seen.clone(),
            removed: batch.removed.clone(),
            changes: batch
                .changes
                .iter()
                .map(change)
                .collect::<Result<_, StoreError>>()?,
            forget_changes: batch.forget_changes,
        })
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
        let rows = rows.into_iter().map(|row| self.opened_row(account, row));
        rows.collect()
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError> {
        let query = self.sealed_query(account, query);
        let stored = self.stored_account(account);
        let rows = self.inner.query(&stored, &query).await?;
        let rows = rows.into_iter().map(|row| self.opened_row(account, row));
        rows.collect()
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        let query = self.sealed_query(account, query);
        let stored = self.stored_account(account);
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
        let sealed = self.sealed_batch(account, batch)?;
        let stored = self.stored_account(account);
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
    StoreError::of(StoreErrorKind::Unreadable, message)
}
