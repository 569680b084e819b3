//! Reads and writes the rows of an account. Each commit is atomic, and requires that the stored state is the one it was decided for.
//!
//! Each row is one document, with one name while it is open and another in the history. The document of the account is part of each
//! commit, so its version tells whether the cached rows are up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::apply::{Moment, RowEvent, Unfit, apply};
use super::compare::ServiceFields;
use super::declaration::{Declaration, state_of};
use super::events::{CAPACITY, Written};
use super::row::{Due, Listing, Owner, Question, Row, RowState, Time};
use crate::account_store::{self, AccountStore, check_format, json as text};
use crate::error::Result;
use crate::locked::lock;
use crate::replica::{ReplicaState, outbox_document};
use crate::store::rows::{Batch, Document};
use envd_sdk::auth::StoreError;
use envd_sdk::model::Timestamp;

/// The format of the documents. Other versions of this crate may write other formats.
///
/// Format 7 adds the application's keys and the writers, which an earlier version would drop.
const FORMAT: u32 = 7;

/// The oldest format that is read. A row keeps the format of its last write.
const OLDEST_FORMAT: u32 = 6;

const ACCOUNT: &str = "outbox/head";
const OPEN: &str = "outbox/open/";
const PAST: &str = "outbox/past/";
const RECORD: &str = "outbox/record/";
const KEY: &str = "outbox/key/";

/// The number of rows in a block of the history, which is read at once.
pub(super) const BLOCK: u64 = 100;

/// State that all rows of an account share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Head {
    format: u32,
    /// The number of the last row.
    pub(super) last: u64,
    /// The number of times that the lease was taken.
    pub(super) leases: u64,
    pub(super) lease: Option<Lease>,
    /// The service asked not to be called before this time.
    pub(super) pause: Option<Due>,
    /// The last complete list, stored with a mark or a pause.
    pub(super) list: Option<Listing>,
    /// The author names of our records.
    pub(super) service: ServiceFields,
    /// The replica keeps all changes after this number for the outbox.
    pin: Option<u64>,
    /// Rows with lower numbers were removed from the history.
    pub(super) pruned: u64,
}

/// The right of one process to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    pub(super) number: u64,
    pub(super) until: Timestamp,
}

/// The open rows as this process last read or wrote them.
#[derive(Default)]
struct Cache {
    version: u64,
    head: Head,
    rows: Rows,
    replica: ReplicaState,
}

/// The open rows by number, with indexes for each lookup of a commit, so that its cost does not grow with the number of rows.
#[derive(Default)]
struct Rows {
    all: BTreeMap<u64, Arc<Row>>,
    records: BTreeSet<(String, u64)>,
    expecting: BTreeSet<u64>,
    /// The number of the replica's change after which each row needs all changes.
    needs: BTreeSet<(u64, u64)>,
}

impl Rows {
    /// Sets an open row; `None`: it is at rest and removed.
    fn set(&mut self, id: u64, row: Option<Arc<Row>>) {
        if let Some(before) = self.all.remove(&id) {
            for record in before.records() {
                self.records.remove(&(record.clone(), id));
            }
            self.expecting.remove(&id);
            if let Some(since) = before.needs_since() {
                self.needs.remove(&(since, id));
            }
        }
        if let Some(row) = row {
            self.records
                .extend(row.records().map(|record| (record.clone(), id)));
            self.expecting.extend(row.is_expecting().then_some(id));
            self.needs
                .extend(row.needs_since().map(|since| (since, id)));
            self.all.insert(id, row);
        }
    }
}

