//! The interface of stores.

use std::sync::Arc;

use async_trait::async_trait;

use super::rows::{Batch, ChangeRange, ChangeRow, Document, Query, Row};
use envd_sdk::auth::StoreError;

/// Keeps the copies of accounts: rows, changes and small documents, apart for each account. It interprets none of them.
///
/// One rule matters most: a [`Batch`] is written whole or not at all, and not at all unless all documents have the expected
/// versions. Several processes may use a store at the same time, with no lock between them. What [`commit`](Self::commit) has
/// written survives the end of the process and of the machine, unless the store is in memory.
///
/// Applications choose one of [this module](super) or `PostgresSync`, also behind an [`Arc`]:
///
/// ```
/// # equipment::example(async {
/// use std::sync::Arc;
///
/// use envd_sync::store::{MemorySync, SyncStore};
/// use envd_sync::{Outbox, Replica};
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let store: Arc<dyn SyncStore> = Arc::new(MemorySync::new()); // Or another one, by a setting.
/// let replica = Replica::new(&account, store);
/// replica.sync().await?;
/// assert!(Outbox::new(&replica).entries().await?.is_empty());
/// # Ok(()) });
/// ```
///
/// # Authors of stores
///
/// The types of [`rows`](super::rows) are what a store keeps and is asked for. The trait may change in a minor release of this crate.
#[async_trait]
pub trait SyncStore: Send + Sync + 'static {
    /// The documents of an account whose names begin with a text, ordered by name.
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError>;

    /// A document by its whole name.
    async fn document(&self, account: &str, name: &str) -> Result<Option<Document>, StoreError> {
        let documents = self.documents(account, name).await?;
        Ok(documents.into_iter().find(|found| found.name == name))
    }

    /// The rows with these ids, in any order, without those that are not there.
    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<Row>, StoreError>;

    /// The rows that meet a query, in its order.
    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError>;

    /// How many rows meet a query, whatever its `after` and `limit`.
    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError>;

    /// At most `limit` changes of an account.
    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError>;

    /// Writes a batch, and returns whether it did: `false` if a document does not have its expected version.
    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError>;
}

#[async_trait]
impl<S: SyncStore + ?Sized> SyncStore for Arc<S> {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        (**self).documents(account, prefix).await
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<Row>, StoreError> {
        (**self).rows(account, ids).await
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError> {
        (**self).query(account, query).await
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        (**self).count(account, query).await
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        (**self).changes(account, range, limit).await
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        (**self).commit(account, batch).await
    }
}
