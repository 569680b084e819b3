//! The consumers of the change feed, and how far each one is.

use serde::{Deserialize, Serialize};

use super::Replica;
use super::sync_state::{STATE, SyncState};
use crate::account_store::{self, AccountStore, VersionedDocument};
use crate::error::{Error, Result};
use crate::store::StoreError;
use crate::store::rows::Batch;

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

impl ConsumerPosition {
    fn to_text(self) -> String {
        // OK because two numbers can always be written.
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// The position of a consumer, as the document of its name says; `None`: there is no such consumer.
pub(super) async fn position(
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
        documents: vec![(name, position.map(ConsumerPosition::to_text))],
        ..Batch::default()
    };
    Ok(store.commit(&batch).await?)
}

/// Names a consumer, unless it has a name by now. It is to be told all that the copy holds at this moment: the versions in
/// the commit make sure that no change comes between the look at the last number and the commit.
pub(super) async fn name(store: &AccountStore, name: &str) -> Result<ConsumerPosition> {
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
pub(super) async fn acknowledge(store: &AccountStore, name: &str, sequence: u64) -> Result<()> {
    loop {
        let known = position(store, name).await?;
        let VersionedDocument { mut value, version } = known.ok_or_else(|| removed(name))?;
        if sequence <= value.acknowledged {
            return Ok(());
        }
        value.acknowledged = sequence;
        value.snapshot_up_to.take_if(|up_to| sequence >= *up_to);
        if replace(store, name, version, Some(value), None).await? {
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
}

impl ReplicaState {
    pub(crate) async fn read(store: &AccountStore) -> Result<Self> {
        let VersionedDocument { value, version } = SyncState::load(store).await?;
        Ok(Self {
            version,
            last: value.last_sequence(),
            latest: value.latest.map(|shown| shown.key).unwrap_or_default(),
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
    (PREFIX.to_owned(), position.map(ConsumerPosition::to_text))
}

pub(super) fn removed(name: &str) -> Error {
    Error::usage(format!(
        "the consumer {name:?} was removed: open its changes again to name it anew"
    ))
}

fn document_name(consumer: &str) -> Result<String> {
    account_store::document_name(PREFIX, consumer, "a consumer")
}
