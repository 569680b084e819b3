//! One process: its outbox, and its store, at which it may be killed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use super::network::{Shared, network, pause};
use crate::outbox::Outbox;
use crate::outbox::store::unpacked;
use crate::replica::Replica;
use crate::store::rows::{Batch, Document};
use crate::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};
use crate::store::{StoreError, StoreErrorKind, SyncStore};
use crate::tests::replies::client_of;
use envd_sdk::Clock;
use envd_sdk::auth::AccessToken;

/// An interruption at the commit with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtCommit {
    Nothing,
    KilledBefore(usize),
    KilledAfter(usize),
    Refused(usize),
}

pub(super) struct Process {
    pub(super) number: usize,
    pub(super) clock: Clock,
    pub(super) outbox: Outbox,
    pub(super) store: ProcessStore,
    /// The number of steps for which its programs do nothing.
    pub(super) frozen: usize,
}

pub(super) const ACCOUNT: &str = "envd-1";

/// The settings of all outboxes in a schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) settle: u64,
    pub(super) lease: u64,
    pub(super) page_size: u32,
}

impl Process {
    pub(super) fn start(
        number: usize,
        world: &Shared,
        store: &Arc<dyn SyncStore>,
        settings: Settings,
        ahead: i64,
    ) -> Self {
        let now = world.lock().unwrap().service.now;
        let now = now.saturating_add_signed(ahead);
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(now));
        let store = ProcessStore::new(number, world, store);
        let replica = replica(number, world, &clock, &store, settings);
        let outbox = Outbox::new(&replica);
        let outbox = outbox
            .reconcile_after(Duration::from_secs(settings.settle))
            .lease(Duration::from_secs(settings.lease));
        Self {
            number,
            clock,
            outbox,
            store,
            frozen: 0,
        }
    }
}

/// A replica that uses the network of a process.
pub(super) fn replica(
    number: usize,
    world: &Shared,
    clock: &Clock,
    store: &ProcessStore,
    settings: Settings,
) -> Replica {
    let login = Arc::clone(world);
    let tokens = move || {
        let is_dead = login.lock().unwrap().login_is_dead;
        async move {
            if is_dead {
                return Err(envd_sdk::Error::login_needed());
            }
            AccessToken::new("a-token")
        }
    };
    let client = client_of(network(world, number, clock)).token_source(tokens);
    let client = client.clock(clock.clone()).build().unwrap();
    Replica::new(&client.account(ACCOUNT), store.clone()).page_size(settings.page_size)
}

/// The store of one process. Each call is an await point.
#[derive(Clone)]
pub(super) struct ProcessStore {
    number: usize,
    store: Arc<dyn SyncStore>,
    world: Shared,
    commits: Arc<AtomicUsize>,
    at_commit: Arc<Mutex<AtCommit>>,
    is_killed: Arc<AtomicBool>,
}

impl ProcessStore {
    pub(super) fn new(number: usize, world: &Shared, store: &Arc<dyn SyncStore>) -> Self {
        Self {
            number,
            store: Arc::clone(store),
            world: Arc::clone(world),
            commits: Arc::default(),
            at_commit: Arc::new(Mutex::new(AtCommit::Nothing)),
            is_killed: Arc::default(),
        }
    }

    /// Sets the next interruption. Commits are counted from now on.
    pub(super) fn interrupt(&self, at_commit: AtCommit) {
        self.commits.store(0, Ordering::SeqCst);
        *self.at_commit.lock().unwrap() = at_commit;
    }

    pub(super) fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::SeqCst)
    }

    async fn end(&self) {
        self.is_killed.store(true, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }

    /// Checks the rows that were written.
    async fn check(&self, batch: &Batch) {
        let is_written = |id: &str| {
            let mut written = batch.documents.iter().filter(|(_, text)| text.is_some());
            written.any(|(name, _)| name.ends_with(id))
        };
        let removed = batch.documents.iter().filter(|(_, text)| text.is_none());
        for (name, _) in removed.filter(|(name, _)| name.starts_with("outbox/past/")) {
            let id = name.rsplit('/').next().unwrap();
            if !is_written(id) {
                let invariants = &mut self.world.lock().unwrap().ledger.invariants;
                invariants.pruned.insert(id.parse().unwrap());
            }
        }
        for (name, text) in &batch.documents {
            let is_row = name.starts_with("outbox/past/") || name.starts_with("outbox/open/");
            let Some(text) = text.clone().filter(|_| is_row) else {
                continue;
            };
            let name = name.clone();
            let version = 1;
            let document = Document {
                name,
                version,
                text,
            };
            let row = unpacked(&document).unwrap();
            let ids: Vec<String> = {
                let world = self.world.lock().unwrap();
                world.service.records.keys().cloned().collect()
            };
            let copied = self.store.rows(ACCOUNT, &ids).await.unwrap();
            let copied = copied.into_iter().map(|row| row.id).collect();
            let world = &mut *self.world.lock().unwrap();
            let ledger = &mut world.ledger;
            let service = &world.service;
            ledger.written(self.number, &row, copied, service);
        }
    }
}

impl StoreWrapper for ProcessStore {
    async fn call(&self, account: &str, call: StoreCall<'_>) -> Answered {
        let batch = match call {
            StoreCall::Commit(batch) => batch,
            StoreCall::Documents(_) | StoreCall::Changes(..) => {
                pause().await;
                return call.forward(&*self.store, account).await;
            }
            _ => return call.forward(&*self.store, account).await,
        };
        pause().await;
        let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        let at_commit = *self.at_commit.lock().unwrap();
        if at_commit == AtCommit::KilledBefore(number) {
            self.end().await;
        }
        if at_commit == AtCommit::Refused(number) {
            return Err(StoreError::new(StoreErrorKind::Other, "the disk is full"));
        }
        let is_written = self.store.commit(account, batch).await?;
        if is_written {
            self.world.lock().unwrap().service.event();
            self.check(batch).await;
        }
        if at_commit == AtCommit::KilledAfter(number) {
            self.end().await;
        }
        pause().await;
        Ok(StoreAnswer::Written(is_written))
    }
}
