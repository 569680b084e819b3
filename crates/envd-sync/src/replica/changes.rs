//! Changes of the copy, the feed that delivers them, and the position of each consumer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::Replica;
use super::local_record::{LocalRecord, changed_fields};
use super::sync_state::{STATE, SyncState};
use crate::account_store::{self, AccountStore, VersionedDocument, json, unreadable};
use crate::error::{Error, Result};
use crate::store::rows::{Batch, ChangeRange, ChangeRow, LocalPosition, Query};
use crate::store::{Order, StoreError};
use envd_sdk::model::{ConsignmentId, ConsignmentStatus};

/// One change of one record, from the feed [`Changes`](super::Changes).
///
/// See [`Changes`](super::Changes) for an example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The number of the change. Increases from 1 within the account; there may be gaps.
    pub sequence: u64,
    /// The record.
    pub id: ConsignmentId,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a record.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # let replica = Replica::new(&account, envd_sync::store::MemorySync::new());
/// use envd_sync::replica::ChangeKind;
/// # use envd_sync::Replica;
///
/// replica.sync().await?;
/// let mut feed = replica.changes("screen");
/// while let Some(change) = feed.next().await? {
///     match &change.kind {
///         ChangeKind::Appeared { .. } => println!("{} is new", change.id),
///         ChangeKind::Changed { status: Some(status), .. } => {
///             println!("{} is now {:?}", change.id, status.after);
///         }
///         ChangeKind::Changed { .. } => println!("{} changed", change.id),
///         _ => println!("{} is gone", change.id),
///     }
///     feed.acknowledge(&change).await?;
/// }
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A record that is listed for the first time, or again after it was gone; or the state of the copy, for a new
    /// consumer.
    #[non_exhaustive]
    Appeared {
        /// The record.
        record: LocalRecord,
    },
    /// The content differs from the previous state.
    #[non_exhaustive]
    Changed {
        /// The previous state.
        before: LocalRecord,
        /// The current state.
        after: LocalRecord,
        /// The paths of the fields that differ, such as `status`, `origin.pic` and `forms[0].serialNumber`, unknown fields
        /// included. The date of the last update is never included. An empty path stands for the entire record.
        fields: Vec<String>,
        /// The status before and after, if it differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<StatusChange>,
    },
    /// The service no longer lists the record, and a read by id does not find it. Either it was deleted or the user may no
    /// longer see it; the service gives the same answer to both. A deleted record that the service still shows is
    /// [`Changed`](Self::Changed) to the status DELETED.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Gone {
        /// The last state in the copy.
        last_seen: LocalRecord,
    },
    /// Removed from the copy by age: see [`Replica::retention`](super::Replica::retention). The service may still show it.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Pruned {
        /// The last state in the copy.
        last_seen: LocalRecord,
    },
}

/// The status before and after a change.
///
/// In [`ChangeKind::Changed`]. The [page of the crate](crate) has an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatusChange {
    /// The status before.
    pub before: Option<ConsignmentStatus>,
    /// The status now.
    pub after: Option<ConsignmentStatus>,
}

impl Change {
    /// The current state, or the last one before the record was removed.
    #[must_use]
    pub fn record(&self) -> &LocalRecord {
        match &self.kind {
            ChangeKind::Appeared { record } => record,
            ChangeKind::Changed { after, .. } => after,
            ChangeKind::Gone { last_seen } | ChangeKind::Pruned { last_seen } => last_seen,
        }
    }

    /// Parses a stored change.
    pub(crate) fn from_row(row: &ChangeRow) -> Result<Self, StoreError> {
        let kind = serde_json::from_str(&row.payload).map_err(|_| {
            unreadable(format!(
                "the change {} in the copy cannot be read",
                row.sequence
            ))
        })?;
        Ok(Self {
            sequence: row.sequence,
            id: row.id.as_str().into(),
            kind,
        })
    }
}

impl ChangeKind {
    /// The change from one state of a record to the next; `None` if only the date differs.
    pub(crate) fn between(before: Option<&LocalRecord>, after: &LocalRecord) -> Option<Self> {
        let Some(before) = before else {
            let record = after.clone();
            return Some(Self::Appeared { record });
        };
        if before.json() == after.json() {
            return None;
        }
        let fields = changed_fields(&before.value(), &after.value());
        let (was, is) = (before.status(), after.status());
        let status = (was != is).then_some(StatusChange {
            before: was,
            after: is,
        });
        (!fields.is_empty()).then(|| Self::Changed {
            before: before.clone(),
            after: after.clone(),
            fields,
            status,
        })
    }

