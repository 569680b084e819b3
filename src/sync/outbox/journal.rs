//! Reads and writes of the outbox: each whole, and only over the state that it was made from.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::compare::ServiceFields;
use super::events::{EventSender, Written};
use super::stored::{FORMAT, Head, Stored};
use crate::auth::StoreError;
use crate::error::Result;
use crate::model::ConsignmentId;
use crate::sync::replica::outbox_document;
use crate::sync::store::{Batch, RowStore};

pub(super) const HEAD: &str = "outbox/head";
pub(super) const LIVE: &str = "outbox/live/";
const PAST: &str = "outbox/past/";
const RECORD: &str = "outbox/record/";

/// How many entries of the history are read at once.
pub(super) const BLOCK: u64 = 100;

/// The outbox of one account as it was at a moment.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub(super) version: u64,
    pub(super) head: Head,
    /// The entries that are not at their end, by number.
    pub(super) live: BTreeMap<u64, Arc<Stored>>,
}

/// A change of the outbox that is not written yet.
pub(super) struct Draft {
    pub(super) head: Head,
    pub(super) live: BTreeMap<u64, Arc<Stored>>,
    /// Entries of the history that are written anew, or removed.
    pub(super) past: BTreeMap<u64, Option<Stored>>,
    /// Documents that are removed.
    pub(super) forgotten: Vec<String>,
    /// The replica must still have this version.
    pub(super) replica: Option<u64>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commit {
    Whole,
    /// It changes nothing.
    Nothing,
    /// Another process was faster.
    Overtaken,
}

impl Draft {
    fn of(before: &Snapshot) -> Self {
        Self {
            head: before.head.clone(),
            live: before.live.clone(),
            past: BTreeMap::new(),
            forgotten: Vec::new(),
            replica: None,
        }
    }

    pub(super) fn next(&mut self) -> u64 {
        let next = self.head.next;
        self.head.next += 1;
        next
    }

    pub(super) fn add(&mut self, entry: Stored) -> &mut Stored {
        let id = entry.id;
        let entry = self.live.entry(id).or_insert_with(|| Arc::new(entry));
        Arc::make_mut(entry)
    }

    pub(super) fn entry(&mut self, id: u64) -> Option<&mut Stored> {
        self.live.get_mut(&id).map(Arc::make_mut)
    }

    pub(super) fn entry_ref(&self, id: u64) -> Option<&Stored> {
        self.live.get(&id).map(AsRef::as_ref)
    }
}

/// The documents of one account.
pub(super) struct Journal {
    store: Arc<dyn RowStore>,
    account: String,
    cache: Mutex<Snapshot>,
    events: EventSender,
}

impl Journal {
    pub(super) fn new(store: Arc<dyn RowStore>, account: String, events: EventSender) -> Self {
        Self {
            store,
            account,
            cache: Mutex::default(),
            events,
        }
    }

    pub(super) fn store(&self) -> &dyn RowStore {
        &*self.store
    }

    pub(super) fn account(&self) -> &str {
        &self.account
    }

    /// The outbox as it is now. The entries are read only if another process has written since.
    pub(super) async fn load(&self) -> Result<Snapshot> {
        loop {
            let (version, head) = self.head().await?;
            {
                let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
                if cache.version == version {
                    return Ok(cache.clone());
                }
            }
            let documents = self.store.documents(&self.account, LIVE).await?;
            let (again, _) = self.head().await?;
            if again != version {
                // The entries may be of either version.
                continue;
            }
            let mut live = BTreeMap::new();
            for document in documents {
                let entry = parse(&document.name, &document.text)?;
                live.insert(entry.id, Arc::new(entry));
            }
            let snapshot = Snapshot {
                version,
                head,
                live,
            };
            self.keep(snapshot.clone());
            return Ok(snapshot);
        }
    }

    pub(super) async fn head(&self) -> Result<(u64, Head)> {
        let Some(document) = self.store.document(&self.account, HEAD).await? else {
            return Ok((0, Head::default()));
        };
        let head: Head =
            serde_json::from_str(&document.text).map_err(|_| unreadable(&document.name))?;
        let what = match head.format.cmp(&FORMAT) {
            Ordering::Equal => return Ok((document.version, head)),
            Ordering::Greater => {
                "a newer version of this crate wrote the outbox: update this program"
            }
            Ordering::Less => {
                "an earlier version of this crate wrote the outbox: send what waits with the program that wrote it, then use a new file"
            }
        };
        Err(StoreError::new(what).into())
    }

    fn keep(&self, snapshot: Snapshot) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.version < snapshot.version {
            *cache = snapshot;
        }
    }

    /// What the service was seen to write by itself, without a copy of all entries.
    pub(super) fn service_fields(&self) -> ServiceFields {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.head.service.clone()
    }

    /// The outbox as this process read or wrote it last.
    pub(super) fn cached(&self) -> Snapshot {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.clone()
    }

    /// Changes the outbox. When another process was faster, the change is made again of what that one has written.
    pub(super) async fn change<T>(
        &self,
        mut change: impl FnMut(&mut Draft) -> Result<T>,
    ) -> Result<T> {
        // Mostly nobody else has written, which the commit checks. What fails or writes nothing needs the present state.
        let before = self.cached();
        let mut draft = Draft::of(&before);
        if before.version > 0
            && let Ok(result) = change(&mut draft)
            && self.commit(&before, draft).await? == Commit::Whole
        {
            return Ok(result);
        }
        loop {
            if let Some(result) = self.try_change(&mut change).await? {
                return Ok(result);
            }
        }
    }

