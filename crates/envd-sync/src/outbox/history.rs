//! What was sent, when, and what came back.

use std::sync::Arc;

use super::account_outbox::Outbox;
use super::entry::{Entry, EntryId};
use super::outbox_store::{BLOCK, record_name};
use super::stored::Stored;
use crate::error::Result;
use crate::given_instant;
use envd_sdk::model::Timestamp;

/// A page of the history, from [`Outbox::history`].
///
/// See [`Outbox::history`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HistoryPage {
    /// The entries, the latest number first.
    pub entries: Vec<Entry>,
    /// Where the next page begins; `None`: this is the last one.
    pub next: Option<EntryId>,
}

impl Outbox {
    /// The entries that are at their end, confirmed or discarded, with all that was sent and came back: the latest number
    /// first, about a hundred at a time. `before` is the [`next`](HistoryPage::next) of the page before.
    ///
    /// They are kept until [`prune`](Self::prune) removes them.
    ///
    /// ```
    /// # equipment::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let entry = outbox.save(input).await?;
    /// outbox.send().await?;
    /// let page = outbox.history(None).await?;
    /// assert_eq!(page.entries[0].id, entry.id);
    /// assert_eq!(page.entries[0].attempts.len(), 1);
    /// assert!(page.next.is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn history(&self, before: Option<EntryId>) -> Result<HistoryPage> {
        let head = self.store().load().await?.head;
        let end = head.last + 1;
        let mut before = before.map_or(end, |id| id.0.min(end));
        loop {
            let Some(last) = before.checked_sub(1).filter(|last| *last >= head.pruned) else {
                return Ok(HistoryPage {
                    entries: Vec::new(),
                    next: None,
                });
            };
            let block = last / BLOCK;
            let mut past = self.store().past_block(block).await?;
            past.retain(|entry| entry.id < before);
            before = block * BLOCK;
            if past.is_empty() && before > 0 {
                continue;
            }
            let past = past.into_iter().rev().map(Arc::new);
            let entries = past.map(|entry| Entry::of(&entry, |_| false));
            let next = Some(EntryId(before)).filter(|next| next.0 > head.pruned.max(1));
            return Ok(HistoryPage {
                entries: entries.collect(),
                next,
            });
        }
    }

    /// Removes entries from the history that were written before an instant, and returns how many. While a record is being
    /// looked for, entries that made records stay: a look compares with them.
    ///
    /// ```
    /// # equipment::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # outbox.save(input).await?;
    /// # outbox.send().await?;
    /// assert_eq!(outbox.prune("2020-01-01T00:00:00Z").await?, 0);
    /// assert_eq!(outbox.history(None).await?.entries.len(), 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the instant cannot be read, and nothing is removed;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn prune(&self, before: impl Into<Timestamp>) -> Result<u64> {
        let before = given_instant(&before.into(), "prune")?;
        let is_before = |entry: &Stored| entry.created_at.to_time().is_some_and(|at| at < before);
        let head = self.store().load().await?.head;
        let mut removed = 0;
        let mut all_before = true;
        for block in head.pruned / BLOCK..=head.last / BLOCK {
            let mut past = self.store().past_block(block).await?;
            let now = self.store().load().await?;
            // What a look compares new records with is needed.
            let is_held = |entry: &Stored| now.head.pin.is_some() && entry.creates();
            let found = past.len();
            past.retain(|entry| is_before(entry) && !is_held(entry));
            let is_open = now
                .live
                .range(block * BLOCK..(block + 1) * BLOCK)
                .next()
                .is_some();
            all_before &=
                past.len() == found && !is_open && (block + 1) * BLOCK <= now.head.last + 1;
            let mut forgotten = Vec::new();
            for entry in &past {
                let Some(record) = entry.saved_record() else {
                    continue;
                };
                // A look that is under way, or that begins with a copy of the account without this record, must not take it for
                // that of another entry.
                let is_needed = now.head.pin.is_some() || !self.is_listed(record).await?;
                if !is_needed && self.store().last_save(record).await? == Some(entry.id) {
                    forgotten.push(record_name(record));
                }
            }
            let change = self.change(|draft| {
                for entry in &past {
                    draft.past.insert(entry.id, None);
                }
                draft.forgotten.extend(forgotten.iter().cloned());
                if all_before {
                    draft.head.pruned = (block + 1) * BLOCK;
                }
                Ok(())
            });
            change.await?;
            removed += past.len() as u64;
        }
        Ok(removed)
    }
}
