//! Reads and writes of the outbox: each whole, and only over the state that it was made from.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::entry::{Entry, EntryKind};
use super::events::{EventSender, Written};
use super::stored::{FORMAT, Head, Stored};
use crate::account_store::AccountStore;
use crate::error::Result;
use crate::locked::lock;
use crate::replica::outbox_document;
use crate::store::rows::Batch;
use envd_sdk::auth::{StoreError, StoreErrorKind};
use envd_sdk::model::{ConsignmentId, Timestamp};

const HEAD: &str = "outbox/head";
const LIVE: &str = "outbox/live/";
const PAST: &str = "outbox/past/";
const RECORD: &str = "outbox/record/";

/// How many entries of the history are read at once.
pub(super) const BLOCK: u64 = 100;

/// The entries that are not at their end, by number.
type Live = Arc<BTreeMap<u64, Arc<Stored>>>;

/// The outbox of one account as it was at a moment. Nobody keeps one while something is written: the entries would be copied.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub(super) version: u64,
    pub(super) head: Head,
    pub(super) live: Live,
}

impl Snapshot {
    pub(super) fn entries(&self) -> impl Iterator<Item = &Stored> {
        self.live.values().map(AsRef::as_ref)
    }
}

/// A change of the outbox that is not written yet.
pub(super) struct Draft {
    pub(super) head: Head,
    live: Live,
    changed: BTreeMap<u64, Stored>,
    /// Entries of the history that are written anew, or removed.
    pub(super) past: BTreeMap<u64, Option<Stored>>,
    /// Documents that are removed.
    pub(super) forgotten: Vec<String>,
    /// The replica must still have this version.
    pub(super) replica: Option<u64>,
    pub(super) now: Timestamp,
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
    fn of(before: &Snapshot, now: Timestamp) -> Self {
        Self {
            head: before.head.clone(),
            live: Arc::clone(&before.live),
            changed: BTreeMap::new(),
            past: BTreeMap::new(),
            forgotten: Vec::new(),
            replica: None,
            now,
        }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.head.last += 1;
        self.head.last
    }

    pub(super) fn add(&mut self, entry: Stored) -> u64 {
        let id = entry.id;
        self.changed.insert(id, entry);
        id
    }

    pub(super) fn entry(&mut self, id: u64) -> Option<&mut Stored> {
        if !self.changed.contains_key(&id) {
            let entry = self.live.get(&id)?;
            self.changed.insert(id, (**entry).clone());
        }
        self.changed.get_mut(&id)
    }

