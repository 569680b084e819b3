//! Reads and writes the rows of an account: each commit whole, and only over the state that it was made from.
//!
//! An open row is one document, one at its end another one; the account has one as well, and each commit writes it. So its version
//! says whether what this process knows is all there is.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::apply::{Event, Moment, Unfit, apply};
use super::compare::ServiceFields;
use super::decide::Owner;
use super::declaration::{Declaration, state_of};
use super::events::{EventSender, Written};
use super::observe::List;
use super::row::{Due, Listing, Row, State, Time};
use crate::account_store::AccountStore;
use crate::error::{Error, Result};
use crate::locked::lock;
use crate::replica::{ReplicaState, outbox_document};
use crate::store::rows::{Batch, Document};
use envd_sdk::auth::{StoreError, StoreErrorKind};
use envd_sdk::model::{ConsignmentNumber, Timestamp};

/// The form of the documents. Another version of this crate may write another one.
const FORMAT: u32 = 3;

const ACCOUNT: &str = "outbox/head";
const OPEN: &str = "outbox/open/";
const PAST: &str = "outbox/past/";
const RECORD: &str = "outbox/record/";

/// How many rows of the history are read at once.
pub(super) const BLOCK: u64 = 100;

/// What all rows of an account share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Head {
    format: u32,
    /// The number of the last row.
    pub(super) last: u64,
    /// How often the lease was taken.
    pub(super) leases: u64,
    pub(super) lease: Option<Lease>,
    /// The service asked not to be called before.
    pub(super) pause: Option<Due>,
    /// The last complete list, if something was written since.
    pub(super) list: Option<List>,
    /// What was learnt of the service.
    pub(super) service: ServiceFields,
    /// The change of the replica after which it keeps all.
    pin: Option<u64>,
    /// The rows before this one were removed from the history.
    pub(super) pruned: u64,
}

/// The right to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    pub(super) number: u64,
    pub(super) until: Timestamp,
}

/// A row, and what is shown of it beside what decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) row: Row,
    /// Counts the changes.
    version: u64,
    pub(super) shown: Shown,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Shown {
    pub(super) created_at: Timestamp,
    pub(super) not_after: Option<Timestamp>,
    pub(super) number: Option<ConsignmentNumber>,
    /// How many requests were sent.
    pub(super) attempts: u64,
    /// The record was found after its reply was lost.
    pub(super) is_adopted: bool,
    /// The errors of the service in its last answer.
    pub(super) findings: Vec<Value>,
}

impl Kept {
    pub(super) fn new(row: Row, created_at: Timestamp, not_after: Option<Timestamp>) -> Self {
        let shown = Shown {
            created_at,
            not_after,
            ..Shown::default()
        };
        Self {
            row,
            version: 0,
            shown,
        }
    }

    /// Whether the row is confirmed or discarded.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.row.state, State::Confirmed | State::Discarded)
    }

    /// Whether nothing is done about the row any more, unless a person wants something.
    fn is_at_rest(&self, now: Time) -> bool {
        let watch = self.row.watch.as_ref();
        self.is_over() && !watch.is_some_and(|watch| watch.left > 0 && watch.until.is_ahead(now))
    }

    /// Whether a creation of the row may be on its way.
    fn is_expecting(&self) -> bool {
        let row = &self.row;
        row.doubt.is_some() || row.watch.is_some() || row.sent.is_some()
    }

    /// The change of the replica after which the row needs all.
    fn pin(&self) -> Option<u64> {
        let row = &self.row;
        let known = row.record.is_none().then_some(row.known.last);
        let doubt = row.doubt.iter().map(|doubt| doubt.listed.last);
        let watch = row.watch.iter().map(|watch| watch.listed.last);
        let sent = row.sent.iter().map(|sent| sent.listed.last);
        let listed = doubt.chain(watch).chain(sent).filter(|last| *last > 0);
        listed.chain(known).min()
    }

    /// The records that are, or may become, those of the row.
    pub(super) fn records(&self) -> impl Iterator<Item = &String> {
        let row = &self.row;
        row.record.iter().chain(&row.adopt).chain(&row.duplicates)
    }

    /// `is_listed`: what a discarded row made counts as well. A person may adopt it all the same.
    pub(super) fn owner(&self, record: &str, is_listed: bool) -> Option<Owner> {
        let is_about = self.row.is_about(record);
        let is_its_own = is_about || is_listed && self.row.record.as_deref() == Some(record);
        if is_its_own && !self.row.is_named || self.row.duplicates.iter().any(|one| one == record) {
            return Some(Owner::Maker);
        }
        is_about.then_some(Owner::Namer)
    }
}

