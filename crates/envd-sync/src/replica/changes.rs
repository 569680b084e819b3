//! The changes of the copy, the feed that delivers them, and the positions of its consumers.

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

/// One change of one record, delivered by [`Changes`](super::Changes).
///
/// See [`Changes`](super::Changes) for an example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The number of the change, from 1, increasing within the account. Numbers may be skipped.
    pub sequence: u64,
    /// The record.
    pub id: ConsignmentId,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a record.
///
/// ```
/// # test_support::example(async {
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
    /// The record is listed for the first time, or again after it was gone; or the consumer is new and the copy holds the record.
    #[non_exhaustive]
    Appeared {
        /// The listed record.
        record: LocalRecord,
    },
    /// The content of the record changed.
    #[non_exhaustive]
    Changed {
        /// The record before the change.
        before: LocalRecord,
        /// The record as listed now.
        after: LocalRecord,
        /// The paths of the changed fields, such as `status`, `origin.pic` and `forms[0].serialNumber`, unknown fields included.
        /// The date of the last update is never among them. An empty path stands for the complete record.
        fields: Vec<String>,
        /// The status before and after, if it differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<StatusChange>,
    },
    /// The service no longer lists the record, and a read does not return it. It is deleted, or the user no longer has access: the
    /// service answers both cases alike. A record that is deleted but still shown is [`Changed`](Self::Changed) to the status
    /// DELETED.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Gone {
        /// The record as last listed.
        last_seen: LocalRecord,
    },
    /// The copy no longer keeps the record: see [`Replica::retention`](super::Replica::retention). The service may still show it.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Pruned {
        /// The record as last listed.
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
    /// The record after the change, or as last listed if it is gone or pruned.
    #[must_use]
    pub fn record(&self) -> &LocalRecord {
        match &self.kind {
            ChangeKind::Appeared { record } => record,
            ChangeKind::Changed { after, .. } => after,
            ChangeKind::Gone { last_seen } | ChangeKind::Pruned { last_seen } => last_seen,
        }
    }

    /// Reads a row of the store.
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
    /// The change between two states of a record; `None` if only the date differs, or nothing.
    pub(crate) fn between(before: Option<&LocalRecord>, after: &LocalRecord) -> Option<Self> {
        let Some(before) = before else {
            let record = after.clone();
            return Some(Self::Appeared { record });
        };
        if before.json() == after.json() {
            return None;
        }
        let fields = changed_fields(&before.value(), &after.value());
        let was = before.status();
        let is = after.status();
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

/// The number of changes per read of the store. A full record has up to 40 kB, and a change holds two records.
const CHUNK: usize = 100;

/// The changes of an account for a named consumer, whose position is kept in the store.
///
/// [`next`](Self::next) returns the changes after the position, in order; [`acknowledge`](Self::acknowledge) moves the position. If
/// a program ends between the two, its next run receives the unacknowledged changes again, and no older ones. A new consumer first
/// receives everything that the copy holds, as [`Appeared`](ChangeKind::Appeared).
///
/// Consumers are independent of each other. Several processes may share a consumer: each receives all changes that were not
/// acknowledged when it read them, so a change may be handled twice, but none is lost.
///
/// ```
/// # test_support::example(async {
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
/// // The next run of the program receives the unacknowledged change again.
/// let mut feed = replica.changes("accounting");
/// assert_eq!(feed.next().await?, second);
/// # Ok(()) });
/// ```
pub struct Changes {
    store: AccountStore,
    consumer: String,
    /// Changes that were read and not yet returned, in order.
    ready: VecDeque<Change>,
    /// The last change that was returned or needs no delivery.
    delivered: u64,
    was_named: bool,
    chunk: usize,
}

impl Changes {
    pub(super) fn new(store: AccountStore, consumer: String) -> Self {
        Self {
            store,
            consumer,
            ready: VecDeque::new(),
            delivered: 0,
            was_named: false,
            chunk: CHUNK,
        }
    }

    /// The next change, or `None` if there is none yet; the next sync may bring some.
    ///
    /// Each change is returned once, acknowledged or not. To receive unacknowledged changes again, open the feed again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no change is lost: the next call returns it.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); [`Error::Usage`](crate::Error::Usage) if the name is empty or longer than 100 bytes,
    /// and if the consumer was removed in the meantime.
    pub async fn next(&mut self) -> Result<Option<Change>> {
        if self.ready.is_empty() {
            self.read().await?;
        }
        let change = self.ready.pop_front();
        self.delivered = change
            .as_ref()
            .map_or(self.delivered, |change| change.sequence);
        Ok(change)
    }

    /// Stores that this change and all earlier ones are handled; the position never moves back.
    ///
    /// Each call waits until the store has written; for speed, acknowledge only the last of several changes.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the acknowledgement may have been stored. Repeating the call is harmless.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); [`Error::Usage`](crate::Error::Usage) if the consumer was removed, or if the copy
    /// never had this change.
    pub async fn acknowledge(&mut self, change: &Change) -> Result<()> {
        if change.sequence > self.delivered {
            let last = ReplicaState::read(&self.store).await?.last;
            if change.sequence > last {
                let sequence = change.sequence;
                return Err(Error::usage(format!(
                    "the change {sequence} is not one of this account: acknowledge only changes that this feed returned"
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
        // Another process may have acknowledged further, and acknowledged changes may already be deleted.
        self.delivered = self.delivered.max(position.acknowledged);
        if let Some(up_to) = position
            .snapshot_up_to
            .filter(|up_to| self.delivered < *up_to)
        {
            let held = held(store, self.delivered, up_to, self.chunk).await?;
            if !held.is_empty() {
                return self.fill(held.into_values());
            }
            self.delivered = up_to;
        }
        let range = ChangeRange::After(self.delivered);
        let changes = self.store.changes(range, self.chunk).await?;
        self.fill(changes.iter().map(Change::from_row))
    }

    /// Queues the changes before the first unreadable one. After these are returned, the next read starts at the unreadable change
    /// and fails.
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

debug_shows!(Changes, |it| consumer: it.consumer, delivered: it.delivered);

/// The records that the copy held at the change `up_to`, each keyed by the number of its last change at that time. Only keys above
/// `from`, and not necessarily all of them; empty at the end.
///
/// A record that changed after `up_to` is restored from the "before" state of that change. The rows are read first: a record that
/// leaves the rows between the two reads is then found in the changes. A record found in both has the same key, so it appears once.
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

    // If one of the reads hit its limit, stop at its end: entries of the other read beyond that point would be out of order.
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

/// The prefix of the names of consumer documents.
const PREFIX: &str = "consumer/";

/// A named consumer of the changes of an account.
///
/// ```
/// # test_support::example(async {
/// # use envd_sync::Replica;
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # let replica = Replica::new(&account, envd_sync::store::MemorySync::new());
/// replica.sync().await?;
/// let mut feed = replica.changes("accounting");
/// let first = feed.next().await?.ok_or("no change")?;
/// feed.acknowledge(&first).await?;
///
/// // The store keeps all changes that a consumer has not acknowledged: remove unused consumers.
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
    /// The [`sequence`](super::Change::sequence) of the last acknowledged change; 0: none.
    pub acknowledged: u64,
    /// Whether it still receives the records that the copy held when the consumer was created.
    pub is_catching_up: bool,
}

/// The stored position of a consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConsumerPosition {
    pub(super) acknowledged: u64,
    /// The last change at the time the consumer was created, until it is acknowledged. Up to this change the consumer receives the
    /// records that the copy held at that time, after it the changes.
    pub(super) snapshot_up_to: Option<u64>,
}

/// The position of a consumer; `None` if the consumer does not exist.
async fn position(
    store: &AccountStore,
    name: &str,
) -> Result<Option<VersionedDocument<ConsumerPosition>>> {
    store.load(&document_name(name)?).await
}

/// Writes or removes a position if the versions still match; `false`: another process was faster.
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

/// Creates a consumer unless it exists. Its snapshot is the copy at this moment: the commit expects the version of the state that
/// was read, so no change can come between reading the last number and the commit.
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

/// Moves the position of a consumer forward to a change. Writes nothing if the position is already there or further.
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
    /// The consumers of the copy, sorted by name.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn consumers(&self) -> Result<Vec<Consumer>> {
        let mut consumers = Vec::new();
        for (name, position) in positions(&self.store).await? {
            // The position of the outbox has an empty name.
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

    /// Removes a consumer, and returns whether it existed.
    ///
    /// Until then, the changes that it has not acknowledged are kept.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the consumer may have been removed. Repeating the call then returns `false`.
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

/// All positions of an account with their names; that of the outbox has an empty name.
async fn positions(store: &AccountStore) -> Result<Vec<(String, ConsumerPosition)>, StoreError> {
    let documents = store.documents(PREFIX).await?;
    let positions = documents.iter().map(|document| {
        let name = document.name.trim_start_matches(PREFIX).to_owned();
        Ok((name, VersionedDocument::read(document)?.value))
    });
    positions.collect()
}

/// The last change that all consumers have acknowledged, so that the changes up to it may be deleted; never more than `last`.
///
/// `last` is the last committed change, without those of the batch that deletes. That batch expects the version that [`STATE`] had
/// *before* this call. So a consumer that is created between this call and the commit starts with a snapshot at `last`, and needs
/// none of the changes up to it.
pub(super) async fn needless_up_to(store: &AccountStore, last: u64) -> Result<u64> {
    let positions = positions(store).await?.into_iter();
    // Up to its snapshot, a consumer reads the copy and not the changes.
    let at = positions.map(|(_, it)| it.acknowledged.max(it.snapshot_up_to.unwrap_or(0)));
    Ok(at.fold(last, u64::min))
}

/// The part of the replica's state that the feed and the outbox use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplicaState {
    /// The version of [`STATE`]; 0 before the first sync.
    pub(crate) version: u64,
    /// The number of the last change.
    pub(crate) last: u64,
    /// The latest date of a last change that was listed, as a sortable text.
    pub(crate) latest: String,
    /// The places without a readable record that the last full scan and later incremental scans met.
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

    /// The version that a batch based on this state must expect.
    pub(crate) fn expected(&self) -> (String, u64) {
        (STATE.to_owned(), self.version)
    }
}

/// The document by which the outbox keeps the changes after this one; `None` removes it.
///
/// Its name is [`PREFIX`] alone, which no consumer can have. The commit that writes it must expect the version of [`STATE`] at
/// which that change was the last.
pub(crate) fn outbox_document(acknowledged: Option<u64>) -> (String, Option<String>) {
    let position = acknowledged.map(|acknowledged| ConsumerPosition {
        acknowledged,
        snapshot_up_to: None,
    });
    (PREFIX.to_owned(), position.as_ref().map(json))
}

fn removed(name: &str) -> Error {
    Error::usage(format!(
        "the consumer {name:?} was removed: open its changes again to create a new one"
    ))
}

fn document_name(consumer: &str) -> Result<String> {
    account_store::document_name(PREFIX, consumer, "a consumer")
}

#[cfg(test)]
mod tests;
