//! Submits.

use super::account_outbox::Outbox;
use super::entry::{Entry, EntryId, EntryKind, EntryState};
use super::outbox_store::Draft;
use super::stored::Stored;
use super::write::{source, update_of};
use crate::error::{Error, Result};
use envd_sdk::model::{Consignment, ConsignmentInput, WithExtra};

impl Outbox {
    /// Submits what an entry saves, after it and after all edits that are written until then. A record that waits for a submit
    /// gets no second one: the entry that waits is returned.
    ///
    /// It is sent as a save by id with the status `SUBMITTED` (assumed: see [`ops`](envd_sdk::ops)).
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .movement("2099-01-15", "05:15");
    /// let draft = outbox.save(input).await?;
    /// let submit = outbox.submit(draft.id).await?;
    /// outbox.send().await?;
    /// let id = outbox.entry(submit.id).await?.and_then(|entry| entry.consignment).ok_or("not submitted")?;
    /// assert_eq!(account.consignment(id).await?.value.status, Some(ConsignmentStatus::Submitted));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such entry, or it was discarded or does not save anything;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn submit(&self, entry: EntryId) -> Result<Entry> {
        let past = self.latest(entry).await?;
        let change = |draft: &mut Draft| self.put_submit(draft, past.as_ref(), entry);
        let id = self.change(change);
        self.written(id.await?).await
    }

    /// Writes a declaration down that is saved and then submitted, both at once: a program that ends between
    /// [`save`](Self::save) and [`submit`](Self::submit) leaves a draft. Returns the entry that saves.
    ///
    /// ```
    /// # equipment::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// outbox.save_and_submit(input).await?;
    /// assert_eq!(outbox.entries().await?.len(), 2);
    /// assert_eq!(outbox.send().await?.confirmed, 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save).
    pub async fn save_and_submit(
        &self,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Entry> {
        self.write(&input.into(), None, true).await
    }

    /// Writes the next state of a record down and submits it, both at once. Returns the entry that saves.
    ///
    /// ```
    /// # equipment::example(async {
    /// # use envd_sdk::model::ConsignmentInput;
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// // A draft of the account.
    /// let base = account.consignment("00000000-0000-4000-8000-000000000101").await?.value;
    /// outbox.update_and_submit(&base, ConsignmentInput::from(&base)).await?;
    /// assert_eq!(outbox.entries().await?.len(), 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub async fn update_and_submit(
        &self,
        base: &Consignment,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Entry> {
        let (input, base) = update_of(base, input.into())?;
        self.write(&input, Some(base), true).await
    }

    pub(super) fn put_submit(
        &self,
        draft: &mut Draft,
        past: Option<&Stored>,
        entry: EntryId,
    ) -> Result<u64> {
        let before = source(draft, past, entry)?;
        if before.kind != EntryKind::Save {
            return Err(Error::usage(format!(
                "entry {entry} saves nothing that can be submitted"
            )));
        }
        let new = self.after(draft, &before, EntryKind::Submit)?;
        let last = draft.last_save(new.key());
        let submits = |live: &&Stored| {
            let is_last = last.is_none_or(|last| last.order < live.order);
            let is_under_way = live.standing().is_in_flight() && is_last;
            let waits = live.state() == EntryState::Queued || is_under_way;
            live.kind == EntryKind::Submit && live.key() == new.key() && waits
        };
        if let Some(waiting) = draft.entries().find(submits) {
            return Ok(waiting.id);
        }
        let input = last.and_then(|last| last.input.clone()).or(before.input);
        Ok(draft.add(Stored { input, ..new }))
    }
}