/// The open rows as this process read or wrote them last.
///
/// What is looked for in them is found by going over all: that is a memory read a row, where a commit waits for the disk.
#[derive(Default)]
struct Cache {
    version: u64,
    head: Head,
    rows: BTreeMap<u64, Arc<Kept>>,
}

/// When a change is made, and what the caller knows.
#[derive(Clone)]
pub(super) struct Setting {
    pub(super) now: SystemTime,
    pub(super) reconcile_after: Duration,
    /// The replica as it was read last. What relies on it is written only if it is still so.
    pub(super) replica: ReplicaState,
    /// Beside what was learnt of the service.
    pub(super) told: ServiceFields,
}

impl Setting {
    pub(super) fn time(&self) -> Time {
        seconds(self.now)
    }

    /// What was listed, as it is known to a row that is written now.
    pub(super) fn listing(&self, number: u64) -> Listing {
        let replica = &self.replica;
        Listing {
            number,
            begun: self.time(),
            last: replica.last,
            latest: replica.latest.clone(),
        }
    }
}

/// In whole seconds since 1970.
pub(super) fn seconds(at: SystemTime) -> Time {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// In whole seconds, at least as long.
pub(super) fn whole(time: Duration) -> Time {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// A change that is not written yet.
pub(super) struct Draft<'a> {
    store: &'a OutboxStore,
    version: u64,
    pub(super) head: Head,
    changed: BTreeMap<u64, Kept>,
    /// Rows that came from the history.
    woken: BTreeSet<u64>,
    /// Documents that are removed.
    pub(super) removed: Vec<String>,
    /// The replica must still be as the setting has it.
    pub(super) expects_replica: bool,
    pub(super) setting: &'a Setting,
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

impl Draft<'_> {
    /// The version of the account's document before this change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn get(&self, id: u64) -> Option<Arc<Kept>> {
        let changed = self.changed.get(&id).cloned().map(Arc::new);
        changed.or_else(|| self.store.row(id))
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.head.last += 1;
        self.head.last
    }

    pub(super) fn put(&mut self, kept: Kept) {
        let version = kept.version + 1;
        self.changed.insert(kept.row.id, Kept { version, ..kept });
    }

    /// A row of the history that is changed by what follows.
    pub(super) fn wake(&mut self, kept: Kept) {
        if self.store.row(kept.row.id).is_none() {
            self.woken.insert(kept.row.id);
            self.changed.insert(kept.row.id, kept);
        }
    }

    /// Whether a record belongs to another open row.
    pub(super) fn is_taken(&self, record: &str, except: u64) -> bool {
        let other = self.store.row_with(record, except);
        other.is_some_and(|other| other.row.is_about(record))
    }

    /// The other rows of which a creation may be on its way.
    pub(super) fn expecting(&self, except: u64) -> Vec<Arc<Kept>> {
        self.store.expecting(except)
    }

    /// What the service does with fields.
    pub(super) fn service(&self) -> ServiceFields {
        self.setting.told.clone().and_learnt(&self.head.service)
    }

    /// An event becomes true of a row. `why`: what the history says of it.
    pub(super) fn append(
        &mut self,
        id: u64,
        event: &Event,
        why: Option<String>,
    ) -> Result<(), Unfit> {
        let Some(kept) = self.get(id) else {
            return Err(Unfit::Discarded);
        };
        let mut kept = (*kept).clone();
        let service = self.service();
        let moment = Moment {
            now: self.setting.time(),
            listed: &self.setting.listing(self.version),
            begun: self.version,
            reconcile_after: whole(self.setting.reconcile_after),
            service: &service,
        };
        let is_sending = kept.row.state == State::Sending;
        apply(&mut kept.row, event, &moment)?;
        if let (Some(why), Some(last)) = (why, kept.row.history.last_mut()) {
            last.why = why;
        }
        let shown = &mut kept.shown;
        match event {
            Event::Marked(_) => {
                shown.attempts += 1;
                shown.findings.clear();
            }
            Event::Applied { .. } => shown.is_adopted = !is_sending,
            Event::Refused(findings) => shown.findings.clone_from(findings),
            _ => {}
        }
        self.put(kept);
        Ok(())
    }

    /// Changes what is shown of a row that this change has changed.
    pub(super) fn show(&mut self, id: u64, show: impl FnOnce(&mut Shown)) {
        if let Some(kept) = self.changed.get_mut(&id) {
            show(&mut kept.shown);
        }
    }

    /// What is written for the rows.
    fn write(&self, batch: &mut Batch) {
        let now = self.setting.time();
        for (id, kept) in &self.changed {
            let is_open = self.store.row(*id).is_some();
            let is_at_rest = kept.is_at_rest(now);
            let (name, other) = if is_at_rest {
                (past_name(*id), open_name(*id))
            } else {
                (open_name(*id), past_name(*id))
            };
            batch.documents.push((name, Some(packed(kept))));
            if is_at_rest && is_open || !is_at_rest && self.woken.contains(id) {
                batch.documents.push((other, None));
            }
            if is_at_rest {
                let records = kept.records();
                let index = records.map(|record| (record_name(record), Some(id.to_string())));
                batch.documents.extend(index);
            }
        }
    }

    /// The change of the replica after which rows need all.
    fn pin(&self) -> Option<u64> {
        let now = self.setting.time();
        let changed = self.changed.values().filter(|kept| !kept.is_at_rest(now));
        let cache = self.store.cache();
        let others = cache.rows.values();
        let others = others.filter(|kept| !self.changed.contains_key(&kept.row.id));
        changed
            .filter_map(Kept::pin)
            .chain(others.filter_map(|kept| kept.pin()))
            .min()
    }
}