/// Whole seconds since 1970.
pub(super) fn seconds(at: SystemTime) -> Time {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Whole seconds, rounded up.
pub(super) fn whole(time: Duration) -> Time {
    time.as_secs()
        .saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// The row that has a record, or had it when the row came to rest.
pub(super) enum Holder {
    Row(Arc<Row>),
    /// The row was pruned.
    Pruned,
}

/// A change that is not committed yet.
pub(super) struct Transaction<'a> {
    store: &'a OutboxStore,
    version: u64,
    pub(super) head: Head,
    changed: BTreeMap<u64, Row>,
    /// Further documents to write, or to remove.
    pub(super) documents: Vec<(String, Option<String>)>,
    /// The commit fails if the replica has changed since it was read.
    pub(super) expects_replica: bool,
    pub(super) replica: ReplicaState,
    pub(super) now: SystemTime,
    /// How long a request without a clear answer may still be carried out, in seconds.
    reconcile_after: Time,
    /// The user who is logged in, if known.
    pub(super) user: Option<String>,
}

impl Transaction<'_> {
    /// The version of the account's document before this change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// An open row.
    pub(super) fn row(&self, id: u64) -> Option<Arc<Row>> {
        let changed = self.changed.get(&id).cloned().map(Arc::new);
        changed.or_else(|| self.store.row(id))
    }

    /// A new row for a declaration, or for a change of `record`.
    pub(super) fn new_row(&mut self, record: Option<String>) -> Row {
        self.head.last += 1;
        let mut row = Row::new(self.head.last, record, self.listing(), self.version);
        row.shown.created_at = seconds(self.now);
        row
    }

    pub(super) fn put(&mut self, row: Row) -> &mut Row {
        self.changed.remove(&row.id);
        self.changed.entry(row.id).or_insert(row)
    }

    /// Appends an event that was decided for this state of the row; `None`: the row has changed since, or the record now belongs to
    /// another row. The answer to a request is accepted as long as that request is under way, even if the user has changed the intent
    /// meanwhile.
    pub(super) fn transition(&mut self, decided: &Row, event: &RowEvent) -> Option<&mut Row> {
        let now = self.row(decided.id)?;
        let is_answer = decided.state == RowState::Sending;
        let is_same = if is_answer {
            now.state == RowState::Sending && now.sent == decided.sent
        } else {
            *now == *decided
        };
        if !is_same {
            return None;
        }
        if let RowEvent::Reported(records) = event
            && records
                .iter()
                .any(|record| self.taken_by_another(record, decided.id).is_some())
        {
            return None;
        }
        let taken = match event {
            RowEvent::Applied { record, .. } => self.taken_by_another(&record.id, decided.id),
            _ => None,
        };
        match taken {
            None => self.append(&now, event).ok(),
            Some(record) if is_answer => {
                let asked = RowEvent::Asked(Question::OtherRecord(record));
                self.append(&now, &asked).ok()
            }
            Some(_) => None,
        }
    }

    /// The id of the record if it belongs to another open row: a record belongs to one row.
    fn taken_by_another(&self, record: &str, row: u64) -> Option<String> {
        let other = self.store.row_with(record, row)?;
        other.is_about(record).then(|| record.to_owned())
    }

    /// The replica's current state, for a row that is written now.
    pub(super) fn listing(&self) -> Listing {
        Listing {
            number: self.version,
            begun: seconds(self.now),
            last: self.replica.last,
            latest: self.replica.latest.clone(),
            copy: self.replica.version,
            gaps: self.replica.gaps.clone(),
        }
    }

    /// Appends an event to a row.
    pub(super) fn append(&mut self, row: &Row, event: &RowEvent) -> Result<&mut Row, Unfit> {
        let mut row = row.clone();
        let moment = Moment {
            now: seconds(self.now),
            listed: &self.listing(),
            begun: self.version,
            reconcile_after: self.reconcile_after,
            service: &self
                .store
                .profile_fields
                .with_authors_of(&self.head.service),
            user: self.user.as_deref(),
        };
        apply(&mut row, event, &moment)?;
        if let RowEvent::Reported(records) = event {
            let reported = records
                .iter()
                .map(|record| (record_name(record), Some(row.id.to_string())));
            self.documents.extend(reported);
        }
        Ok(self.put(row))
    }

    /// Adds the documents of the changed rows to the batch.
    fn write(&self, batch: &mut Batch) {
        for (id, row) in &self.changed {
            let mut name = open_name(*id);
            let mut other = past_name(*id);
            if row.is_at_rest() {
                (name, other) = (other, name);
                let index = row
                    .records()
                    .map(|record| (record_name(record), Some(id.to_string())));
                batch.documents.extend(index);
            }
            batch.documents.push((name, Some(packed(row))));
            batch.documents.push((other, None));
        }
    }

    /// The number of the replica's change after which the rows need all changes.
    fn pin(&self) -> Option<u64> {
        let cache = self.store.cache();
        let mut left = cache.rows.needs.iter();
        let left = left.find(|(_, id)| !self.changed.contains_key(id));
        let changed = self.changed.values().filter(|row| !row.is_at_rest());
        let changed = changed.filter_map(Row::needs_since);
        changed.chain(left.map(|(since, _)| *since)).min()
    }
}