    /// The record before the change; `None` if it appeared.
    pub(crate) fn into_before(self) -> Option<LocalRecord> {
        match self {
            Self::Appeared { .. } => None,
            Self::Changed { before: record, .. }
            | Self::Gone { last_seen: record }
            | Self::Pruned { last_seen: record } => Some(record),
        }
    }
}

/// How many changes are read from the store at once. A full record takes up to 40 kB, and a change holds two.
const CHUNK: usize = 100;

/// The feed of changes of an account, for a named consumer. The store keeps the consumer's position.
///
/// [`next`](Self::next) returns the changes after the position, in order; [`acknowledge`](Self::acknowledge) moves the
/// position. A program that ends between the two receives the same change on its next run, and no earlier one. A new
/// consumer first receives all records of the copy, as [`Appeared`](ChangeKind::Appeared).
///
/// Consumers are independent of each other. Several processes may share one consumer: each receives every change that was
/// not yet acknowledged when it read, so a change may be handled twice, but none is lost.
///
/// ```
/// # equipment::example(async {
/// use envd_sync::Replica;
/// use envd_sync::replica::ChangeKind;
/// use envd_sync::store::MemorySync;
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let replica = Replica::new(&account, MemorySync::new());
/// replica.sync().await?;
/// let mut feed = replica.changes("accounting");
/// let first = feed.next().await?.ok_or("no change")?;
/// assert!(matches!(first.kind, ChangeKind::Appeared { .. }));
/// feed.acknowledge(&first).await?;
/// let second = feed.next().await?;
/// assert!(second.is_some());
///
/// // The next run of the program is told what was not acknowledged.
/// let mut feed = replica.changes("accounting");
/// assert_eq!(feed.next().await?, second);
/// # Ok(()) });
/// ```
pub struct Changes {
    store: AccountStore,
    consumer: String,
    /// Read from the store but not yet returned, in order.
    ready: VecDeque<Change>,
    /// All changes up to this number were returned or acknowledged.
    told: u64,
    was_named: bool,
    chunk: usize,
}

impl Changes {
    pub(super) fn new(store: AccountStore, consumer: String) -> Self {
        Self {
            store,
            consumer,
            ready: VecDeque::new(),
            told: 0,
            was_named: false,
            chunk: CHUNK,
        }
    }

    /// The next change, or `None` until a sync brings more.
    ///
    /// Returns each change once, acknowledged or not. To receive the unacknowledged changes again, open a new feed.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); [`Error::Usage`](crate::Error::Usage) if the name is empty or longer than 100
    /// bytes, or if the consumer has been removed.
    pub async fn next(&mut self) -> Result<Option<Change>> {
        if self.ready.is_empty() {
            self.read().await?;
        }
        let change = self.ready.pop_front();
        self.told = change.as_ref().map_or(self.told, |change| change.sequence);
        Ok(change)
    }

    /// Records that this change and all earlier ones are handled. The position never moves back.
    ///
    /// Each call waits for a write of the store; to go faster, acknowledge only the last of several changes.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); [`Error::Usage`](crate::Error::Usage) if the consumer has been removed, or if
    /// the account has no such change.
    pub async fn acknowledge(&mut self, change: &Change) -> Result<()> {
        if change.sequence > self.told {
            let last = ReplicaState::read(&self.store).await?.last;
            if change.sequence > last {
                let sequence = change.sequence;
                return Err(Error::usage(format!(
                    "the account has no change {sequence}: acknowledge only changes that the same feed returned"
                )));
            }
        }
        acknowledge(&self.store, &self.consumer, change.sequence).await
    }

    async fn read(&mut self) -> Result<()> {
        let store = &self.store;
        let position = match position(store, &self.consumer).await? {
            Some(known) => known.value,
            None if self.was_named => return Err(removed(&self.consumer)),
            None => name(store, &self.consumer).await?,
        };
        self.was_named = true;
        // Another process may have acknowledged further, and acknowledged changes may have been deleted.
        self.told = self.told.max(position.acknowledged);
        if let Some(up_to) = position.snapshot_up_to.filter(|up_to| self.told < *up_to) {
            let held = held(store, self.told, up_to, self.chunk).await?;
            if !held.is_empty() {
                return self.fill(held.into_values());
            }
            self.told = up_to;
        }
        let range = ChangeRange::After(self.told);
        let changes = self.store.changes(range, self.chunk).await?;
        self.fill(changes.iter().map(Change::from_row))
    }

    /// Queues changes up to the first unreadable one. That one is read again, and its error returned, once the queue is
    /// empty.
    fn fill(&mut self, found: impl Iterator<Item = Result<Change, StoreError>>) -> Result<()> {
        for change in found {
            match change {
                Ok(change) => self.ready.push_back(change),
                Err(error) if self.ready.is_empty() => return Err(error.into()),
                Err(_) => break,
            }
        }
        Ok(())
    }
}

