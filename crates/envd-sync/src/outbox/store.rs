//! Reads and writes the rows of an account: each commit whole, and only over the state that it was made from.
//!
//! An open row is one document, one at its end another one; the account has one as well, and each commit writes it. So its version
//! says whether what this process knows is all there is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::apply::{Moment, RowEvent, Unfit, apply};
use super::compare::{ServiceFields, ServiceRecord};
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

/// The form of the documents. Another version of this crate may write another one.
///
/// 7 has keys of the application and writers, which an earlier version would lose.
const FORMAT: u32 = 7;

/// The oldest form that is read. A row keeps the form in which it was written last.
const OLDEST_FORMAT: u32 = 6;

const ACCOUNT: &str = "outbox/head";
const OPEN: &str = "outbox/open/";
const PAST: &str = "outbox/past/";
const RECORD: &str = "outbox/record/";
const KEY: &str = "outbox/key/";

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
    pub(super) list: Option<Listing>,
    /// Who the author of our records is.
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

/// The open rows as this process read or wrote them last.
#[derive(Default)]
struct Cache {
    version: u64,
    head: Head,
    rows: Rows,
    replica: ReplicaState,
}

/// The open rows by number, and by what each commit looks for: its cost does not grow with what waits.
#[derive(Default)]
struct Rows {
    all: BTreeMap<u64, Arc<Row>>,
    records: BTreeSet<(String, u64)>,
    expecting: BTreeSet<u64>,
    /// The changes of the replica after which they need all.
    needs: BTreeSet<(u64, u64)>,
}

