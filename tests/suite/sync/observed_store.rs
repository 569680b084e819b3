//! What a store was told to write: the states of the copy, which are the history that consumers must be told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use envd_sdk::auth::StoreFuture;
use envd_sdk::sync::store::{Batch, ChangeRange, ChangeRow, Document, Query, Row, SyncStore};
use serde_json::Value;

use super::service::Service;

/// What was committed.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The content of each record, without the date of its last change.
    pub(super) now: BTreeMap<String, Value>,
    /// Each state after the one before; `None`: gone.
    pub(super) steps: Vec<(String, Option<Value>)>,
    /// By consumer: how many steps there were when it was named, and the copy then.
    pub(super) named: BTreeMap<String, (usize, BTreeMap<String, Value>)>,
    pub(super) commits: usize,
    last_sequence: u64,
}

/// Passes everything on, and keeps the history.
#[derive(Clone)]
pub(super) struct ObservedStore {
    inner: Arc<dyn SyncStore>,
    /// Held by a write until it is noted, whatever becomes of the program: a killed one may leave a write to another thread.
    writing: Arc<tokio::sync::Mutex<()>>,
    pub(super) history: Arc<Mutex<History>>,
    service: Arc<Mutex<Service>>,
    /// Whether each page that was shown was used, so that walks can be judged by what was shown.
    pub(super) saw_all_pages: bool,
}

impl ObservedStore {
    pub(super) fn new(inner: Arc<dyn SyncStore>, service: &Arc<Mutex<Service>>) -> Self {
        Self {
            inner,
            writing: Arc::default(),
            history: Arc::default(),
            service: Arc::clone(service),
            saw_all_pages: true,
        }
    }

    /// The same file, opened again.
    pub(super) fn reopened(&mut self, inner: Arc<dyn SyncStore>) {
        self.inner = inner;
    }

    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap()
    }

    fn committed(&self, batch: &Batch) {
        let mut history = self.history();
        history.commits += 1;
        for change in &batch.changes {
            let (sequence, last) = (change.sequence, history.last_sequence);
            assert!(sequence > last, "the change {sequence} comes after {last}");
            history.last_sequence = sequence;
        }
        let seen = batch.seen.iter().flat_map(|(_, ids)| ids);
        let taken = seen.chain(batch.rows.iter().map(|row| &row.id));
        self.service.lock().unwrap().taken(taken);
        for row in &batch.rows {
            let payload: Value = serde_json::from_str(&row.payload).unwrap();
            let content = without_date(payload["record"].clone());
            if history.now.get(&row.id) != Some(&content) {
                history.steps.push((row.id.clone(), Some(content.clone())));
                history.now.insert(row.id.clone(), content);
            }
        }
        for id in &batch.removed {
            self.service
                .lock()
                .unwrap()
                .check_gone(id, self.saw_all_pages);
            if history.now.remove(id).is_some() {
                history.steps.push((id.clone(), None));
            }
        }
        for (name, version) in &batch.expected {
            if let (Some(consumer), 0) = (name.strip_prefix("consumer/"), version) {
                let named = (history.steps.len(), history.now.clone());
                history.named.insert(consumer.to_owned(), named);
            }
        }
    }
}

pub(super) fn without_date(mut record: Value) -> Value {
    record.as_object_mut().unwrap().remove("updatedAt");
    record
}

impl SyncStore for ObservedStore {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        Box::pin(async move {
            drop(self.writing.lock().await);
            self.inner.documents(account, prefix).await
        })
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move {
            drop(self.writing.lock().await);
            self.inner.rows(account, ids).await
        })
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move {
            drop(self.writing.lock().await);
            self.inner.query(account, query).await
        })
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            drop(self.writing.lock().await);
            self.inner.count(account, query).await
        })
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        Box::pin(async move {
            drop(self.writing.lock().await);
            self.inner.changes(account, range, limit).await
        })
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        let (store, account, batch) = (self.clone(), account.to_owned(), batch.clone());
        let writes = tokio::spawn(async move {
            let _writing = store.writing.lock().await;
            let is_written = store.inner.commit(&account, &batch).await?;
            if is_written {
                store.committed(&batch);
            }
            Ok(is_written)
        });
        Box::pin(async move { writes.await.unwrap() })
    }
}
