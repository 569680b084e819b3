//! What changed in the copy, the feed of it, and how far each of its consumers is.

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

/// One change of one record, as [`Changes`](super::Changes) tells it.
///
/// See [`Changes`](super::Changes) for an example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The number of the change, from 1, increasing in the account. Numbers may be left out.
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
    /// It is listed for the first time, or again after it was gone; or the consumer is new and the copy holds it.
    #[non_exhaustive]
    Appeared {
        /// As it was listed.
        record: LocalRecord,
    },
    /// Its content differs from before.
    #[non_exhaustive]
    Changed {
        /// As it was.
        before: LocalRecord,
        /// As it was listed now.
        after: LocalRecord,
        /// The paths of the fields that differ, such as `status`, `origin.pic` and `forms[0].serialNumber`, unknown fields
        /// included. The date of the last update is never among them. An empty path is the whole record.
        fields: Vec<String>,
        /// The status before and after, if it differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<StatusChange>,
    },
    /// The service lists it no more, and does not show it when asked for it. It may be deleted, or the user may not see it
    /// any more: the service gives the same answer to both. A record that is deleted and still shown is [`Changed`](Self::Changed)
    /// to the status DELETED.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Gone {
        /// As it was listed last.
        last_seen: LocalRecord,
    },
    /// The copy keeps it no longer: see [`Replica::retention`](super::Replica::retention). The service may show it.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Pruned {
        /// As it was listed last.
        last_seen: LocalRecord,
    },
}

/// A status that changed.
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
    /// The record as it is now, or as it was listed last.
    #[must_use]
    pub fn record(&self) -> &LocalRecord {
        match &self.kind {
            ChangeKind::Appeared { record } => record,
            ChangeKind::Changed { after, .. } => after,
            ChangeKind::Gone { last_seen } | ChangeKind::Pruned { last_seen } => last_seen,
        }
    }

    /// What a store has kept.
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
    /// What happened between two states of a record; `None`: nothing, or its date alone.
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

    /// The record before the change, if there was one.
    pub(crate) fn into_before(self) -> Option<LocalRecord> {
        match self {
            Self::Appeared { .. } => None,
            Self::Changed { before: record, .. }
            | Self::Gone { last_seen: record }
            | Self::Pruned { last_seen: record } => Some(record),
        }
    }
}

/// How many changes are read from the store at once. A full record has up to 40 kB, and a change two of them.
const CHUNK: usize = 100;

