//! The interface of stores.

use std::sync::Arc;

use super::{Batch, ChangeRange, ChangeRow, Document, Query, Row, StoreFuture};

/// Keeps the copies of accounts. The stores of [this module](super) implement it; methods may be added in any version.
///
/// A store holds rows, changes and small documents, apart for each account, and interprets none of them. One rule matters
/// most: a [`Batch`] is written whole or not at all, and not at all unless all documents have the expected versions. Several
/// processes may then use a store at the same time, with no lock between them.
///
/// When [`commit`](Self::commit) has returned, what it wrote survives the end of the process and of the machine.
///
/// What a store is given, and what it returns:
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::sync::store::{Batch, ChangeRange, MemorySync, Query, Row, SyncStore};
///
/// let store = MemorySync::new();
/// let mut row = Row::default();
/// (row.id, row.sequence, row.payload) = ("7".to_owned(), 1, r#"{"id": "7"}"#.to_owned());
/// row.keys.status = Some("DRAFT".to_owned());
/// let mut batch = Batch::default();
/// batch.rows.push(row);
/// batch.expected.push(("state".to_owned(), 0)); // It must not be there yet.
/// batch.documents.push(("state".to_owned(), Some("{}".to_owned())));
/// assert!(store.commit("envd-7", &batch).await?);
/// assert!(!store.commit("envd-7", &batch).await?); // It is at version 1 now.
///
/// let mut query = Query::default();
/// (query.status, query.limit) = (Some("DRAFT".to_owned()), 10);
/// assert_eq!(store.query("envd-7", &query).await?[0].id, "7");
/// assert_eq!(store.documents("envd-7", "").await?[0].version, 1);
/// assert!(store.changes("envd-7", ChangeRange::After(0), 10).await?.is_empty());
/// # Ok(()) });
/// ```
pub trait SyncStore: Send + Sync + 'static {
    /// The documents of an account whose names begin with a text, ordered by name.
    fn documents<'a>(&'a self, account: &'a str, prefix: &'a str)
    -> StoreFuture<'a, Vec<Document>>;

    /// The rows with these ids, in any order, without those that are not there.
    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>>;

    /// The rows that meet a query, in its order.
    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>>;

    /// How many rows meet a query, whatever its `after` and `limit`.
    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64>;

    /// At most `limit` changes of an account.
    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>>;

    /// Writes a batch, and returns whether it did: `false` if a document does not have its expected version.
    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool>;
}

/// A store that several replicas share.
impl<S: SyncStore + ?Sized> SyncStore for Arc<S> {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        (**self).documents(account, prefix)
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        (**self).rows(account, ids)
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        (**self).query(account, query)
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        (**self).count(account, query)
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        (**self).changes(account, range, limit)
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        (**self).commit(account, batch)
    }
}