    pub(super) fn get(&self, id: u64) -> Option<&Stored> {
        let live = || self.live.get(&id).map(AsRef::as_ref);
        self.changed.get(&id).or_else(live)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Stored> {
        let kept = self.live.values().map(AsRef::as_ref);
        let kept = kept.filter(|entry: &&Stored| !self.changed.contains_key(&entry.id));
        kept.chain(self.changed.values())
    }

    /// Changes the entries that a condition chooses.
    pub(super) fn change_where(
        &mut self,
        condition: impl Fn(&Stored) -> bool,
        mut change: impl FnMut(&mut Stored),
    ) {
        let chosen: Vec<u64> = (self.entries().filter(|entry| condition(entry)))
            .map(|entry| entry.id)
            .collect();
        for id in chosen {
            if let Some(entry) = self.entry(id) {
                change(entry);
            }
        }
    }

    /// Puts what differs into a batch, and moves what is at its end to the history.
    fn write_entries(&mut self, batch: &mut Batch) {
        (self.changed).retain(|id, entry| self.live.get(id).is_none_or(|known| **known != *entry));
        for (id, entry) in &self.changed {
            if !entry.state().is_final() {
                batch.documents.push((live_name(*id), Some(text(entry))));
                continue;
            }
            batch.documents.push((past_name(*id), Some(text(entry))));
            if self.live.contains_key(id) {
                batch.documents.push((live_name(*id), None));
            }
            if let Some(record) = entry.saved_record() {
                let saver = Some(id.to_string());
                batch.documents.push((record_name(record), saver));
            }
        }
        for (id, entry) in &self.past {
            let document = entry.as_ref().map(text);
            batch.documents.push((past_name(*id), document));
        }
    }

    /// What was written, for a screen. What is at its end stays there.
    fn written(&self) -> Vec<Written> {
        let shown = |entry: &Stored, before: Option<&Stored>| Written {
            before: before.map(Stored::state),
            entry: Entry::of(&Arc::new(entry.clone()), |id| self.get(id).is_some()),
        };
        let changed = self.changed.iter();
        let changed = changed.map(|(id, entry)| shown(entry, self.live.get(id).map(AsRef::as_ref)));
        let past = self.past.values().flatten();
        changed
            .chain(past.map(|entry| shown(entry, Some(entry))))
            .collect()
    }
}

impl Stored {
    /// The record whose state is what the entry has sent.
    pub(super) fn saved_record(&self) -> Option<&ConsignmentId> {
        let is_save = self.kind == EntryKind::Save;
        self.standing().record.filter(|_| is_save)
    }
}

/// The documents of one account.
pub(super) struct OutboxStore {
    pub(super) store: AccountStore,
    cache: Mutex<Snapshot>,
    events: EventSender,
}

impl OutboxStore {
    pub(super) fn new(store: AccountStore, events: EventSender) -> Self {
        Self {
            store,
            cache: Mutex::default(),
            events,
        }
    }

    /// The outbox as it is now. The entries are read only if another process has written since.
    pub(super) async fn load(&self) -> Result<Snapshot> {
        loop {
            let (version, head) = self.head().await?;
            let cached = self.cached();
            if cached.version == version {
                return Ok(cached);
            }
            let documents = self.store.documents(LIVE).await?;
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
                live: Arc::new(live),
            };
            let mut cache = lock(&self.cache);
            if cache.version < version {
                *cache = snapshot.clone();
            }
            return Ok(snapshot);
        }
    }

