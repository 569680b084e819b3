//! A program that ends or is interrupted at one of its calls of the store, or at one of its await points.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use envd_sdk::auth::{StoreError, StoreFuture};
use envd_sdk::sync::store::{Batch, ChangeRange, ChangeRow, Document, Query, Row, SyncStore};

use super::observed_store::ObservedStore;

/// Where a program is interrupted; numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    None,
    /// It ends before a call of the store.
    KilledBefore(usize),
    /// It ends after a write of the store, and does not learn of it.
    KilledAfterCommit(usize),
    /// It ends when it was polled so many times.
    KilledAtPoll(usize),
    /// A write fails.
    RefusedCommit(usize),
    /// Something else happens before a write.
    OtherBeforeCommit(usize),
}

impl Interruption {
    /// Whether the program does not come to its end.
    pub(super) fn ends_it(self) -> bool {
        !matches!(self, Self::None | Self::OtherBeforeCommit(_))
    }
}

type Act = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The store as one program has it.
#[derive(Clone)]
pub(super) struct Process {
    store: ObservedStore,
    interruption: Interruption,
    calls: Arc<AtomicUsize>,
    commits: Arc<AtomicUsize>,
    is_killed: Arc<AtomicBool>,
    other: Arc<Mutex<Option<Act>>>,
}

impl Process {
    pub(super) fn new(store: &ObservedStore, interruption: Interruption) -> Self {
        Self {
            store: store.clone(),
            interruption,
            calls: Arc::default(),
            commits: Arc::default(),
            is_killed: Arc::default(),
            other: Arc::default(),
        }
    }

    /// What happens at [`Interruption::OtherBeforeCommit`].
    pub(super) fn other(&self, act: impl Future<Output = ()> + Send + 'static) {
        *self.other.lock().unwrap() = Some(Box::pin(act));
    }

    /// Runs the program; `None`: it was killed.
    pub(super) async fn run<T>(&self, program: impl Future<Output = T>) -> Option<T> {
        let mut program = pin!(program);
        let mut polls = 0;
        poll_fn(|context| {
            polls += 1;
            if self.interruption == Interruption::KilledAtPoll(polls) {
                return Poll::Ready(None);
            }
            match program.as_mut().poll(context) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending if self.is_killed.load(Ordering::SeqCst) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Counts a call of the store. Each call is an await point.
    async fn call(&self) {
        tokio::task::yield_now().await;
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.interruption == Interruption::KilledBefore(number) {
            self.end().await;
        }
    }

    async fn end(&self) {
        self.is_killed.store(true, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }
}

impl SyncStore for Process {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        Box::pin(async move {
            self.call().await;
            self.store.documents(account, prefix).await
        })
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move {
            self.call().await;
            self.store.rows(account, ids).await
        })
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move {
            self.call().await;
            self.store.query(account, query).await
        })
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            self.call().await;
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
            self.call().await;
            self.store.changes(account, range, limit).await
        })
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            self.call().await;
            let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
            if self.interruption == Interruption::OtherBeforeCommit(number) {
                let other = self.other.lock().unwrap().take();
                if let Some(other) = other {
                    other.await;
                }
            }
            if self.interruption == Interruption::RefusedCommit(number) {
                return Err(StoreError::new("the disk is full"));
            }
            let is_written = self.store.commit(account, batch).await?;
            if self.interruption == Interruption::KilledAfterCommit(number) {
                self.end().await;
            }
            Ok(is_written)
        })
    }
}
