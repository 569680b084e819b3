//! The consumers of the change feed, and how far each one is.

use serde::{Deserialize, Serialize};

use super::local_record::unreadable;
use crate::error::{Error, Result};
use crate::sync::store::{Batch, Document, RowStore};

/// The document with what is known of the walks; its version fences all that depends on the last number.
pub(crate) const STATE: &str = "replica";

/// What the documents of consumers begin with.
const PREFIX: &str = "consumer/";

/// A named consumer of the changes of an account.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # let replica = account.replica(envd_sdk::sync::store::MemorySync::new());
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

/// The part of [`STATE`] that the feed reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NextSequence {
    next_sequence: u64,
}

impl ConsumerPosition {
    /// The last change that this consumer does not need any more.
    fn needless_up_to(self) -> u64 {
        self.acknowledged.max(self.snapshot_up_to.unwrap_or(0))
    }

    fn from_document(document: &Document) -> Result<Self> {
        let position = serde_json::from_str(&document.text)
            .map_err(|_| unreadable(format!("the document {} cannot be read", document.name)))?;
        Ok(position)
    }

    fn to_text(self) -> String {
        // OK because two numbers can always be written.
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// The position of a consumer and its version; `None`: there is no such consumer.
pub(super) async fn position(
    store: &dyn RowStore,
    account: &str,
    name: &str,
) -> Result<Option<(u64, ConsumerPosition)>> {
    let name = document_name(name)?;
    let Some(document) = store.document(account, &name).await? else {
        return Ok(None);
    };
    let position = ConsumerPosition::from_document(&document)?;
    Ok(Some((document.version, position)))
}

/// Names a consumer, unless it has a name by now. It is to be told all that the copy holds at this moment: the versions in
/// the commit make sure that no change comes between the look at the last number and the commit.
pub(super) async fn name(
    store: &dyn RowStore,
    account: &str,
    name: &str,
) -> Result<ConsumerPosition> {
    let consumer = document_name(name)?;
    loop {
        if let Some((_, position)) = position(store, account, name).await? {
            return Ok(position);
        }
        let (version, last) = last_sequence(store, account).await?;
        let position = ConsumerPosition {
            acknowledged: 0,
            snapshot_up_to: (last > 0).then_some(last),
        };
        let batch = Batch {
            expected: vec![(STATE.to_owned(), version), (consumer.clone(), 0)],
            documents: vec![(consumer.clone(), Some(position.to_text()))],
            ..Batch::default()
        };
        if store.commit(account, &batch).await? {
            return Ok(position);
        }
    }
}

/// Moves the position of a consumer forward to a change. Nothing is written when it is there or further.
pub(super) async fn acknowledge(
    store: &dyn RowStore,
    account: &str,
    name: &str,
    sequence: u64,
) -> Result<()> {
    let consumer = document_name(name)?;
    loop {
        let Some((version, mut position)) = position(store, account, name).await? else {
            return Err(removed(name));
        };
        if sequence <= position.acknowledged {
            return Ok(());
        }
        position.acknowledged = sequence;
        position.snapshot_up_to = position.snapshot_up_to.filter(|up_to| sequence < *up_to);
        let batch = Batch {
            expected: vec![(consumer.clone(), version)],
            documents: vec![(consumer.clone(), Some(position.to_text()))],
            ..Batch::default()
        };
        if store.commit(account, &batch).await? {
            return Ok(());
        }
    }
}

/// All consumers of an account, by name.
pub(crate) async fn consumers(store: &dyn RowStore, account: &str) -> Result<Vec<Consumer>> {
    let documents = store.documents(account, PREFIX).await?;
    let consumer = |document: &Document| {
        let name = document.name.strip_prefix(PREFIX)?;
        // The outbox is none.
        let name = Some(name).filter(|name| !name.is_empty())?;
        let position = ConsumerPosition::from_document(document);
        Some(position.map(|position| Consumer {
            name: name.to_owned(),
            acknowledged: position.acknowledged,
            is_catching_up: position.snapshot_up_to.is_some(),
        }))
    };
    documents.iter().filter_map(consumer).collect()
}

/// Removes a consumer, and returns whether there was one.
pub(crate) async fn remove_consumer(
    store: &dyn RowStore,
    account: &str,
    name: &str,
) -> Result<bool> {
    let consumer = document_name(name)?;
    loop {
        let Some(document) = store.document(account, &consumer).await? else {
            return Ok(false);
        };
        let batch = Batch {
            expected: vec![(consumer.clone(), document.version)],
            documents: vec![(consumer.clone(), None)],
            ..Batch::default()
        };
        if store.commit(account, &batch).await? {
            return Ok(true);
        }
    }
}

/// The change up to which every consumer is, so that the changes up to it may be forgotten; never more than `last`.
///
/// `last` is the last change that is committed, not one of the batch that forgets, and that batch expects the version that
/// [`STATE`] had *before* this call. So a consumer that is named between this call and the commit is told of the copy as of
/// `last`, and needs none of the changes up to it.
pub(crate) async fn needless_up_to(store: &dyn RowStore, account: &str, last: u64) -> Result<u64> {
    let documents = store.documents(account, PREFIX).await?;
    let mut positions = documents.iter().map(ConsumerPosition::from_document);
    positions.try_fold(last, |up_to, position| {
        Ok(up_to.min(position?.needless_up_to()))
    })
}

/// The version of [`STATE`] and the number of the last change; 0 and 0 before the first sync.
pub(crate) async fn last_sequence(store: &dyn RowStore, account: &str) -> Result<(u64, u64)> {
    let Some(document) = store.document(account, STATE).await? else {
        return Ok((0, 0));
    };
    let state: NextSequence = serde_json::from_str(&document.text)
        .map_err(|_| unreadable(format!("the document {STATE} cannot be read")))?;
    Ok((document.version, state.next_sequence.saturating_sub(1)))
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
    Error::config(format!(
        "the consumer {name:?} was removed: open its changes again to name it anew"
    ))
}

fn document_name(consumer: &str) -> Result<String> {
    let fits = (1..=100).contains(&consumer.len()) && !consumer.contains(char::is_control);
    if !fits {
        let what = "invalid name of a consumer: it needs 1 to 100 bytes without control characters";
        return Err(Error::config(what));
    }
    Ok(format!("{PREFIX}{consumer}"))
}