/// The documents of one account.
pub(super) struct OutboxStore {
    pub(super) store: AccountStore,
    cache: Mutex<Cache>,
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

    fn cache(&self) -> MutexGuard<'_, Cache> {
        lock(&self.cache)
    }

    pub(super) fn head(&self) -> Head {
        self.cache().head.clone()
    }

    pub(super) fn version(&self) -> u64 {
        self.cache().version
    }

    /// An open row.
    pub(super) fn row(&self, id: u64) -> Option<Arc<Kept>> {
        self.cache().rows.get(&id).cloned()
    }

    pub(super) fn rows(&self) -> Vec<Arc<Kept>> {
        self.cache().rows.values().cloned().collect()
    }

    pub(super) fn ids(&self) -> Vec<u64> {
        self.cache().rows.keys().copied().collect()
    }

    /// The other rows of which a creation may be on its way.
    pub(super) fn expecting(&self, except: u64) -> Vec<Arc<Kept>> {
        let cache = self.cache();
        let rows = cache.rows.values();
        let others = rows.filter(|kept| kept.is_expecting() && kept.row.id != except);
        others.cloned().collect()
    }

    /// The change of the replica after which rows need all.
    pub(super) fn first_needed(&self) -> Option<u64> {
        self.cache()
            .rows
            .values()
            .filter_map(|kept| kept.pin())
            .min()
    }

    /// Another open row with a record.
    fn row_with(&self, record: &str, except: u64) -> Option<Arc<Kept>> {
        let cache = self.cache();
        let mut others = cache.rows.values().filter(|kept| kept.row.id != except);
        let found = others.find(|kept| kept.records().any(|known| known == record));
        found.cloned()
    }

    /// Reads what another process has written since.
    pub(super) async fn load(&self) -> Result<()> {
        loop {
            let (version, head) = self.read_head().await?;
            if self.version() == version {
                return Ok(());
            }
            let documents = self.store.documents(OPEN).await?;
            if self.read_head().await?.0 != version {
                // The rows may be of either version.
                continue;
            }
            let mut cache = Cache {
                version,
                head,
                ..Cache::default()
            };
            for document in documents {
                let kept = unpacked(&document)?;
                cache.rows.insert(kept.row.id, Arc::new(kept));
            }
            let mut known = self.cache();
            if known.version < version {
                *known = cache;
            }
            return Ok(());
        }
    }

    async fn read_head(&self) -> Result<(u64, Head)> {
        let Some(document) = self.store.document(ACCOUNT).await? else {
            return Ok((0, Head::default()));
        };
        let head: Head =
            serde_json::from_str(&document.text).map_err(|_| unreadable(&document.name))?;
        let place = self.store.name();
        let (kind, what) = match head.format.cmp(&FORMAT) {
            Ordering::Equal => return Ok((document.version, head)),
            Ordering::Greater => (
                StoreErrorKind::NewerVersion,
                format!(
                    "a newer version of this crate wrote the outbox in {place}: update this program"
                ),
            ),
            Ordering::Less => (
                StoreErrorKind::Unreadable,
                format!(
                    "an earlier version of this crate wrote the outbox in {place}: send what waits with the program that wrote it, \
                     then start with a new file or schema; nothing was changed"
                ),
            ),
        };
        Err(StoreError::new(kind, what).into())
    }

    /// Changes the rows. When another process was faster, the change is made again of what that one has written.
    ///
    /// The first try relies on what this process knows: mostly nobody else has written, and the commit checks it.
    pub(super) async fn change<T>(
        &self,
        setting: &Setting,
        mut change: impl FnMut(&mut Draft<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut is_read = self.version() == 0;
        if is_read {
            self.load().await?;
        }
        loop {
            let mut draft = self.draft(setting);
            let result = change(&mut draft);
            let written = match result {
                Ok(_) => self.commit(draft).await?,
                Err(_) => Commit::Nothing,
            };
            if written == Commit::Whole || written == Commit::Nothing && is_read {
                return result;
            }
            self.load().await?;
            is_read = true;
        }
    }

    /// As [`change`](Self::change), once, over what was loaded; `None`: another process was faster, or the replica has changed.
    pub(super) async fn try_change<T>(
        &self,
        setting: &Setting,
        change: impl FnOnce(&mut Draft<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut draft = self.draft(setting);
        let result = change(&mut draft)?;
        let written = self.commit(draft).await?;
        Ok((written != Commit::Overtaken).then_some(result))
    }

    fn draft<'a>(&'a self, setting: &'a Setting) -> Draft<'a> {
        let cache = self.cache();
        Draft {
            store: self,
            version: cache.version,
            head: cache.head.clone(),
            changed: BTreeMap::new(),
            woken: BTreeSet::new(),
            removed: Vec::new(),
            expects_replica: false,
            setting,
        }
    }

    async fn commit(&self, mut draft: Draft<'_>) -> Result<Commit> {
        let before = {
            let cache = self.cache();
            (cache.version == draft.version).then(|| cache.head.clone())
        };
        let Some(before) = before else {
            return Ok(Commit::Overtaken);
        };
        draft.head.format = FORMAT;
        draft.head.pin = draft.pin();
        let head = text(&draft.head);
        if draft.changed.is_empty() && draft.removed.is_empty() && head == text(&before) {
            return Ok(Commit::Nothing);
        }
        let mut batch = Batch {
            expected: vec![(ACCOUNT.to_owned(), draft.version)],
            ..Batch::default()
        };
        if draft.expects_replica {
            batch.expected.push(draft.setting.replica.expected());
        }
        draft.write(&mut batch);
        let removed = draft.removed.drain(..);
        batch.documents.extend(removed.map(|name| (name, None)));
        if draft.head.pin != before.pin {
            batch.documents.push(outbox_document(draft.head.pin));
        }
        batch.documents.push((ACCOUNT.to_owned(), Some(head)));
        if !self.store.commit(&batch).await? {
            return Ok(Commit::Overtaken);
        }
        self.keep(draft);
        Ok(Commit::Whole)
    }

    /// Keeps what was written, and tells the listeners.
    fn keep(&self, draft: Draft<'_>) {
        let now = draft.setting.time();
        let Draft {
            version,
            head,
            changed,
            ..
        } = draft;
        let has_listeners = self.events.has_listeners();
        let mut written = Vec::new();
        let mut cache = self.cache();
        let is_next = cache.version == version;
        for (id, kept) in changed {
            let kept = Arc::new(kept);
            if has_listeners {
                let before = cache.rows.get(&id);
                let before = before.map(|kept| (state_of(&kept.row), kept.row.duplicates.len()));
                let declaration = Declaration::of(&kept);
                written.push(Written {
                    before,
                    declaration,
                });
            }
            if !is_next {
            } else if kept.is_at_rest(now) {
                cache.rows.remove(&id);
            } else {
                cache.rows.insert(id, kept);
            }
        }
        if is_next {
            (cache.version, cache.head) = (version + 1, head);
        }
        drop(cache);
        for written in written {
            self.events.send(written);
        }
    }

    /// A row of the history.
    pub(super) async fn past(&self, id: u64) -> Result<Option<Kept>> {
        let found = self.store.document(&past_name(id)).await?;
        found.as_ref().map(unpacked).transpose()
    }

    /// The rows of a block of the history, by number.
    pub(super) async fn past_block(&self, block: u64) -> Result<Vec<Kept>> {
        let prefix = format!("{PAST}{block:012}/");
        let documents = self.store.documents(&prefix).await?;
        documents.iter().map(unpacked).collect()
    }

    /// Another row that a record belongs to, or belonged to.
    pub(super) async fn row_of(&self, record: &str, except: u64) -> Result<Option<Arc<Kept>>> {
        if let Some(kept) = self.row_with(record, except) {
            return Ok(Some(kept));
        }
        match self.last_row_of(record, except).await? {
            Some(id) => self.any_row(id).await,
            None => Ok(None),
        }
    }

    /// Another row that a record belonged to when that came to rest, also one that was pruned since.
    async fn last_row_of(&self, record: &str, except: u64) -> Result<Option<u64>> {
        let found = self.store.document(&record_name(record)).await?;
        let id = found.and_then(|document| document.text.parse().ok());
        Ok(id.filter(|id| *id != except))
    }

    async fn any_row(&self, id: u64) -> Result<Option<Arc<Kept>>> {
        match self.row(id) {
            Some(kept) => Ok(Some(kept)),
            None => Ok(self.past(id).await?.map(Arc::new)),
        }
    }

    /// The other row that a record belongs to.
    pub(super) async fn owner(
        &self,
        record: &str,
        except: u64,
        is_listed: bool,
    ) -> Result<Option<Owner>> {
        if let Some(kept) = self.row_with(record, except) {
            return Ok(kept.owner(record, is_listed));
        }
        let Some(id) = self.last_row_of(record, except).await? else {
            return Ok(None);
        };
        Ok(match self.any_row(id).await? {
            Some(kept) => kept.owner(record, is_listed),
            // What a pruned declaration made is no other one's by itself.
            None => is_listed.then_some(Owner::Maker),
        })
    }
}

fn open_name(id: u64) -> String {
    format!("{OPEN}{id:012}")
}

pub(super) fn past_name(id: u64) -> String {
    format!("{PAST}{:012}/{id:012}", id / BLOCK)
}

pub(super) fn record_name(record: &str) -> String {
    format!("{RECORD}{record}")
}

fn text(document: &impl Serialize) -> String {
    // OK because the documents are structs of texts, numbers and JSON.
    serde_json::to_string(document).unwrap_or_default()
}

/// The document of a row. A text that occurs several times in it, as one that is wanted and in doubt does, is written once.
fn packed(kept: &Kept) -> String {
    let mut texts = Vec::new();
    // OK because the documents are structs of texts, numbers and JSON.
    let mut row = serde_json::to_value(kept).unwrap_or_default();
    pack(&mut row, &mut texts);
    json!({"row": row, "texts": texts}).to_string()
}

pub(super) fn unpacked(document: &Document) -> Result<Kept> {
    #[derive(Deserialize)]
    struct Packed {
        row: Value,
        texts: Vec<String>,
    }
    let read = || {
        let Packed { mut row, texts } = serde_json::from_str(&document.text).ok()?;
        unpack(&mut row, &texts)?;
        serde_json::from_value(row).ok()
    };
    read().ok_or_else(|| Error::from(unreadable(&document.name)))
}

/// A shorter text is written where it stands.
const LONG: usize = 100;

fn pack(value: &mut Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= LONG => {
            let at = texts.iter().position(|known| known == text);
            let at = at.unwrap_or_else(|| {
                texts.push(std::mem::take(text));
                texts.len() - 1
            });
            *text = format!("#{at}");
        }
        Value::String(text) if text.starts_with('#') => text.insert(0, '#'),
        Value::Array(items) => items.iter_mut().for_each(|item| pack(item, texts)),
        Value::Object(fields) => fields.values_mut().for_each(|field| pack(field, texts)),
        _ => {}
    }
}

