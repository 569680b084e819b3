//! A store wrapper that stops after a number of commits, injects failures and actions, and counts calls.

use std::sync::{Arc, Mutex, MutexGuard};

use super::store_wrapper::{Answered, StoreCall, StoreWrapper};
use crate::store::{StoreError, StoreErrorKind, SyncStore};
use envd_sdk::auth::BoxFuture;

/// Passes calls to a store until its commits are used up.
#[derive(Clone)]
pub(crate) struct FaultyStore {
    store: Arc<dyn SyncStore>,
    faults: Arc<Mutex<Faults>>,
}

/// The call before or after which another process acts, counted from now and from 1. Reads are those of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    BeforeRead(usize),
    BeforeCommit(usize),
    AfterCommit(usize),
}

#[derive(Default)]
struct Faults {
    /// The number of commits that still succeed.
    left: usize,
    /// The first failing commit is written nevertheless.
    writes_last: bool,
    fails_reads: bool,
    reads: usize,
    /// All other reads.
    calls: usize,
    commits: usize,
    act: Option<(Moment, BoxFuture<'static, ()>)>,
}

impl FaultyStore {
    /// Fails all commits after this many.
    pub(crate) fn new(store: &(impl SyncStore + Clone), commits: usize) -> Self {
        let faults = Faults {
            left: commits,
            ..Faults::default()
        };
        Self {
            store: Arc::new(store.clone()),
            faults: Arc::new(Mutex::new(faults)),
        }
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap()
    }

    /// Simulates a program that is killed after its last commit was written, before it gets the result.
    pub(crate) fn writing_last(self) -> Self {
        self.faults().writes_last = true;
        self
    }

    /// Sets how many more commits succeed.
    pub(crate) fn allow(&self, commits: usize) {
        self.faults().left = commits;
    }

    pub(crate) fn fail_reads(&self) {
        self.faults().fails_reads = true;
    }

    /// The number of attempted commits.
    pub(crate) fn commits(&self) -> usize {
        self.faults().commits
    }

    /// The number of reads of any kind.
    pub(crate) fn all_reads(&self) -> usize {
        let faults = self.faults();
        faults.reads + faults.calls
    }

    /// Runs an action once, at a moment; the result is the value that it returned, if it ran.
    pub(crate) fn asking<A: Future<Output = bool> + Send + 'static>(
        &self,
        moment: Moment,
        act: A,
    ) -> impl Fn() -> Option<bool> + use<A> {
        let said = Arc::new(Mutex::new(None));
        let says = Arc::clone(&said);
        self.at(moment, async move {
            let it = act.await;
            *says.lock().unwrap() = Some(it);
        });
        move || *said.lock().unwrap()
    }

    /// Runs an action once, at a moment.
    pub(crate) fn at(&self, moment: Moment, act: impl Future<Output = ()> + Send + 'static) {
        let mut faults = self.faults();
        let moment = match moment {
            Moment::BeforeRead(number) => Moment::BeforeRead(faults.reads + number),
            Moment::BeforeCommit(number) => Moment::BeforeCommit(faults.commits + number),
            Moment::AfterCommit(number) => Moment::AfterCommit(faults.commits + number),
        };
        faults.act = Some((moment, Box::pin(act)));
    }

    async fn act(&self, now: Moment) {
        let act = self.faults().act.take_if(|(moment, _)| *moment == now);
        if let Some((_, act)) = act {
            act.await;
        }
    }

    /// Counts this call, and returns its number.
    fn count(&self, of: fn(&mut Faults) -> &mut usize) -> usize {
        let mut faults = self.faults();
        let number = of(&mut faults);
        *number += 1;
        *number
    }

    async fn commit(&self, account: &str, call: StoreCall<'_>) -> Answered {
        let number = self.count(|faults| &mut faults.commits);
        self.act(Moment::BeforeCommit(number)).await;
        let left = self.faults().left;
        if left == 0 {
            let writes = std::mem::take(&mut self.faults().writes_last);
            if writes {
                call.forward(&*self.store, account).await?;
            }
            return Err(StoreError::new(StoreErrorKind::Other, "the program ended"));
        }
        self.allow(left - 1);
        let written = call.forward(&*self.store, account).await;
        self.act(Moment::AfterCommit(number)).await;
        written
    }
}

impl StoreWrapper for FaultyStore {
    async fn call(&self, account: &str, call: StoreCall<'_>) -> Answered {
        match call {
            StoreCall::Commit(_) => return self.commit(account, call).await,
            _ if self.faults().fails_reads => {
                let damaged = "the database is damaged";
                return Err(StoreError::new(StoreErrorKind::Other, damaged));
            }
            StoreCall::Documents(_) => {
                let number = self.count(|faults| &mut faults.reads);
                self.act(Moment::BeforeRead(number)).await;
            }
            _ => drop(self.count(|faults| &mut faults.calls)),
        }
        call.forward(&*self.store, account).await
    }
}
