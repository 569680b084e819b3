//! The interface of stores.

use std::sync::Arc;

use async_trait::async_trait;

use super::rows::{Batch, ChangeRange, ChangeRow, Document, Query, RecordRow};
use envd_sdk::auth::StoreError;

/// Keeps rows, changes and small documents, separately for each account; it interprets none of them.
///
/// Applications choose one of [this module](super) or `PostgresSync`, also behind an [`Arc`]:
///
/// ```
/// # test_support::example(async {
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
/// assert!(Outbox::new(&replica).declarations().await?.is_empty());
/// # Ok(()) });
/// ```
///
/// # Authors of stores
///
/// This trait and the types of [`rows`](super::rows) may change in a minor release of this crate.
///
/// The most important rule is that of [`commit`](Self::commit): a [`Batch`] is atomic, and nothing is written unless all documents
/// have their expected versions. Several processes may use a store at the same time, with no lock between them. `check_sync_store`,
/// which the feature `requirements` adds, checks all rules: call it in your own test.
///
/// An account is any text, without meaning for the store. Names, ids and payloads may be any text as well. A store that cannot keep
/// a NUL character, or a number above [`i64::MAX`], must fail and write nothing.
///
/// A method fails with a [`StoreError`]. Its [kind](StoreError::kind) tells a user what to do, and its text is safe to log. After
/// [`Unreachable`](super::StoreErrorKind::Unreachable) and [`LockTimeout`](super::StoreErrorKind::LockTimeout) callers retry later.
///
/// A store that wraps another one, and its test:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use async_trait::async_trait;
/// use envd_sync::store::rows::{Batch, ChangeRange, ChangeRow, Document, Query, RecordRow};
/// use envd_sync::store::{MemorySync, StoreError, SyncStore, check_sync_store};
///
/// /// Counts the batches that were written.
/// #[derive(Clone, Default)]
/// struct CountingSync {
///     inner: MemorySync,
///     written: Arc<AtomicU64>,
/// }
///
/// #[async_trait]
/// impl SyncStore for CountingSync {
///     async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
///         self.inner.documents(account, prefix).await
///     }
///
///     async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<RecordRow>, StoreError> {
///         self.inner.rows(account, ids).await
///     }
///
///     async fn query(&self, account: &str, query: &Query) -> Result<Vec<RecordRow>, StoreError> {
///         self.inner.query(account, query).await
///     }
///
///     async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
///         self.inner.count(account, query).await
///     }
///
///     async fn changes(
///         &self,
///         account: &str,
///         range: ChangeRange,
///         limit: usize,
///     ) -> Result<Vec<ChangeRow>, StoreError> {
///         self.inner.changes(account, range, limit).await
///     }
///
///     async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
///         let written = self.inner.commit(account, batch).await?;
///         self.written.fetch_add(written.into(), Ordering::Relaxed);
///         Ok(written)
///     }
/// }
///
/// # test_support::example(async {
/// let store = CountingSync::default();
/// let opened = store.clone();
/// check_sync_store(move || opened.clone()).await;
/// assert!(store.written.load(Ordering::Relaxed) > 0);
/// # Ok(()) });
/// ```
///
/// # Cancel safety
///
/// The future of any method may be dropped before it completes. A dropped [`commit`](Self::commit) may have written its batch,
/// completely or not at all; the other methods write nothing.
#[async_trait]
pub trait SyncStore: Send + Sync + 'static {
    /// Returns the documents whose names begin with `prefix`, ordered by the bytes of their names.
    ///
    /// The prefix is compared character by character: `%` and `_` have no special meaning. An empty prefix matches all documents.
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError>;

    /// Returns the rows with these ids, in any order; ids without a row are ignored.
    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<RecordRow>, StoreError>;

    /// Returns the rows that meet all conditions of a query, in its order: at most [`limit`](Query::limit) rows after the position
    /// [`after`](Query::after).
    ///
    /// The row of `after` may be gone or changed: its id, sequence and keys as given define the position. A row that keeps its
    /// place in the order appears exactly once on the pages of a query, regardless of writes between two pages.
    async fn query(&self, account: &str, query: &Query) -> Result<Vec<RecordRow>, StoreError>;

    /// Counts the rows that meet all conditions of a query; `after` and `limit` are ignored.
    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError>;

    /// Returns the first `limit` changes of a range, in its order.
    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError>;

    /// Writes a batch and returns `true`, or writes nothing and returns `false` if a document does not have its expected version.
    ///
    /// The comparison and the write are one step: of several commits that expect the same version and write the document, one
    /// succeeds, even across processes. A read at any time sees either the complete batch or none of it. Once the method has
    /// returned `true`, the batch survives a crash of the process and of the machine, unless the store is in memory. After an
    /// error, or if the future was dropped, the batch may have been written completely; callers then read again and continue from
    /// the stored state.
    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError>;

    /// The name of the store in error messages, such as the path of its file.
    fn name(&self) -> String {
        "the store".to_owned()
    }
}

#[async_trait]
impl<S: SyncStore + ?Sized> SyncStore for Arc<S> {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        (**self).documents(account, prefix).await
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<RecordRow>, StoreError> {
        (**self).rows(account, ids).await
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<RecordRow>, StoreError> {
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

    fn name(&self) -> String {
        (**self).name()
    }
}