debug_shows!(Changes, |it| consumer: it.consumer, told: it.told);

/// The state of the copy at change `up_to`, in chunks: records keyed by the number of their last change up to then. Returns
/// those numbered above `from`, perhaps not all; an empty map is the end.
///
/// A record that has changed since is found in the log of changes, as the state before. The rows are read first, so a row
/// that is rewritten between the two reads shows up in the changes; if both reads return it, the map keeps one.
async fn held(
    store: &AccountStore,
    from: u64,
    up_to: u64,
    chunk: usize,
) -> Result<BTreeMap<u64, Result<Change, StoreError>>> {
    let query = Query {
        up_to_sequence: Some(up_to),
        order: Order::Sequence,
        after: Some(LocalPosition {
            sequence: from,
            ..LocalPosition::default()
        }),
        limit: chunk,
        ..Query::default()
    };
    let rows = store.query(&query).await?;
    let range = ChangeRange::Replacing { after: from, up_to };
    let replaced = store.changes(range, chunk).await?;

    // If one read stopped at the chunk size, later records of the other would come out of order.
    let last_row = rows.last().filter(|_| rows.len() == chunk);
    let last_replaced = replaced.last().filter(|_| replaced.len() == chunk);
    let complete_up_to = last_row
        .map_or(up_to, |row| row.sequence)
        .min(last_replaced.map_or(up_to, |change| change.previous));
    let replaced = replaced.iter().map(|row| {
        let missing = || {
            unreadable(format!(
                "the change {} in the copy has no record before",
                row.sequence
            ))
        };
        let before = Change::from_row(row).map(|change| change.kind.into_before());
        let before = before.and_then(|before| before.ok_or_else(missing));
        (row.previous, &row.id, before)
    });
    let rows = rows.iter();
    let rows = rows.map(|row| (row.sequence, &row.id, LocalRecord::of(row)));
    let held = replaced
        .chain(rows)
        .filter(|(sequence, ..)| *sequence <= complete_up_to);
    let changes = held.map(|(sequence, id, record)| {
        let id = id.as_str().into();
        let kind = record.map(|record| ChangeKind::Appeared { record });
        (sequence, kind.map(|kind| Change { sequence, id, kind }))
    });
    Ok(changes.collect())
}

/// The prefix of the documents of consumers.
const PREFIX: &str = "consumer/";

/// A named consumer of the changes of an account.
///
/// ```
/// # equipment::example(async {
/// # use envd_sync::Replica;
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # let replica = Replica::new(&account, envd_sync::store::MemorySync::new());
/// replica.sync().await?;
/// let mut feed = replica.changes("accounting");
/// let first = feed.next().await?.ok_or("no change")?;
/// feed.acknowledge(&first).await?;
///
/// // One that is not used any more keeps changes from being forgotten.
/// for consumer in replica.consumers().await? {
///     println!("{} has change {}", consumer.name, consumer.acknowledged);
/// }
/// replica.remove_consumer("accounting").await?;
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Consumer {
    /// Its name.
    pub name: String,
    /// The [`sequence`](super::Change::sequence) of the last change that it acknowledged; 0: none.
    pub acknowledged: u64,
    /// Whether it is still receiving the state of the copy at the time when it was created.
    pub is_catching_up: bool,
}

/// The document of a consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConsumerPosition {
    pub(super) acknowledged: u64,
    /// The number of the last change when the consumer was created, until it is acknowledged. Up to this number the
    /// consumer receives the copy of that time; after it, the changes.
    pub(super) snapshot_up_to: Option<u64>,
}

/// Reads the position of a consumer; `None`: it does not exist.
async fn position(
    store: &AccountStore,
    name: &str,
) -> Result<Option<VersionedDocument<ConsumerPosition>>> {
    store.load(&document_name(name)?).await
}

/// Writes or removes a position if the versions still match; `false`: another process wrote first.
async fn replace(
    store: &AccountStore,
    name: &str,
    version: u64,
    position: Option<ConsumerPosition>,
    state: Option<&ReplicaState>,
) -> Result<bool> {
    let name = document_name(name)?;
    let mut expected = vec![(name.clone(), version)];
    expected.extend(state.map(ReplicaState::expected));
    let batch = Batch {
        expected,
        documents: vec![(name, position.as_ref().map(json))],
        ..Batch::default()
    };
    Ok(store.commit(&batch).await?)
}

