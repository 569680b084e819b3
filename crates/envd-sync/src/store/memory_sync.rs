//! A store in memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;

use super::rows::{Batch, ChangeRange, ChangeRow, Document, Query, RecordRow};
use super::{Order, StoreError, SyncStore};
use crate::locked::lock;

/// Keeps copies in memory until the process ends: for tests, and for programs that copy the account at each start.
///
/// Clones share their data.
///
/// ```
/// # test_support::example(async {
/// use envd_sync::Replica;
/// use envd_sync::store::MemorySync;
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let store = MemorySync::new();
/// Replica::new(&account, store.clone()).sync().await?;
/// // A clone has the same copy.
/// assert!(Replica::new(&account, store).consignments().count().await? > 0);
/// # Ok(()) });
/// ```
#[derive(Clone, Default)]
pub struct MemorySync(Arc<Mutex<HashMap<String, Copied>>>);

/// The data of one account.
#[derive(Clone, Default)]
struct Copied {
    documents: BTreeMap<String, Document>,
    rows: BTreeMap<String, RecordRow>,
    changes: BTreeMap<u64, ChangeRow>,
}

impl MemorySync {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An independent copy, as a backup would be.
    #[cfg(test)]
    pub(crate) fn duplicate(&self) -> Self {
        Self(Mutex::new(self.accounts().clone()).into())
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<String, Copied>> {
        lock(&self.0)
    }

    fn read<T: Default>(&self, account: &str, read: impl FnOnce(&Copied) -> T) -> T {
        self.accounts().get(account).map(read).unwrap_or_default()
    }
}

impl fmt::Debug for MemorySync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemorySync({} accounts)", self.accounts().len())
    }
}

#[async_trait]
impl SyncStore for MemorySync {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        Ok(self.read(account, |copied| {
            let documents = copied.documents.range(prefix.to_owned()..);
            let documents = documents.take_while(|(name, _)| name.starts_with(prefix));
            documents.map(|(_, document)| document.clone()).collect()
        }))
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<RecordRow>, StoreError> {
        Ok(self.read(account, |copied| {
            let rows = ids.iter().filter_map(|id| copied.rows.get(id));
            rows.cloned().collect()
        }))
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<RecordRow>, StoreError> {
        Ok(self.read(account, |copied| {
            let after = query.after.as_ref();
            let after =
                after.map(|it| key(query.order, &it.id, it.sequence, it.updated_at.as_deref()));
            let rows = copied.rows.values().filter(|row| meets(query, row));
            let rows = rows.map(|row| {
                let updated_at = row.keys.updated_at.as_deref();
                (key(query.order, &row.id, row.sequence, updated_at), row)
            });
            let rows: BTreeMap<_, _> = rows.filter(|(key, _)| Some(key) > after.as_ref()).collect();
            rows.into_values().take(query.limit).cloned().collect()
        }))
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        Ok(self.read(account, |copied| {
            let rows = copied.rows.values().filter(|row| meets(query, row));
            rows.count() as u64
        }))
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        Ok(self.read(account, |copied| {
            let (from, replaced) = match range {
                ChangeRange::After(after) => (after, None),
                ChangeRange::Replacing { after, up_to } => (up_to, Some((after, up_to))),
            };
            let changes = copied
                .changes
                .range((Bound::Excluded(from), Bound::Unbounded));
            let mut changes: Vec<&ChangeRow> = changes.map(|(_, change)| change).collect();
            if let Some((after, up_to)) = replaced {
                changes.retain(|change| change.previous > after && change.previous <= up_to);
                changes.sort_by_key(|change| change.previous);
            }
            changes.into_iter().take(limit).cloned().collect()
        }))
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        let mut accounts = self.accounts();
        let copied = accounts.entry(account.to_owned()).or_default();
        let version = |name: &str| copied.documents.get(name).map_or(0, |found| found.version);
        let mut expected = batch.expected.iter();
        if expected.any(|(name, expected)| version(name) != *expected) {
            return Ok(false);
        }
        copied.apply(batch);
        Ok(true)
    }
}

impl Copied {
    fn apply(&mut self, batch: &Batch) {
        for (name, text) in &batch.documents {
            let Some(text) = text else {
                self.documents.remove(name);
                continue;
            };
            let document = self.documents.entry(name.clone()).or_default();
            *document = Document {
                name: name.clone(),
                version: document.version + 1,
                text: text.clone(),
            };
        }
        for row in &batch.rows {
            self.rows.insert(row.id.clone(), row.clone());
        }
        if let Some((generation, ids)) = &batch.seen {
            for id in ids {
                if let Some(row) = self.rows.get_mut(id) {
                    row.generation = *generation;
                }
            }
        }
        for id in &batch.removed {
            self.rows.remove(id);
        }
        for change in &batch.changes {
            self.changes.insert(change.sequence, change.clone());
        }
        if let Some(up_to) = batch.forget_changes {
            self.changes.retain(|sequence, _| *sequence > up_to);
        }
    }
}

fn meets(query: &Query, row: &RecordRow) -> bool {
    let keys = &row.keys;
    let equal = |wanted: &Option<String>, key: &Option<String>| wanted.is_none() || wanted == key;
    let at_least = |from: &Option<String>, key: &Option<String>| from.is_none() || key >= from;
    let at_most =
        |to: &Option<String>, key: &Option<String>| to.is_none() || key.is_some() && key <= to;
    equal(&query.status, &keys.status)
        && equal(&query.species, &keys.species)
        && equal(&query.number, &keys.number)
        && (equal(&query.pic, &keys.origin_pic) || equal(&query.pic, &keys.destination_pic))
        && at_least(&query.movement_from, &keys.movement_day)
        && at_most(&query.movement_to, &keys.movement_day)
        && at_least(&query.updated_from, &keys.updated_at)
        && query
            .before_generation
            .is_none_or(|before| row.generation < before)
        && query
            .up_to_sequence
            .is_none_or(|up_to| row.sequence <= up_to)
}

/// The sort key of a row.
type OrderKey<'a> = (Reverse<Option<&'a str>>, u64, &'a str);

/// `None` is less than any text, so it comes last in reverse.
fn key<'a>(order: Order, id: &'a str, sequence: u64, updated_at: Option<&'a str>) -> OrderKey<'a> {
    match order {
        Order::Id => (Reverse(None), 0, id),
        Order::LastUpdated => (Reverse(updated_at), 0, id),
        Order::Sequence => (Reverse(None), sequence, ""),
    }
}