    pub(super) async fn head(&self) -> Result<(u64, Head)> {
        let Some(document) = self.store.document(HEAD).await? else {
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
        Err(StoreError::new(StoreErrorKind::Other, what).into())
    }

    /// The outbox as this process read or wrote it last.
    pub(super) fn cached(&self) -> Snapshot {
        let cache = lock(&self.cache);
        cache.clone()
    }

    /// Changes the outbox. When another process was faster, the change is made again of what that one has written.
    pub(super) async fn change<T>(
        &self,
        now: Timestamp,
        mut change: impl FnMut(&mut Draft) -> Result<T>,
    ) -> Result<T> {
        if let Some(result) = self.try_cached(now.clone(), &mut change).await? {
            return Ok(result);
        }
        loop {
            if let Some(result) = self.try_change(now.clone(), &mut change).await? {
                return Ok(result);
            }
        }
    }

    /// Changes the outbox as it was read last, without reading it: mostly nobody else has written, which the commit checks. `None`:
    /// somebody has, or the change fails or writes nothing, which needs the present state.
    pub(super) async fn try_cached<T>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut Draft) -> Result<T>,
    ) -> Result<Option<T>> {
        let before = self.cached();
        if before.version == 0 {
            return Ok(None);
        }
        let mut draft = Draft::of(&before, now);
        let Ok(result) = change(&mut draft) else {
            return Ok(None);
        };
        let written = self.commit(before, draft).await?;
        Ok((written == Commit::Whole).then_some(result))
    }

    /// As [`change`](Self::change), with an entry of the history as it is at that time.
    pub(super) async fn change_with_past<T>(
        &self,
        now: Timestamp,
        id: u64,
        mut change: impl FnMut(&mut Draft, Option<Stored>) -> T,
    ) -> Result<T> {
        loop {
            let before = self.load().await?;
            let mut draft = Draft::of(&before, now.clone());
            let result = change(&mut draft, self.past(id).await?);
            if self.commit(before, draft).await? != Commit::Overtaken {
                return Ok(result);
            }
        }
    }

    /// As [`change`](Self::change); `None` if another process was faster.
    pub(super) async fn try_change<T>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut Draft) -> Result<T>,
    ) -> Result<Option<T>> {
        let before = self.load().await?;
        let mut draft = Draft::of(&before, now);
        let result = change(&mut draft)?;
        let written = self.commit(before, draft).await?;
        Ok((written != Commit::Overtaken).then_some(result))
    }

    async fn commit(&self, before: Snapshot, mut draft: Draft) -> Result<Commit> {
        let mut batch = Batch {
            expected: vec![(HEAD.to_owned(), before.version)],
            ..Batch::default()
        };
        if let Some(version) = draft.replica {
            batch.expected.push(("replica".to_owned(), version));
        }
        draft.write_entries(&mut batch);
        draft.head.pin = pin(&draft);
        let is_same = draft.changed.is_empty() && draft.past.is_empty();
        if is_same && draft.head == before.head {
            return Ok(Commit::Nothing);
        }
        draft.head.format = FORMAT;
        let forgotten = draft.forgotten.drain(..);
        batch.documents.extend(forgotten.map(|name| (name, None)));
        if draft.head.pin != before.head.pin {
            batch.documents.push(outbox_document(draft.head.pin));
        }
        batch
            .documents
            .push((HEAD.to_owned(), Some(text(&draft.head))));
        if !self.store.commit(&batch).await? {
            return Ok(Commit::Overtaken);
        }
        let written = if self.events.has_listeners() {
            draft.written()
        } else {
            Vec::new()
        };
        self.keep(before, draft);
        for written in written {
            self.events.send(written);
        }
        Ok(Commit::Whole)
    }

    /// Keeps what was written. Only what changed is copied, as long as nobody else has a snapshot.
    fn keep(&self, before: Snapshot, draft: Draft) {
        let mut cache = lock(&self.cache);
        if cache.version > before.version {
            return;
        }
        let Draft {
            head,
            changed,
            live,
            ..
        } = draft;
        drop((before, live));
        (cache.version, cache.head) = (cache.version + 1, head);
        let entries = Arc::make_mut(&mut cache.live);
        for (id, entry) in changed {
            if entry.state().is_final() {
                entries.remove(&id);
            } else {
                entries.insert(id, Arc::new(entry));
            }
        }
    }

    /// An entry of the history.
    pub(super) async fn past(&self, id: u64) -> Result<Option<Stored>> {
        let name = past_name(id);
        let found = self.store.document(&name).await?;
        found
            .map(|found| parse(&found.name, &found.text))
            .transpose()
    }

    /// The entries of a block of the history, by number.
    pub(super) async fn past_block(&self, block: u64) -> Result<Vec<Stored>> {
        let prefix = format!("{PAST}{block:012}/");
        let documents = self.store.documents(&prefix).await?;
        let entries = documents.iter();
        entries
            .map(|document| parse(&document.name, &document.text))
            .collect()
    }

    /// The entry that made or saved a record last.
    pub(super) async fn last_save(&self, record: &ConsignmentId) -> Result<Option<u64>> {
        let name = record_name(record);
        let found = self.store.document(&name).await?;
        Ok(found.and_then(|document| document.text.parse().ok()))
    }
}

/// The earliest change of the replica after which a look needs all.
fn pin(draft: &Draft) -> Option<u64> {
    let live = draft.entries().filter(|entry| entry.creates());
    let live = live.map(Stored::standing);
    let live = live.filter(|standing| !standing.state.is_final());
    live.filter_map(|standing| standing.baseline)
        .chain(draft.head.watches.iter().map(|watch| watch.baseline))
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
    StoreError::new(
        StoreErrorKind::Other,
        format!("the document {name} cannot be read"),
    )
}