/// The documents of one account.
pub(super) struct OutboxStore {
    pub(super) store: AccountStore,
    /// The service's fields according to the profile.
    profile_fields: ServiceFields,
    cache: Mutex<Cache>,
    pub(super) events: broadcast::Sender<Written>,
}

impl OutboxStore {
    pub(super) fn new(store: AccountStore, profile_fields: ServiceFields) -> Self {
        Self {
            store,
            profile_fields,
            cache: Mutex::default(),
            events: broadcast::Sender::new(CAPACITY),
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
    pub(super) fn row(&self, id: u64) -> Option<Arc<Row>> {
        self.cache().rows.all.get(&id).cloned()
    }

    pub(super) fn rows(&self) -> Vec<Arc<Row>> {
        self.cache().rows.all.values().cloned().collect()
    }

    /// The other rows with a creation that may still be carried out.
    pub(super) fn expecting(&self, except: u64) -> Vec<Arc<Row>> {
        let Rows { all, expecting, .. } = &self.cache().rows;
        let others = expecting.iter().filter(|id| **id != except);
        others.filter_map(|id| all.get(id).cloned()).collect()
    }

    /// The number of the replica's change after which the rows need all changes.
    pub(super) fn first_needed(&self) -> Option<u64> {
        self.cache().head.pin
    }

    /// The fields that the service fills in, and the author names of our records.
    pub(super) fn service(&self) -> ServiceFields {
        self.profile_fields
            .with_authors_of(&self.cache().head.service)
    }

    /// The cached state of the replica.
    pub(super) fn replica(&self) -> ReplicaState {
        self.cache().replica.clone()
    }

    /// Another open row that has the record. A discarded row that is still watched comes last.
    fn row_with(&self, record: &str, except: u64) -> Option<Arc<Row>> {
        let cache = self.cache();
        let from = cache.rows.records.range((record.to_owned(), 0)..);
        let holders = from.take_while(|(known, _)| known == record);
        let others = holders.filter(|(_, id)| *id != except);
        let rows = others.filter_map(|(_, id)| cache.rows.all.get(id));
        rows.max_by_key(|row| row.is_about(record)).cloned()
    }

    /// A transaction over the cached state. The commit checks that it is up to date.
    pub(super) fn draft(&self, now: SystemTime, reconcile_after: Duration) -> Transaction<'_> {
        let cache = self.cache();
        Transaction {
            store: self,
            version: cache.version,
            head: cache.head.clone(),
            changed: BTreeMap::new(),
            documents: Vec::new(),
            expects_replica: false,
            replica: cache.replica.clone(),
            now,
            reconcile_after: whole(reconcile_after),
            user: None,
        }
    }

    /// Reads what other processes have written, and the replica's state.
    pub(super) async fn learn(&self) -> Result<()> {
        self.load().await?;
        self.read_replica().await.map(drop)
    }

    pub(super) async fn read_replica(&self) -> Result<ReplicaState> {
        let replica = ReplicaState::read(&self.store).await?;
        self.cache().replica = replica.clone();
        Ok(replica)
    }

    /// Reads what other processes have written since the last load.
    pub(super) async fn load(&self) -> Result<()> {
        loop {
            let (version, head) = self.read_head().await?;
            if self.version() == version {
                return Ok(());
            }
            let documents = self.store.documents(OPEN).await?;
            if self.read_head().await?.0 != version {
                // The rows may belong to either version.
                continue;
            }
            let mut rows = Rows::default();
            for document in &documents {
                let row = unpacked(document)?;
                rows.set(row.id, Some(Arc::new(row)));
            }
            let mut known = self.cache();
            if known.version < version {
                (known.version, known.head, known.rows) = (version, head, rows);
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
        let what = format!("the outbox in {}", self.store.name());
        if head.format != OLDEST_FORMAT {
            check_format(&what, head.format, FORMAT)?;
        }
        Ok((document.version, head))
    }

    /// Commits a transaction; `false`: another process was faster.
    pub(super) async fn commit(&self, mut draft: Transaction<'_>) -> Result<bool> {
        let before = {
            let cache = self.cache();
            (cache.version == draft.version).then(|| cache.head.clone())
        };
        let Some(before) = before else {
            return Ok(false);
        };
        draft.head.format = FORMAT;
        draft.head.pin = draft.pin();
        let head = text(&draft.head);
        if draft.changed.is_empty() && draft.documents.is_empty() && head == text(&before) {
            return Ok(true);
        }
        let mut batch = Batch {
            expected: vec![(ACCOUNT.to_owned(), draft.version)],
            ..Batch::default()
        };
        if draft.expects_replica {
            batch.expected.push(draft.replica.expected());
        }
        draft.write(&mut batch);
        batch.documents.append(&mut draft.documents);
        if draft.head.pin != before.pin {
            batch.documents.push(outbox_document(draft.head.pin));
        }
        batch.documents.push((ACCOUNT.to_owned(), Some(head)));
        let is_written = self.store.commit(&batch).await?;
        if is_written {
            self.keep(draft);
        }
        Ok(is_written)
    }

    /// Updates the cache after a commit, and notifies the listeners.
    fn keep(&self, draft: Transaction<'_>) {
        let has_listeners = self.events.receiver_count() > 0;
        let mut written = Vec::new();
        let mut cache = self.cache();
        let is_next = cache.version == draft.version;
        for (id, row) in draft.changed {
            let row = Arc::new(row);
            if has_listeners {
                let before = cache.rows.all.get(&id);
                written.push(Written {
                    before: before.map(|row| (state_of(row), row.duplicates.len())),
                    declaration: Declaration::of(&row),
                });
            }
            if is_next {
                let is_open = !row.is_at_rest();
                cache.rows.set(id, is_open.then_some(row));
            }
        }
        if is_next {
            (cache.version, cache.head) = (draft.version + 1, draft.head);
        }
        drop(cache);
        for written in written {
            // OK to ignore: every listener is gone.
            let _ = self.events.send(written);
        }
    }

    /// A row, from the history too.
    pub(super) async fn any_row(&self, id: u64) -> Result<Option<Arc<Row>>> {
        if let Some(row) = self.row(id) {
            return Ok(Some(row));
        }
        let found = self.store.document(&past_name(id)).await?;
        found
            .map(|document| unpacked(&document).map(Arc::new))
            .transpose()
    }

    /// The number of the declaration with this key, even if it was pruned.
    pub(super) async fn with_key(&self, key: &str) -> Result<Option<u64>> {
        let found = self.store.document(&key_name(key)?).await?;
        Ok(found.and_then(|document| document.text.parse().ok()))
    }

    /// The rows of a block of the history, by number.
    pub(super) async fn past_block(&self, block: u64) -> Result<Vec<Row>> {
        let prefix = format!("{PAST}{block:012}/");
        let documents = self.store.documents(&prefix).await?;
        documents.iter().map(unpacked).collect()
    }

    /// How another row came to have the record. `is_listed`: as in [`Row::owner`].
    pub(super) async fn owner(
        &self,
        record: &str,
        except: u64,
        is_listed: bool,
    ) -> Result<Option<Owner>> {
        Ok(match self.holder(record, except).await? {
            Some(Holder::Row(row)) => row.owner(record, is_listed),
            // A record of a pruned declaration cannot be taken for that of another one.
            Some(Holder::Pruned) => is_listed.then_some(Owner::Maker),
            None => None,
        })
    }

    /// The other row that has the record.
    pub(super) async fn holder(&self, record: &str, except: u64) -> Result<Option<Holder>> {
        if let Some(row) = self.row_with(record, except) {
            return Ok(Some(Holder::Row(row)));
        }
        let found = self.store.document(&record_name(record)).await?;
        let id = found.and_then(|document| document.text.parse().ok());
        let Some(id) = id.filter(|id| *id != except) else {
            return Ok(None);
        };
        let row = self.any_row(id).await?;
        Ok(Some(row.map_or(Holder::Pruned, Holder::Row)))
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

pub(super) fn key_name(key: &str) -> Result<String> {
    account_store::document_name(KEY, key, "a key")
}

/// The document of a row. A text that occurs several times in it, such as in the intent and in a doubtful request, is stored once.
fn packed(row: &Row) -> String {
    let mut texts = Vec::new();
    // OK because the documents are structs of texts, numbers and JSON.
    let mut row = serde_json::to_value(row).unwrap_or_default();
    pack(&mut row, &mut texts);
    json!({"row": row, "texts": texts}).to_string()
}

pub(super) fn unpacked(document: &Document) -> Result<Row> {
    #[derive(Deserialize)]
    struct Packed {
        row: Value,
        texts: Vec<String>,
    }
    let read = || {
        let Packed { mut row, texts } = serde_json::from_str(&document.text).ok()?;
        unpack(&mut row, &texts)?;
        migrate(&mut row);
        serde_json::from_value(row).ok()
    };
    read().ok_or_else(|| unreadable(&document.name).into())
}

/// Converts a row of format 6 to the current format.
fn migrate(row: &mut Value) {
    let last = row.pointer("/history").and_then(Value::as_array);
    let last = last.and_then(|events| events.last()?.get("at").cloned());
    // The start of the wait is unknown, so count from the last event.
    let unanswered = json!({"since": last.unwrap_or_else(|| json!(0)), "looks": 0});
    for name in ["doubt", "unclear"] {
        if let Some(Value::Object(asked)) = row.get_mut(name) {
            asked
                .entry("unanswered")
                .or_insert_with(|| unanswered.clone());
        }
    }
    // In format 6, a text in `first` was always an update.
    if let Some(first @ Value::String(_)) = row.get_mut("first") {
        *first = json!({"Save": first.take()});
    }
}

/// Texts shorter than this are stored in place.
const LONG: usize = 100;

fn pack(value: &mut Value, texts: &mut Vec<String>) {
    each_text(value, &mut |text| {
        if text.len() >= LONG {
            let at = texts.iter().position(|known| known == text);
            let at = at.unwrap_or_else(|| {
                texts.push(std::mem::take(text));
                texts.len() - 1
            });
            *text = format!("#{at}");
        } else if text.starts_with('#') {
            text.insert(0, '#');
        }
        Some(())
    });
}

/// Reverses [`pack`]; `None`: a text is missing.
fn unpack(value: &mut Value, texts: &[String]) -> Option<()> {
    each_text(value, &mut |text| {
        if let Some(rest) = text.strip_prefix('#') {
            *text = if rest.starts_with('#') {
                rest.to_owned()
            } else {
                texts.get(rest.parse::<usize>().ok()?)?.clone()
            };
        }
        Some(())
    })
}

/// Changes each string of a document; stops at the first that cannot be changed.
fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String) -> Option<()>) -> Option<()> {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|item| each_text(item, change)),
        Value::Object(fields) => fields
            .values_mut()
            .try_for_each(|field| each_text(field, change)),
        _ => Some(()),
    }
}

fn unreadable(name: &str) -> StoreError {
    account_store::unreadable(format!("the document {name} cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_stored_once_and_read_unchanged() {
        let long = "#".repeat(LONG);
        for text in ["", "#", "##1", "#0", &long, "a"] {
            let row = json!({"wish": text, "sent": [text, {"text": text}], "#": 1});
            let mut packed = row.clone();
            let mut texts = Vec::new();
            pack(&mut packed, &mut texts);
            assert_eq!(texts.len(), usize::from(text.len() >= LONG));
            unpack(&mut packed, &texts).unwrap();
            assert_eq!(packed, row);
        }
        assert!(unpack(&mut json!("#1"), &[]).is_none());
    }
}
