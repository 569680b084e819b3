//! A copy that changes, and what each consumer is to be told of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::sync::{Mutex, MutexGuard};

use super::super::{ChangeKind, needless_up_to};
use super::{ACCOUNT, Told};
use crate::account_store::{self, AccountStore};
use crate::replica::local_record::{Depth, LocalRecord};
use crate::replica::sync_state::{FORMAT, STATE, SyncState};
use crate::store::rows::{Batch, ChangeRow, Row};
use crate::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};
use crate::store::{MemorySync, SyncStore};

/// Writes a copy as a replica does, and remembers all of it.
pub(super) struct History {
    store: Arc<MemorySync>,
    random: fastrand::Rng,
    /// The version of the state, which is the number of commits.
    version: u64,
    last: u64,
    rows: BTreeMap<String, (u64, u64)>,
    told: Vec<Told>,
    /// What the copy held after each change.
    states: Vec<BTreeMap<String, (u64, u64)>>,
    /// Up to where the next commit may forget changes, by a look at the consumers since the last one.
    forgettable: Option<u64>,
    /// What the consumers' positions say was the last change when they were named.
    named: BTreeMap<String, u64>,
}

impl History {
    pub(super) fn new(store: Arc<MemorySync>, seed: u64) -> Self {
        Self {
            store,
            random: fastrand::Rng::with_seed(!seed),
            version: 0,
            last: 0,
            rows: BTreeMap::new(),
            told: Vec::new(),
            states: vec![BTreeMap::new()],
            forgettable: None,
            named: BTreeMap::new(),
        }
    }

    pub(super) async fn set(&mut self, id: &str, version: u64) {
        self.change(id, Some(version), None).await;
    }

    pub(super) async fn remove(&mut self, id: &str) {
        self.change(id, None, None).await;
    }

    async fn change(&mut self, id: &str, version: Option<u64>, forget: Option<u64>) {
        let held = self.rows.get(id).copied();
        let (previous, before) =
            held.map_or((0, None), |(sequence, v)| (sequence, Some(record(id, v))));
        let after = version.map(|version| record(id, version));
        let kind = match (before.clone(), &after) {
            (before, Some(after)) => ChangeKind::between(before.as_ref(), after).unwrap(),
            (before, None) => ChangeKind::Gone {
                last_seen: before.unwrap(),
            },
        };
        self.last += 1;
        let row = after.map(|after| Row {
            id: id.to_owned(),
            sequence: self.last,
            keys: after.keys(),
            payload: account_store::json(&after),
            ..Row::default()
        });
        let change = ChangeRow {
            sequence: self.last,
            previous,
            id: id.to_owned(),
            payload: account_store::json(&kind),
        };
        let batch = Batch {
            removed: row.is_none().then(|| id.to_owned()).into_iter().collect(),
            rows: row.into_iter().collect(),
            changes: vec![change],
            forget_changes: forget,
            ..self.state()
        };
        self.commit(batch).await;
        let what = match (before.is_some(), version) {
            (false, Some(version)) => format!("appeared {version}"),
            (true, Some(version)) => format!("changed {version}"),
            (_, None) => format!("gone {}", held.map_or(0, |(_, version)| version)),
        };
        self.told.push((self.last, id.to_owned(), what));
        match version {
            Some(version) => self.rows.insert(id.to_owned(), (self.last, version)),
            None => self.rows.remove(id),
        };
        self.states.push(self.rows.clone());
    }

    fn state(&self) -> Batch {
        let mut state = SyncState::default();
        (state.format, state.next_sequence) = (FORMAT, self.last + 1);
        let state = account_store::json(&state);
        Batch {
            expected: vec![(STATE.to_owned(), self.version)],
            documents: vec![(STATE.to_owned(), Some(state))],
            ..Batch::default()
        }
    }

    async fn commit(&mut self, batch: Batch) {
        assert!(self.store.commit(ACCOUNT, &batch).await.unwrap());
        self.version += 1;
        // What was read of the consumers is too old from here on.
        self.forgettable = None;
    }

    /// What happens between two calls of the store.
    async fn happen(&mut self) {
        for _ in 0..self.random.u8(..5) {
            self.step().await;
        }
    }

    async fn step(&mut self) {
        match self.random.u8(..8) {
            0..=2 => {
                let id = ["a", "b", "c", "d", "e"][self.random.usize(..5)];
                let forget = self.forgettable;
                let held = self.rows.get(id).copied();
                match held {
                    Some(_) if self.random.u8(..3) == 0 => self.change(id, None, forget).await,
                    _ => self.change(id, Some(self.last + 1), forget).await,
                }
            }
            3 => {
                let account = AccountStore::new(self.store.clone(), ACCOUNT);
                let up_to = needless_up_to(&account, self.last).await;
                self.forgettable = Some(up_to.unwrap());
            }
            _ => {}
        }
    }

    pub(super) fn is_named(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// What a consumer is to be told: all that the copy held when it was named, and all changes since.
    pub(super) fn since_named(&self, name: &str) -> Vec<Told> {
        let Some(named) = self.named.get(name).copied() else {
            return Vec::new();
        };
        let held = self.states[usize::try_from(named).unwrap()].iter();
        let appeared = held.map(|(id, (sequence, version))| {
            (*sequence, id.clone(), format!("appeared {version}"))
        });
        let changes = self.told.iter().filter(|(sequence, ..)| *sequence > named);
        let mut told: Vec<Told> = appeared.chain(changes.cloned()).collect();
        told.sort();
        told
    }
}

fn record(id: &str, version: u64) -> LocalRecord {
    let json = json!({"id": id, "version": version}).to_string();
    LocalRecord::new(serde_json::from_str(&json).unwrap(), Depth::Summary)
}

/// The store of a copy that changes before each call.
pub(super) struct Interleaved {
    store: Arc<MemorySync>,
    history: Mutex<History>,
    is_calm: AtomicBool,
}

impl Interleaved {
    pub(super) fn new(seed: u64) -> Self {
        let store = Arc::new(MemorySync::new());
        Self {
            history: Mutex::new(History::new(store.clone(), seed)),
            store,
            is_calm: AtomicBool::new(false),
        }
    }

    /// From here on nothing changes any more.
    pub(super) async fn calm(&self) -> MutexGuard<'_, History> {
        self.is_calm.store(true, Ordering::Relaxed);
        self.history.lock().await
    }

    async fn happen(&self) {
        if !self.is_calm.load(Ordering::Relaxed) {
            self.history.lock().await.happen().await;
        }
    }
}

impl StoreWrapper for Interleaved {
    async fn call(&self, account: &str, call: StoreCall<'_>) -> Answered {
        self.happen().await;
        let answer = call.forward(&*self.store, account).await?;
        if let StoreCall::Commit(batch) = call {
            let [(name, Some(position))] = &batch.documents[..] else {
                panic!("the feed writes one position");
            };
            let is_first = batch.expected.contains(&(name.clone(), 0));
            if is_first && matches!(answer, StoreAnswer::Written(true)) {
                let position: Value = serde_json::from_str(position).unwrap();
                let up_to = position["snapshotUpTo"].as_u64().unwrap_or(0);
                let name = name.trim_start_matches("consumer/").to_owned();
                self.history.lock().await.named.insert(name, up_to);
            }
        }
        Ok(answer)
    }
}