impl Rows {
    /// `None`: the row is at rest.
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

/// In whole seconds since 1970.
pub(super) fn seconds(at: SystemTime) -> Time {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// In whole seconds, at least as long.
pub(super) fn whole(time: Duration) -> Time {
    time.as_secs()
        .saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// The row that a record belongs to, or belonged to when that came to rest.
pub(super) enum Holder {
    Row(Arc<Row>),
    /// It was pruned.
    Pruned,
}

/// A change that is not written yet.
pub(super) struct Transaction<'a> {
    store: &'a OutboxStore,
    version: u64,
    pub(super) head: Head,
    changed: BTreeMap<u64, Row>,
    /// Further documents, to write or to remove.
    pub(super) documents: Vec<(String, Option<String>)>,
    /// The replica must still be as it was read.
    pub(super) expects_replica: bool,
    pub(super) replica: ReplicaState,
    pub(super) now: SystemTime,
    /// How long a request without a clear answer may still be carried out.
    reconcile_after: Time,
    /// The user who is logged in, if that is known.
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

    /// A new row: a declaration, or what is wanted of a record.
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

    /// Makes an event true of a row, over the state that it was decided for; `None`: the row has changed since, or the record belongs
    /// to another row by now. An answer is about the request that is under way, whatever a person has written meanwhile.
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
        let taken = match event {
            RowEvent::Applied { record, .. } => self.taken_by_another(record, decided.id),
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

    /// The id of a record, if it belongs to another open row: a record belongs to one row.
    fn taken_by_another(&self, record: &ServiceRecord, row: u64) -> Option<String> {
        let other = self.store.row_with(&record.id, row)?;
        other.is_about(&record.id).then(|| record.id.clone())
    }

    /// What was listed, as it is known to a row that is written now.
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

    /// An event becomes true of a row.
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
        if let RowEvent::Told(records) = event {
            let reported = records
                .iter()
                .map(|record| (record_name(record), Some(row.id.to_string())));
            self.documents.extend(reported);
        }
        Ok(self.put(row))
    }

    /// What is written for the rows.
    fn write(&self, batch: &mut Batch) {
        for (id, row) in &self.changed {
            let (mut name, mut other) = (open_name(*id), past_name(*id));
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

    /// The change of the replica after which rows need all.
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
    /// What the profile says of the service's fields.
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

    /// The other rows of which a creation may be on its way.
    pub(super) fn expecting(&self, except: u64) -> Vec<Arc<Row>> {
        let Rows { all, expecting, .. } = &self.cache().rows;
        let others = expecting.iter().filter(|id| **id != except);
        others.filter_map(|id| all.get(id).cloned()).collect()
    }

    /// The change of the replica after which rows need all.
    pub(super) fn first_needed(&self) -> Option<u64> {
        self.cache().head.pin
    }

    /// What the service writes by itself, and who the author of our records is.
    pub(super) fn service(&self) -> ServiceFields {
        self.profile_fields
            .with_authors_of(&self.cache().head.service)
    }

    /// The replica as it was read last.
    pub(super) fn replica(&self) -> ReplicaState {
        self.cache().replica.clone()
    }

    /// Another open row with a record.
    fn row_with(&self, record: &str, except: u64) -> Option<Arc<Row>> {
        let cache = self.cache();
        let from = cache.rows.records.range((record.to_owned(), 0)..);
        let mut holders = from.take_while(|(known, _)| known == record);
        let (_, id) = holders.find(|(_, id)| *id != except)?;
        cache.rows.all.get(id).cloned()
    }

    /// A change of what this process knows. That it is all there is, the commit checks.
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

    /// Reads what other processes have written and listed.
    pub(super) async fn learn(&self) -> Result<()> {
        self.load().await?;
        self.read_replica().await.map(drop)
    }

    pub(super) async fn read_replica(&self) -> Result<ReplicaState> {
        let replica = ReplicaState::read(&self.store).await?;
        self.cache().replica = replica.clone();
        Ok(replica)
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

    /// Writes a change; `false`: another process was faster.
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

    /// Keeps what was written, and tells the listeners.
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
            // OK to ignore: nobody listens any more.
            let _ = self.events.send(written);
        }
    }

    /// A row, also one of the history.
    pub(super) async fn any_row(&self, id: u64) -> Result<Option<Arc<Row>>> {
        if let Some(row) = self.row(id) {
            return Ok(Some(row));
        }
        let found = self.store.document(&past_name(id)).await?;
        found
            .map(|document| unpacked(&document).map(Arc::new))
            .transpose()
    }

    /// The number of the declaration with a key of the application, also of one that was pruned.
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

    /// Whose a record is, if it is of another row. `is_listed`: as in [`Row::owner`].
    pub(super) async fn owner(
        &self,
        record: &str,
        except: u64,
        is_listed: bool,
    ) -> Result<Option<Owner>> {
        Ok(match self.holder(record, except).await? {
            Some(Holder::Row(row)) => row.owner(record, is_listed),
            // What a pruned declaration made is no other one's by itself.
            Some(Holder::Pruned) => is_listed.then_some(Owner::Maker),
            None => None,
        })
    }

    /// The other row that a record belongs to.
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

/// The document of a row. A text that occurs several times in it, as one that is wanted and in doubt does, is written once.
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

/// A row as format 6 wrote it, in the form of now.
fn migrate(row: &mut Value) {
    let last = row.pointer("/history").and_then(Value::as_array);
    let last = last.and_then(|events| events.last()?.get("at").cloned());
    // How long it had waited is not known any more, so that counts from the last event.
    let unanswered = json!({"since": last.unwrap_or_else(|| json!(0)), "looks": 0});
    for name in ["doubt", "unclear"] {
        if let Some(Value::Object(asked)) = row.get_mut(name) {
            asked
                .entry("unanswered")
                .or_insert_with(|| unanswered.clone());
        }
    }
    // A text that goes first was always an update.
    if let Some(first @ Value::String(_)) = row.get_mut("first") {
        *first = json!({"Save": first.take()});
    }
}

/// A shorter text is written where it stands.
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

/// The opposite of [`pack`]; `None`: a text is missing.
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

/// Changes each text of a document, until one cannot be changed.
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