/// Creates a consumer, unless it exists by now. The commit expects the version of the replica state, so no change can be
/// added between reading the last number and writing the position: the snapshot is exact.
async fn name(store: &AccountStore, name: &str) -> Result<ConsumerPosition> {
    loop {
        if let Some(known) = position(store, name).await? {
            return Ok(known.value);
        }
        let state = ReplicaState::read(store).await?;
        let position = ConsumerPosition {
            acknowledged: 0,
            snapshot_up_to: Some(state.last).filter(|last| *last > 0),
        };
        if replace(store, name, 0, Some(position), Some(&state)).await? {
            return Ok(position);
        }
    }
}

/// Moves the position of a consumer forward to a change. Writes nothing if the position is already there or beyond.
async fn acknowledge(store: &AccountStore, name: &str, sequence: u64) -> Result<()> {
    loop {
        let known = position(store, name).await?;
        let VersionedDocument { mut value, version } = known.ok_or_else(|| removed(name))?;
        let is_new = sequence > value.acknowledged;
        value.acknowledged = sequence;
        value.snapshot_up_to.take_if(|up_to| sequence >= *up_to);
        if !is_new || replace(store, name, version, Some(value), None).await? {
            return Ok(());
        }
    }
}

impl Replica {
    /// The consumers of the account, by name.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn consumers(&self) -> Result<Vec<Consumer>> {
        let mut consumers = Vec::new();
        for (name, position) in positions(&self.store).await? {
            // The nameless one is the outbox.
            if !name.is_empty() {
                consumers.push(Consumer {
                    name,
                    acknowledged: position.acknowledged,
                    is_catching_up: position.snapshot_up_to.is_some(),
                });
            }
        }
        Ok(consumers)
    }

    /// Removes a consumer, and returns whether it existed. Until then, the store keeps all changes that it has not
    /// acknowledged.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn remove_consumer(&self, name: &str) -> Result<bool> {
        while let Some(known) = position(&self.store, name).await? {
            if replace(&self.store, name, known.version, None, None).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The positions of all consumers of an account, by name; the outbox has an empty name.
async fn positions(store: &AccountStore) -> Result<Vec<(String, ConsumerPosition)>, StoreError> {
    let documents = store.documents(PREFIX).await?;
    let positions = documents.iter().map(|document| {
        let name = document.name.trim_start_matches(PREFIX).to_owned();
        Ok((name, VersionedDocument::read(document)?.value))
    });
    positions.collect()
}

/// The last change that no consumer needs any more, at most `last`: changes up to it may be deleted.
///
/// `last` must be committed already, not part of the batch that deletes, and that batch must expect the version that
/// [`STATE`] had *before* this call. Then a consumer created between this call and the commit starts from the copy at
/// `last`, and needs no change up to it.
pub(super) async fn needless_up_to(store: &AccountStore, last: u64) -> Result<u64> {
    let positions = positions(store).await?.into_iter();
    // Up to its snapshot, a consumer reads the copy, not the changes.
    let at = positions.map(|(_, it)| it.acknowledged.max(it.snapshot_up_to.unwrap_or(0)));
    Ok(at.fold(last, u64::min))
}

/// The parts of the sync state that the feed and the outbox need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplicaState {
    /// The version of [`STATE`]; 0 before the first sync.
    pub(crate) version: u64,
    /// The number of the last change.
    pub(crate) last: u64,
    /// The latest change of any listed record, in a form that sorts by time.
    pub(crate) latest: String,
    /// The list positions without a readable record in the last full walk and the incremental walks since.
    pub(crate) gaps: BTreeSet<String>,
}

impl ReplicaState {
    pub(crate) async fn read(store: &AccountStore) -> Result<Self> {
        let VersionedDocument { value, version } = SyncState::load(store).await?;
        Ok(Self {
            version,
            last: value.last_sequence(),
            latest: value.latest.map(|shown| shown.0).unwrap_or_default(),
            gaps: value.gaps,
        })
    }

    /// The version that a batch relying on this state must expect.
    pub(crate) fn expected(&self) -> (String, u64) {
        (STATE.to_owned(), self.version)
    }
}

/// The document with the outbox's position in the feed, which keeps the changes after it from being deleted; `None` removes
/// it. Its name is the bare [`PREFIX`], which no consumer can have. The write must expect the version of [`STATE`] at which
/// that change was the last.
pub(crate) fn outbox_document(acknowledged: Option<u64>) -> (String, Option<String>) {
    let position = acknowledged.map(|acknowledged| ConsumerPosition {
        acknowledged,
        snapshot_up_to: None,
    });
    (PREFIX.to_owned(), position.as_ref().map(json))
}

fn removed(name: &str) -> Error {
    Error::usage(format!(
        "the consumer {name:?} was removed: open its feed again to create it"
    ))
}

fn document_name(consumer: &str) -> Result<String> {
    account_store::document_name(PREFIX, consumer, "a consumer")
}

#[cfg(test)]
mod tests;
