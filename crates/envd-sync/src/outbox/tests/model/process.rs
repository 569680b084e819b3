//! One process: its store, which it may be killed at, and its outbox.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use super::network::{Shared, network, pause};
use crate::outbox::Outbox;
use crate::replica::Replica;
use crate::store::rows::Batch;
use crate::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};
use crate::store::{StoreError, StoreErrorKind, SyncStore};
use crate::tests::replies::client_of;
use envd_sdk::Clock;
use envd_sdk::auth::AccessToken;

/// What happens at a write, by its number.
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
    /// Its programs do nothing for so many steps.
    pub(super) frozen: usize,
}

pub(super) const ACCOUNT: &str = "envd-1";

/// How the outboxes of a schedule are set.
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

/// A replica over the network of a process.
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

/// The store as one process has it. Each call is an await point.
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

    /// From the next write on, numbers count anew.
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

    /// Compares what was written with what the user wants.
    async fn check(&self, batch: &Batch) {
        let entries = batch.documents.iter().filter_map(|(name, text)| {
            let is_entry = name.starts_with("outbox/live/") || name.starts_with("outbox/past/");
            let text = text.as_ref().filter(|_| is_entry)?;
            Some((name, as_it_stands(serde_json::from_str(text).unwrap())))
        });
        for (name, entry) in entries {
            let mut copied = Vec::new();
            if entry["state"] == "sending" {
                let ids: Vec<String> = self
                    .world
                    .lock()
                    .unwrap()
                    .service
                    .records
                    .keys()
                    .cloned()
                    .collect();
                let rows = self.store.rows(ACCOUNT, &ids).await.unwrap();
                copied.extend(rows.into_iter().map(|row| row.id));
            }
            let mut world = self.world.lock().unwrap();
            let world = &mut *world;
            world
                .ledger
                .written(self.number, name, &entry, &world.service);
            if entry["state"] == "sending" {
                world
                    .ledger
                    .marked(self.number, &entry, &copied, &world.service);
            }
        }
    }
}

/// The document of an entry, with its state as its events have it.
fn as_it_stands(mut entry: Value) -> Value {
    let events = entry["events"].take();
    entry["state"] = "queued".into();
    for event in events.as_array().into_iter().flatten() {
        let event = &event["event"];
        let name = event.as_str().map(str::to_owned);
        let name =
            name.unwrap_or_else(|| event.as_object().unwrap().keys().next().unwrap().clone());
        let with = &event[&name];
        if !["unclear", "read_back", "late_duplicates"].contains(&&*name) {
            (entry["conflict"], entry["reason"]) = (Value::Null, Value::Null);
        }
        let doubts = entry["doubts"].as_i64().unwrap_or_default();
        entry["doubts"] = match (&*name, with["answer"].as_str()) {
            ("marked", _) => doubts + 1,
            ("answered", Some(answer)) if answer != "in_doubt" => doubts - 1,
            _ => doubts,
        }
        .into();
        let state = match (&*name, with["answer"].as_str()) {
            ("queued", _) | ("answered", Some("not_sent")) => "queued",
            ("not_found", _) if with["isSentAgain"] == true => "queued",
            ("marked", _) => {
                let attempts = entry["attempts"].as_u64().unwrap_or_default();
                entry["attempts"] = (attempts + 1).into();
                if with["baseline"].is_u64() {
                    entry["baseline"] = with["baseline"].clone();
                }
                "sending"
            }
            ("abandoned" | "chosen", _) | ("answered", Some("in_doubt")) => "unconfirmed",
            ("answered", Some("refused")) => "refused",
            ("answered", Some("forbidden")) | ("asked", _) => {
                for field in ["reason", "conflict"] {
                    entry[field] = with[field].clone();
                }
                "needs_attention"
            }
            ("confirmed", _) => {
                entry["consignment"] = with["record"].clone();
                "confirmed"
            }
            ("given_up", _) => "discarded",
            ("answered" | "not_found" | "unclear" | "read_back" | "late_duplicates", _) => continue,
            _ => panic!("an event without a name: {event}"),
        };
        entry["state"] = state.into();
    }
    entry
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
