//! A store that ends a program after a number of commits, and counts them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::auth::BoxFuture;
use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, MemorySync, Query, Row, StoreError, StoreFuture,
    SyncStore,
};

/// Passes everything on to a store, until its commits are used up.
#[derive(Clone)]
pub(super) struct FaultyStore {
    pub(super) store: MemorySync,
    left: Arc<AtomicUsize>,
    commits: Arc<AtomicUsize>,
    before: Arc<Mutex<Option<(usize, Act)>>>,
}

/// What another process does.
type Act = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

impl FaultyStore {
    /// Fails all commits after so many.
    pub(super) fn new(store: &MemorySync, commits: usize) -> Self {
        Self {
            store: store.clone(),
            left: Arc::new(commits.into()),
            commits: Arc::default(),
            before: Arc::default(),
        }
    }

    /// Does something before the commit with this number from now on, from 1.
    pub(super) fn before_commit(
        &self,
        number: usize,
        act: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static,
    ) {
        let number = self.commits() + number;
        *self.before.lock().unwrap() = Some((number, Box::new(act)));
    }

    /// How many commits were tried.
    pub(super) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }
}

impl SyncStore for FaultyStore {
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
            let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
            let act = self.before.lock().unwrap().take_if(|(at, _)| *at == number);
            if let Some((_, act)) = act {
                act().await;
            }
            let take = |left: usize| left.checked_sub(1);
            let taken = self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
            taken.map_err(|_| StoreError::new("the program ended"))?;
            self.store.commit(account, batch).await
        })
    }
}
