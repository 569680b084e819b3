//! The store of one program. The program can be killed or interrupted at each call, and all commits are recorded as the history
//! that consumers must receive.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use serde_json::Value;

use super::observed_service::ObservedService;
use crate::store::rows::Batch;
use crate::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};
use crate::store::{StoreError, StoreErrorKind, SyncStore};

/// The committed changes.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The content of each record, without the date of its last change.
    pub(super) now: BTreeMap<String, Value>,
    /// The new state of a record at each step; `None`: gone.
    pub(super) steps: Vec<(String, Option<Value>)>,
    /// For each consumer, the number of steps when it was created, and the copy at that time.
    pub(super) named: BTreeMap<String, (usize, BTreeMap<String, Value>)>,
    pub(super) commits: usize,
    last_sequence: u64,
}

/// The point at which a program is interrupted; numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    None,
    /// The program is killed before a call of the store.
    KilledBefore(usize),
    /// The program is killed after a write of the store, before it gets the result.
    KilledAfterCommit(usize),
    /// The program is killed at this poll.
    KilledAtPoll(usize),
    /// A write fails.
    RefusedCommit(usize),
    /// Another action runs before a write.
    OtherBeforeCommit(usize),
    /// Other actions run before a call of the store and before each following call, as long as there are any.
    OtherFrom(usize),
}

impl Interruption {
    /// Whether the program fails or is killed.
    pub(super) fn ends_it(self) -> bool {
        !matches!(
            self,
            Self::None | Self::OtherBeforeCommit(_) | Self::OtherFrom(_)
        )
    }
}

type Act = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Clone)]
pub(super) struct Program {
    inner: Arc<dyn SyncStore>,
    /// Locked by a write until the write is recorded. A killed program may leave a write running on another thread.
    writing: Arc<tokio::sync::Mutex<()>>,
    history: Arc<Mutex<History>>,
    service: Arc<Mutex<ObservedService>>,
    /// Whether each page was used by the program that requested it, so that tests can check scans by the pages shown.
    pub(super) saw_all_pages: bool,
    interruption: Interruption,
    calls: Arc<AtomicUsize>,
    commits: Arc<AtomicUsize>,
    is_killed: Arc<AtomicBool>,
    others: Arc<Mutex<Vec<Act>>>,
}

impl Program {
    pub(super) fn new(inner: Arc<dyn SyncStore>, service: &Arc<Mutex<ObservedService>>) -> Self {
        Self {
            inner,
            writing: Arc::default(),
            history: Arc::default(),
            service: Arc::clone(service),
            saw_all_pages: true,
            interruption: Interruption::None,
            calls: Arc::default(),
            commits: Arc::default(),
            is_killed: Arc::default(),
            others: Arc::default(),
        }
    }

    /// Another program, which has opened the same store.
    pub(super) fn started(&self, inner: Arc<dyn SyncStore>, interruption: Interruption) -> Self {
        Self {
            writing: Arc::clone(&self.writing),
            history: Arc::clone(&self.history),
            saw_all_pages: self.saw_all_pages,
            interruption,
            ..Self::new(inner, &self.service)
        }
    }

    /// Adds an action of others, which runs once.
    pub(super) fn other(&self, act: impl Future<Output = ()> + Send + 'static) {
        self.others.lock().unwrap().push(Box::pin(act));
    }

    async fn let_other_happen(&self) {
        let other = self.others.lock().unwrap().pop();
        if let Some(other) = other {
            other.await;
        }
    }

    /// Runs the program; `None` if it was killed.
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

    async fn end(&self) {
        self.is_killed.store(true, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }

    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap()
    }

    async fn write(&self, account: &str, batch: &Batch) -> Answered {
        let store = self.clone();
        let account = account.to_owned();
        let batch = batch.clone();
        let writes = tokio::spawn(async move {
            let _writing = store.writing.lock().await;
            let is_written = store.inner.commit(&account, &batch).await?;
            if is_written {
                store.committed(&batch);
            }
            Ok(StoreAnswer::Written(is_written))
        });
        writes.await.unwrap()
    }

    fn committed(&self, batch: &Batch) {
        let mut history = self.history();
        history.commits += 1;
        for change in &batch.changes {
            let sequence = change.sequence;
            let last = history.last_sequence;
            assert!(sequence > last, "the change {sequence} comes after {last}");
            history.last_sequence = sequence;
        }
        let mut service = self.service.lock().unwrap();
        let seen = batch.seen.iter().flat_map(|(_, ids)| ids);
        service.taken(seen.chain(batch.rows.iter().map(|row| &row.id)));
        for row in &batch.rows {
            let payload: Value = serde_json::from_str(&row.payload).unwrap();
            let content = without_date(payload["record"].clone());
            if history.now.get(&row.id) != Some(&content) {
                history.steps.push((row.id.clone(), Some(content.clone())));
                history.now.insert(row.id.clone(), content);
            }
        }
        for id in &batch.removed {
            service.check_gone(id, self.saw_all_pages);
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

impl StoreWrapper for Program {
    /// Makes each call an await point.
    async fn call(&self, account: &str, call: StoreCall<'_>) -> Answered {
        tokio::task::yield_now().await;
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.interruption == Interruption::KilledBefore(number) {
            self.end().await;
        }
        if matches!(self.interruption, Interruption::OtherFrom(first) if first <= number) {
            self.let_other_happen().await;
        }
        let StoreCall::Commit(batch) = call else {
            drop(self.writing.lock().await);
            return call.forward(&*self.inner, account).await;
        };
        let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        if self.interruption == Interruption::OtherBeforeCommit(number) {
            self.let_other_happen().await;
        }
        if self.interruption == Interruption::RefusedCommit(number) {
            return Err(StoreError::new(StoreErrorKind::Other, "the disk is full"));
        }
        let written = self.write(account, batch).await?;
        if self.interruption == Interruption::KilledAfterCommit(number) {
            self.end().await;
        }
        Ok(written)
    }
}
