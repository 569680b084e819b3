//! The change feed.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::watch;

use super::consumer::{self, removed};
use super::{Change, ChangeKind, local_query};
use crate::account_store::{AccountStore, unreadable};
use crate::error::{Error, Result};
use crate::store::Order;
use crate::store::rows::{ChangeRange, Query, Row};
use envd_sdk::auth::StoreError;

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
    /// The number of the last change that a sync of this process committed.
    committed: watch::Receiver<u64>,
    /// Read and not told yet, in order.
    ready: VecDeque<Change>,
    /// Everything up to here was told, or there is nothing to tell.
    told: u64,
    was_named: bool,
    chunk: usize,
}

impl Changes {
    pub(super) fn new(
        store: AccountStore,
        consumer: String,
        committed: watch::Receiver<u64>,
    ) -> Self {
        Self {
            store,
            consumer,
            committed,
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
            let last = consumer::ReplicaState::read(&self.store).await?.last;
            if change.sequence > last {
                let sequence = change.sequence;
                return Err(Error::usage(format!(
                    "the change {sequence} is not one of this account: acknowledge what the same feed told"
                )));
            }
        }
        consumer::acknowledge(&self.store, &self.consumer, change.sequence).await
    }

    /// Waits until a sync in this process has committed a change that [`next`](Self::next) has not told. Without such a
    /// sync it waits for ever.
    pub async fn wait(&mut self) {
        if !self.ready.is_empty() {
            return;
        }
        let told = self.told;
        if self.committed.wait_for(|last| *last > told).await.is_err() {
            // The replica and all its clones are gone, so no sync of this process commits any more.
            std::future::pending::<()>().await;
        }
    }

    async fn read(&mut self) -> Result<()> {
        let store = &self.store;
        let position = match consumer::position(store, &self.consumer).await? {
            Some(known) => known.value,
            None if self.was_named => return Err(removed(&self.consumer)),
            None => consumer::name(store, &self.consumer).await?,
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
        after: Some(Row {
            sequence: from,
            ..Row::default()
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
    let rows = rows.map(|row| (row.sequence, &row.id, local_query::record(row)));
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

#[cfg(test)]
mod tests;