/// The opposite of [`pack`]; `None`: a text is missing.
fn unpack(value: &mut Value, texts: &[String]) -> Option<()> {
    match value {
        Value::String(text) => {
            if let Some(rest) = text.strip_prefix('#') {
                *text = if rest.starts_with('#') {
                    rest.to_owned()
                } else {
                    texts.get(rest.parse::<usize>().ok()?)?.clone()
                };
            }
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| unpack(item, texts))?,
        Value::Object(fields) => {
            let mut fields = fields.values_mut();
            fields.try_for_each(|field| unpack(field, texts))?;
        }
        _ => {}
    }
    Some(())
}

fn unreadable(name: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Unreadable,
        format!("the document {name} cannot be read"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MemorySync, SyncStore};

    #[tokio::test]
    async fn what_another_version_wrote_is_named_and_left_as_it_is() {
        for (format, kind) in [
            (2, StoreErrorKind::Unreadable),
            (FORMAT + 1, StoreErrorKind::NewerVersion),
        ] {
            let store = MemorySync::new();
            let head = (
                ACCOUNT.to_owned(),
                Some(json!({"format": format}).to_string()),
            );
            let batch = Batch {
                documents: vec![head],
                ..Batch::default()
            };
            store.commit("envd-1", &batch).await.unwrap();
            let written = store.documents("envd-1", "").await.unwrap();
            let account = AccountStore::new(Arc::new(store.clone()), "envd-1");
            let outbox = OutboxStore::new(account, EventSender::new());
            let setting = Setting {
                now: SystemTime::UNIX_EPOCH,
                reconcile_after: Duration::from_secs(60),
                replica: ReplicaState::default(),
                told: ServiceFields::default(),
            };
            let changed = outbox.change(&setting, |draft| Ok(draft.next_id())).await;
            let Err(Error::Store(error)) = changed else {
                panic!("{changed:?}")
            };
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains("the store"), "{error}");
            assert_eq!(store.documents("envd-1", "").await.unwrap(), written);
        }
    }

    #[test]
    fn a_text_is_written_once_and_read_as_it_was() {
        let long = "#".repeat(LONG);
        for text in ["", "#", "##1", "#0", &long, "a"] {
            let row = json!({"wish": text, "sent": [text, {"text": text}], "#": 1});
            let (mut packed, mut texts) = (row.clone(), Vec::new());
            pack(&mut packed, &mut texts);
            assert_eq!(texts.len(), usize::from(text.len() >= LONG));
            unpack(&mut packed, &texts).unwrap();
            assert_eq!(packed, row);
        }
        assert!(unpack(&mut json!("#1"), &[]).is_none());
    }
}