/// The changes of an account for a named consumer, whose position is kept in the store.
///
/// [`next`](Self::next) tells the changes after the position, in order; [`acknowledge`](Self::acknowledge) moves the
/// position. A program that ends between the two is told the change again when it runs next, and nothing older. A consumer
/// that has never been named before is first told everything that the copy holds, as
/// [`Appeared`](ChangeKind::Appeared).
///
/// Consumers do not disturb each other. Several processes may use one consumer: each is told every change that was not
/// acknowledged when it read it, so a change may be handled twice, but none is lost.
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
    /// Read and not told yet, in order.
    ready: VecDeque<Change>,
    /// Everything up to here was told, or there is nothing to tell.
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

    /// The next change, or `None` when there is none now; the next sync may bring some.
    ///
    /// It tells each change once, acknowledged or not. To be told those that were not acknowledged again, open the feed anew.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); [`Error::Usage`](crate::Error::Usage) for a name of no or more than 100 bytes, and when the
    /// consumer was removed meanwhile.
    pub async fn next(&mut self) -> Result<Option<Change>> {
        if self.ready.is_empty() {
            self.read().await?;
        }
        let change = self.ready.pop_front();
        self.told = change.as_ref().map_or(self.told, |change| change.sequence);
        Ok(change)
    }

    /// Makes durable that this change and all before it are handled. The position never moves back.
    ///
    /// Each call waits for the store to write; to be faster, acknowledge only the last one of several changes.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); [`Error::Usage`](crate::Error::Usage) when the consumer was removed, or when the copy never
    /// had this change.
    pub async fn acknowledge(&mut self, change: &Change) -> Result<()> {
        if change.sequence > self.told {
            let last = ReplicaState::read(&self.store).await?.last;
            if change.sequence > last {
                let sequence = change.sequence;
                return Err(Error::usage(format!(
                    "the change {sequence} is not one of this account: acknowledge what the same feed told"
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
        // Another process may have acknowledged more, and what is acknowledged may be forgotten.
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

    /// Takes changes up to the first one that cannot be read: it is read again, with all that follow, when those before are told.
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

/// What the copy held at a change `up_to`, by the number of each record's last change at that time, which is greater than
/// `from`. Not necessarily all; empty at the end.
///
/// A record that has changed since is in the changes, with its state before. The rows are read first: a record that leaves
/// them between the two reads is then found in the changes, and one that is found in both counts once.
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

    // Beyond the end of a read that was cut off, the other one cannot be told in order.
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

/// What the documents of consumers begin with.
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
    /// Whether it is still told what the copy held when it was named.
    pub is_catching_up: bool,
}

/// How far a consumer is, as its document says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConsumerPosition {
    pub(super) acknowledged: u64,
    /// The last change when the consumer was named, until it is acknowledged: up to there the consumer is told what the copy
    /// held then, and beyond it what changed.
    pub(super) snapshot_up_to: Option<u64>,
}

/// The position of a consumer, as the document of its name says; `None`: there is no such consumer.
async fn position(
    store: &AccountStore,
    name: &str,
) -> Result<Option<VersionedDocument<ConsumerPosition>>> {
    store.load(&document_name(name)?).await
}

/// Writes a position over what has the expected versions, or removes it; `false`: another process was faster.
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

/// Names a consumer, unless it has a name by now. It is to be told all that the copy holds at this moment: the versions in
/// the commit make sure that no change comes between the look at the last number and the commit.
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

/// Moves the position of a consumer forward to a change. Nothing is written when it is there or further.
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
    /// The consumers that have a name, by name.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn consumers(&self) -> Result<Vec<Consumer>> {
        let mut consumers = Vec::new();
        for (name, position) in positions(&self.store).await? {
            // The outbox is none.
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

    /// Removes a consumer, and returns whether there was one. While it is there, the changes that it has not acknowledged
    /// are kept.
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

/// All positions of an account, by name; that of the outbox has none.
async fn positions(store: &AccountStore) -> Result<Vec<(String, ConsumerPosition)>, StoreError> {
    let documents = store.documents(PREFIX).await?;
    let positions = documents.iter().map(|document| {
        let name = document.name.trim_start_matches(PREFIX).to_owned();
        Ok((name, VersionedDocument::read(document)?.value))
    });
    positions.collect()
}

/// The change up to which every consumer is, so that the changes up to it may be forgotten; never more than `last`.
///
/// `last` is the last change that is committed, not one of the batch that forgets, and that batch expects the version that
/// [`STATE`] had *before* this call. So a consumer that is named between this call and the commit is told of the copy as of
/// `last`, and needs none of the changes up to it.
pub(super) async fn needless_up_to(store: &AccountStore, last: u64) -> Result<u64> {
    let positions = positions(store).await?.into_iter();
    // Up to the snapshot a consumer is told of the copy, not of changes.
    let at = positions.map(|(_, it)| it.acknowledged.max(it.snapshot_up_to.unwrap_or(0)));
    Ok(at.fold(last, u64::min))
}

/// What feed and outbox need to know of the copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplicaState {
    /// The version of [`STATE`]; 0 before the first sync.
    pub(crate) version: u64,
    /// The number of the last change.
    pub(crate) last: u64,
    /// The greatest instant of a last change that was listed, in a form whose order is the order in time.
    pub(crate) latest: String,
    /// The places without a readable record that the last full walk and the incremental ones since have met.
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

    /// What a batch expects that relies on it.
    pub(crate) fn expected(&self) -> (String, u64) {
        (STATE.to_owned(), self.version)
    }
}

/// The document by which the outbox keeps the changes after this one; `None` removes it. Its name is [`PREFIX`] alone, which no
/// consumer can have. Who writes it expects the version of [`STATE`] at which that change was the last.
pub(crate) fn outbox_document(acknowledged: Option<u64>) -> (String, Option<String>) {
    let position = acknowledged.map(|acknowledged| ConsumerPosition {
        acknowledged,
        snapshot_up_to: None,
    });
    (PREFIX.to_owned(), position.as_ref().map(json))
}

fn removed(name: &str) -> Error {
    Error::usage(format!(
        "the consumer {name:?} was removed: open its changes again to name it anew"
    ))
}

fn document_name(consumer: &str) -> Result<String> {
    account_store::document_name(PREFIX, consumer, "a consumer")
}

#[cfg(test)]
mod tests;
