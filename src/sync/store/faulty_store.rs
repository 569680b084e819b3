//! A store that ends a program after a number of commits, fails as a test says, and counts commits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::{
    Batch, ChangeRange, ChangeRow, Document, Query, Row, StoreError, StoreFuture, SyncStore,
};
use crate::auth::BoxFuture;

/// Passes everything on to a store, until its commits are used up.
#[derive(Clone)]
pub(crate) struct FaultyStore {
    store: Arc<dyn SyncStore>,
    left: Arc<AtomicUsize>,
    /// The first commit that fails is written nevertheless.
    writes_last: Arc<AtomicBool>,
    fails_reads: Arc<AtomicBool>,
    commits: Arc<AtomicUsize>,
    announcements: Arc<AtomicUsize>,
    fails_announcements: Arc<AtomicBool>,
    before: Arc<Mutex<Option<(usize, Act)>>>,
    after: Arc<Mutex<Option<(usize, Act)>>>,
    reads: Arc<AtomicUsize>,
    before_read: Arc<Mutex<Option<(usize, Act)>>>,
}

/// What another process does.
type Act = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

impl FaultyStore {
    /// Fails all commits after so many.
    pub(crate) fn new(store: &(impl SyncStore + Clone), commits: usize) -> Self {
        Self {
            store: Arc::new(store.clone()),
            left: Arc::new(commits.into()),
            writes_last: Arc::default(),
            fails_reads: Arc::default(),
            commits: Arc::default(),
            announcements: Arc::default(),
            fails_announcements: Arc::default(),
            before: Arc::default(),
            after: Arc::default(),
            reads: Arc::default(),
            before_read: Arc::default(),
        }
    }

    /// The program ends after the first commit that fails was written, and before it knows.
    pub(crate) fn writing_last(self) -> Self {
        self.writes_last.store(true, Ordering::SeqCst);
        self
    }

    /// From now on, so many more commits succeed.
    pub(crate) fn allow(&self, commits: usize) {
        self.left.store(commits, Ordering::SeqCst);
    }

    /// Whether reads fail from now on.
    pub(crate) fn fail_reads(&self, fail: bool) {
        self.fails_reads.store(fail, Ordering::SeqCst);
    }

    /// Whether announcements fail from now on.
    pub(crate) fn fail_announcements(&self, fail: bool) {
        self.fails_announcements.store(fail, Ordering::SeqCst);
    }

    /// How many announcements were tried.
    pub(crate) fn announcements(&self) -> usize {
        self.announcements.load(Ordering::SeqCst)
    }

    fn check_read(&self) -> Result<(), StoreError> {
        if self.fails_reads.load(Ordering::SeqCst) {
            return Err(StoreError::new("the database is damaged"));
        }
        Ok(())
    }

    /// Does something before the commit with this number from now on, from 1.
    pub(crate) fn before_commit(
        &self,
        number: usize,
        act: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static,
    ) {
        let number = self.commits() + number;
        *self.before.lock().unwrap() = Some((number, Box::new(act)));
    }

    /// As [`before_commit`](Self::before_commit), after it.
    pub(crate) fn after_commit(
        &self,
        number: usize,
        act: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static,
    ) {
        let number = self.commits() + number;
        *self.after.lock().unwrap() = Some((number, Box::new(act)));
    }

    /// As [`before_commit`](Self::before_commit), for reads of documents.
    pub(crate) fn before_read(
        &self,
        number: usize,
        act: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static,
    ) {
        let number = self.reads.load(Ordering::SeqCst) + number;
        *self.before_read.lock().unwrap() = Some((number, Box::new(act)));
    }

    /// How many commits were tried.
    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }
}

impl SyncStore for FaultyStore {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        Box::pin(async move {
            self.check_read()?;
            let number = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
            let act = self
                .before_read
                .lock()
                .unwrap()
                .take_if(|(at, _)| *at == number);
            if let Some((_, act)) = act {
                act().await;
            }
            self.store.documents(account, prefix).await
        })
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move {
            self.check_read()?;
            self.store.rows(account, ids).await
        })
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move {
            self.check_read()?;
            self.store.query(account, query).await
        })
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            self.check_read()?;
            self.store.count(account, query).await
        })
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        Box::pin(async move {
            self.check_read()?;
            self.store.changes(account, range, limit).await
        })
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
            if taken.is_err() {
                if self.writes_last.swap(false, Ordering::SeqCst) {
                    self.store.commit(account, batch).await?;
                }
                return Err(StoreError::new("the program ended"));
            }
            let is_written = self.store.commit(account, batch).await;
            let act = self.after.lock().unwrap().take_if(|(at, _)| *at == number);
            if let Some((_, act)) = act {
                act().await;
            }
            is_written
        })
    }

    fn announce<'a>(&'a self, _account: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.announcements.fetch_add(1, Ordering::SeqCst);
            if self.fails_announcements.load(Ordering::SeqCst) {
                return Err(StoreError::new("the announcement failed"));
            }
            Ok(())
        })
    }
}