    /// As [`change`](Self::change), with an entry of the history as it is at that time.
    pub(super) async fn change_with_past<T>(
        &self,
        id: u64,
        mut change: impl FnMut(&mut Draft, Option<Stored>) -> T,
    ) -> Result<T> {
        loop {
            let before = self.load().await?;
            let mut draft = Draft::of(&before);
            let result = change(&mut draft, self.past(id).await?);
            if self.commit(&before, draft).await? != Commit::Overtaken {
                return Ok(result);
            }
        }
    }

    /// As [`change`](Self::change); `None` if another process was faster.
    pub(super) async fn try_change<T>(
        &self,
        change: impl FnOnce(&mut Draft) -> Result<T>,
    ) -> Result<Option<T>> {
        let before = self.load().await?;
        let mut draft = Draft::of(&before);
        let result = change(&mut draft)?;
        let written = self.commit(&before, draft).await?;
        Ok((written != Commit::Overtaken).then_some(result))
    }

    async fn commit(&self, before: &Snapshot, mut draft: Draft) -> Result<Commit> {
        draft.head.pin = pin(&draft);
        let mut batch = Batch {
            expected: vec![(HEAD.to_owned(), before.version)],
            ..Batch::default()
        };
        if let Some(version) = draft.replica {
            batch.expected.push(("replica".to_owned(), version));
        }
        let changed = Self::write_entries(before, &mut draft, &mut batch);
        if changed.is_empty() && draft.past.is_empty() && draft.head == before.head {
            return Ok(Commit::Nothing);
        }
        let forgotten = draft.forgotten.drain(..);
        batch.documents.extend(forgotten.map(|name| (name, None)));
        if draft.head.pin != before.head.pin {
            batch.documents.push(outbox_document(draft.head.pin));
        }
        batch
            .documents
            .push((HEAD.to_owned(), Some(text(&draft.head))));
        if !self.store.commit(&self.account, &batch).await? {
            return Ok(Commit::Overtaken);
        }
        self.keep(Snapshot {
            version: before.version + 1,
            head: draft.head,
            live: draft.live,
        });
        for written in changed {
            self.events.send(written);
        }
        Ok(Commit::Whole)
    }

    /// Puts what differs into the batch, and moves what is at its end to the history. Returns the entries that changed.
    fn write_entries(before: &Snapshot, draft: &mut Draft, batch: &mut Batch) -> Vec<Written> {
        let mut changed = Vec::new();
        let mut ended = Vec::new();
        for (id, entry) in &draft.live {
            let known = before.live.get(id);
            if known.is_some_and(|known| Arc::ptr_eq(known, entry) || known == entry) {
                continue;
            }
            changed.push(Written {
                before: known.map(|known| known.state),
                entry: entry.show(),
            });
            if entry.state.is_final() {
                ended.push(*id);
                batch.documents.push((past_name(*id), Some(text(&**entry))));
                if known.is_some() {
                    batch.documents.push((live_name(*id), None));
                }
                if let Some(record) = entry.consignment.as_ref().filter(|_| entry.saves()) {
                    batch
                        .documents
                        .push((record_name(record), Some(id.to_string())));
                }
            } else {
                batch.documents.push((live_name(*id), Some(text(&**entry))));
            }
        }
        for id in ended {
            draft.live.remove(&id);
        }
        for (id, entry) in &draft.past {
            let Some(entry) = entry else {
                batch.documents.push((past_name(*id), None));
                continue;
            };
            // What is at its end stays there.
            changed.push(Written {
                before: Some(entry.state),
                entry: entry.show(),
            });
            batch.documents.push((past_name(*id), Some(text(entry))));
        }
        changed
    }

    /// An entry of the history.
    pub(super) async fn past(&self, id: u64) -> Result<Option<Stored>> {
        let name = past_name(id);
        let found = self.store.document(&self.account, &name).await?;
        found
            .map(|found| parse(&found.name, &found.text))
            .transpose()
    }

    /// The entries of a block of the history, by number.
    pub(super) async fn past_block(&self, block: u64) -> Result<Vec<Stored>> {
        let prefix = format!("{PAST}{block:012}/");
        let documents = self.store.documents(&self.account, &prefix).await?;
        let entries = documents.iter();
        entries
            .map(|document| parse(&document.name, &document.text))
            .collect()
    }

    /// The entry that made or saved a record last.
    pub(super) async fn last_save(&self, record: &ConsignmentId) -> Result<Option<u64>> {
        let name = record_name(record);
        let found = self.store.document(&self.account, &name).await?;
        Ok(found.and_then(|document| document.text.parse().ok()))
    }
}

/// The earliest change of the replica after which a look needs all.
fn pin(draft: &Draft) -> Option<u64> {
    let live = draft.live.values().filter(|entry| !entry.state.is_final());
    let live = live.filter_map(|entry| entry.baseline);
    live.chain(draft.head.watches.iter().map(|watch| watch.baseline))
        .min()
}

fn live_name(id: u64) -> String {
    format!("{LIVE}{id:012}")
}

fn past_name(id: u64) -> String {
    format!("{PAST}{:012}/{id:012}", id / BLOCK)
}

pub(super) fn record_name(record: &ConsignmentId) -> String {
    format!("{RECORD}{record}")
}

fn text(document: &impl serde::Serialize) -> String {
    // OK because the documents are structs of texts, numbers and JSON.
    serde_json::to_string(document).unwrap_or_default()
}

fn parse(name: &str, text: &str) -> Result<Stored> {
    Ok(serde_json::from_str(text).map_err(|_| unreadable(name))?)
}

fn unreadable(name: &str) -> StoreError {
    StoreError::new(format!("the document {name} cannot be read"))
}
