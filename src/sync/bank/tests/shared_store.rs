//! A store in memory that another process writes to between a read and a commit.

use std::sync::{Arc, Mutex};

use crate::auth::BoxFuture;
use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, MemorySync, Query, Row, StoreError, StoreFuture,
    SyncStore,
};

/// What the other process does, once.
type Act = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

#[derive(Clone, Default)]
pub(super) struct SharedStore {
    pub(super) store: MemorySync,
    before_commit: Arc<Mutex<Option<Act>>>,
    /// All commits, with whether they wrote.
    commits: Arc<Mutex<Vec<bool>>>,
    is_full: Arc<Mutex<bool>>,
}

impl SharedStore {
    /// Does something before the next commit.
    pub(super) fn before_commit(
        &self,
        act: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static,
    ) {
        *self.before_commit.lock().unwrap() = Some(Box::new(act));
    }

    /// The commits since the last call, with whether they wrote.
    pub(super) fn commits(&self) -> Vec<bool> {
        std::mem::take(&mut self.commits.lock().unwrap())
    }

    /// Fails all commits from now on.
    pub(super) fn fill(&self) {
        *self.is_full.lock().unwrap() = true;
    }
}

impl SyncStore for SharedStore {
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
        Box::pin(async move {
            let act = self.before_commit.lock().unwrap().take();
            if let Some(act) = act {
                act().await;
            }
            if *self.is_full.lock().unwrap() {
                return Err(StoreError::new("the disk is full"));
            }
            let is_written = self.store.commit(account, batch).await?;
            self.commits.lock().unwrap().push(is_written);
            Ok(is_written)
        })
    }
}
