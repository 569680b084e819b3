//! A store that counts its writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use envd_sdk::auth::StoreFuture;
use envd_sdk::sync::store::{Batch, ChangeRange, ChangeRow, Document, Query, Row, SyncStore};

pub struct Counted<S> {
    pub store: S,
    pub writes: Arc<AtomicUsize>,
}

impl<S: SyncStore> SyncStore for Counted<S> {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        self.store.documents(account, prefix)
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        self.store.rows(account, ids)
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        self.store.query(account, query)
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        self.store.count(account, query)
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        self.store.changes(account, range, limit)
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.store.commit(account, batch)
    }
}
