//! New entries, and edits of those that wait.

use super::account_outbox::{Listed, Outbox};
use super::compare::shape;
use super::edits::{put, replace};
use super::entry::{Entry, EntryId, EntryKind, EntryState};
use super::input_text::InputText;
use super::outbox_store::Draft;
use super::stored::{Base, Stored, Target};
use crate::error::{Error, Result};
use crate::given_instant;
use crate::replica::Depth;
use envd_sdk::model::{
    CommentInput, Consignment, ConsignmentId, ConsignmentInput, ConsignmentStatus, Timestamp,
    WithExtra,
};

impl Outbox {
    /// Entries that are written through this handle are not sent after this instant: they then need a decision. With an instant
    /// that cannot be read, nothing can be written: all that does fails with [`Error::Usage`](crate::Error::Usage).
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::Reason;
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let entry = outbox.clone().not_after("2020-01-15T05:00:00+10:00").save(input()).await?;
    /// outbox.send().await?;
    /// let late = outbox.entry(entry.id).await?.ok_or("no entry")?;
    /// assert_eq!(late.reason, Some(Reason::NotAfterPassed));
    /// # Ok(()) });
    /// ```
    pub fn not_after(mut self, instant: impl Into<Timestamp>) -> Self {
        self.settings.not_after = Some(instant.into());
        self
    }

    /// Writes a declaration down: a new draft, or with an `id` the next state of that record. It is in the store when this
    /// returns. It is not validated.
    ///
    /// A new declaration is always sent as a draft, and is submitted by [`submit`](Self::submit) only: if a reply is lost,
    /// a draft too many is the worst that can happen. Edits of one record that still wait become one entry. To edit a record
    /// of the service, prefer [`update`](Self::update): without the record as it was, nothing shows what others changed.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let entry = outbox.save(input).await?;
    /// assert_eq!(outbox.entries().await?[0].id, entry.id);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the input cannot be written as JSON, or has a status other than `DRAFT`;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn save(&self, input: impl Into<WithExtra<ConsignmentInput>>) -> Result<Entry> {
        self.write(&input.into(), None, false).await
    }

    /// Writes the next state of a record down. `base` is the record as the user edited it: if it is not the same any more
    /// when the entry is sent, nothing is sent, and a person decides.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::ConsignmentInput;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # use envd_sdk::model::{FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let id = account.save_consignment(input()).await?.value.id.ok_or("no id")?;
    /// let base = account.consignment(id).await?.value;
    /// let input = ConsignmentInput::from(&base).movement("2099-01-15", "05:15");
    /// outbox.update(&base, input).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save), and [`Error::Usage`](crate::Error::Usage) when `base` has no id, or not that of the input.
    pub async fn update(
        &self,
        base: &Consignment,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Entry> {
        let (input, base) = update_of(base, input.into())?;
        self.write(&input, Some(base), false).await
    }

    /// Deletes a record by its id. One that is deleted already counts as done. If the record is no draft when the entry is sent,
    /// or is not what the local copy shows now, a person is asked.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn delete(&self, id: impl Into<ConsignmentId>) -> Result<Entry> {
        let id = id.into();
        let seen = self.replica().consignment(id.clone()).await?;
        let seen = seen.filter(|seen| seen.status() == Some(ConsignmentStatus::Draft));
        let base = seen.and_then(|seen| match seen.consignment() {
            Ok(record) if seen.depth() == Depth::Full => Some(Base::Record(shape(&record))),
            _ => seen.updated_at().map(Base::Seen),
        });
        self.add(EntryKind::Delete, Target::Record(id), |entry| {
            entry.base.clone_from(&base);
        })
        .await
    }

    /// Comments on a consignment, by its number. If the reply is lost, its comments are read and compared with those that
    /// were there before.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn comment(&self, comment: CommentInput) -> Result<Entry> {
        let target = Target::Number(comment.consignment_number);
        let text = comment.comment_text;
        self.add(EntryKind::Comment, target, |entry| {
            entry.comment = Some(text.clone());
        })
        .await
    }

    /// Writes the next state of what an entry saves. An entry that waits, was refused or needs a decision is replaced; one
    /// that is signed, in flight or at its end stays as it is, and the edit is an entry of its own after it, before a submit
    /// that waits. Returns the entry that holds the edit. If this handle has a [`not_after`](Self::not_after), it takes the
    /// place of that of what is replaced, and of a submit that waits.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let entry = outbox.save(input()).await?;
    /// let edited = outbox.edit(entry.id, input().movement("2099-01-15", "05:15")).await?;
    /// assert_eq!(edited.id, entry.id);
    ///
    /// outbox.send().await?;
    /// let later = outbox.edit(entry.id, input().movement("2099-01-16", "05:15")).await?;
    /// assert_ne!(later.id, entry.id);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save), and [`Error::Usage`](crate::Error::Usage) when there is no such entry, or it does not save
    /// anything.
    pub async fn edit(
        &self,
        entry: EntryId,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Entry> {
        let input = input.into();
        check_status(input.input())?;
        let text = InputText::new(&input)?;
        let past = self.latest(entry).await?;
        let id = self.change(|draft| {
            let before = source(draft, past.as_ref(), entry)?;
            if before.is_replaceable() {
                replace(draft, &before, &text, self.limit()?)?;
                return Ok(entry.0);
            }
            let is_about_input = [EntryKind::Save, EntryKind::Submit];
            if !is_about_input.contains(&before.kind) {
                return Err(Error::usage(format!(
                    "entry {entry} saves nothing that can be edited"
                )));
            }
            let new = self.after(draft, &before, EntryKind::Save)?;
            let new = Stored {
                input: Some(text.clone()),
                ..new
            };
            put(draft, new)
        });
        self.written(id.await?).await
    }

    pub(super) async fn write(
        &self,
        input: &WithExtra<ConsignmentInput>,
        base: Option<Base>,
        is_submitted: bool,
    ) -> Result<Entry> {
        check_status(input.input())?;
        let target = match (input.input().id.value(), input.input().number.value()) {
            (Some(id), _) => Target::Record(id.clone()),
            (None, Some(_)) => {
                return Err(Error::usage(
                    "the input names its record by the number alone: add the id, or leave the number out for a new record",
                ));
            }
            (None, None) => Target::New,
        };
        let text = InputText::new(input)?;
        let number = match &base {
            Some(Base::Record(record)) => record["number"].as_str().map(Into::into),
            _ => None,
        };
        let write = |draft: &mut Draft, listed: Option<Listed>| {
            // The replica keeps what appears from here on.
            draft.replica = listed.map(|listed| listed.version);
            let new = draft.next();
            let new = self.new_entry(new, EntryKind::Save, target.clone())?;
            let new = Stored {
                input: Some(text.clone()),
                base: base.clone(),
                number: number.clone(),
                baseline: listed.map(|listed| listed.last),
                ..new
            };
            let id = put(draft, new)?;
            if is_submitted {
                self.put_submit(draft, None, EntryId(id))?;
            }
            Ok(id)
        };
        if target != Target::New {
            let id = self.change(|draft| write(draft, None)).await?;
            return self.written(id).await;
        }
        let (store, now) = (self.store(), self.timestamp());
        if let Some(listed) = self.with_memory(|memory| memory.listed) {
            let written = store.try_cached(now.clone(), |draft| write(draft, Some(listed)));
            if let Some(id) = written.await? {
                return self.written(id).await;
            }
        }
        loop {
            let listed = self.listed().await?;
            let written = store.try_change(now.clone(), |draft| write(draft, Some(listed)));
            if let Some(id) = written.await? {
                return self.written(id).await;
            }
        }
    }

    async fn add(
        &self,
        kind: EntryKind,
        target: Target,
        fill: impl Fn(&mut Stored),
    ) -> Result<Entry> {
        let id = self.change(|draft| {
            let number = draft.next();
            let mut new = self.new_entry(number, kind, target.clone())?;
            fill(&mut new);
            Ok(draft.add(new))
        });
        self.written(id.await?).await
    }

    /// An entry of the history, or the one that saved its record last: an edit is made of what that one has left.
    pub(super) async fn latest(&self, id: EntryId) -> Result<Option<Stored>> {
        let store = self.store();
        let Some(past) = store.past(id.0).await? else {
            return Ok(None);
        };
        let last = match past.saved_record() {
            Some(record) => store.last_save(record).await?,
            None => None,
        };
        let later = match last.filter(|last| *last > past.id) {
            Some(last) => store.past(last).await?,
            None => None,
        };
        Ok(Some(later.unwrap_or(past)))
    }

    fn new_entry(&self, number: u64, kind: EntryKind, target: Target) -> Result<Stored> {
        Ok(Stored {
            not_after: self.limit()?.cloned(),
            ..Stored::new(number, kind, target, self.timestamp())
        })
    }

    /// The instant of [`not_after`](Self::not_after), if it can be read.
    fn limit(&self) -> Result<Option<&Timestamp>> {
        let limit = self.settings.not_after.as_ref();
        limit.map_or(Ok(()), |at| given_instant(at, "not_after").map(drop))?;
        Ok(limit)
    }

    /// A new entry about the record of another one.
    pub(super) fn after(
        &self,
        draft: &mut Draft,
        before: &Stored,
        kind: EntryKind,
    ) -> Result<Stored> {
        let standing = before.standing();
        let target = match (standing.record, &before.target) {
            (Some(id), _) | (None, Target::Record(id)) => Target::Record(id.clone()),
            (None, Target::Entry(id)) => Target::Entry(*id),
            _ => Target::Entry(before.id),
        };
        let is_confirmed = standing.state == EntryState::Confirmed;
        let number = draft.next();
        Ok(Stored {
            base: (standing.after.cloned().map(Base::Record))
                .or_else(|| before.state_after().filter(|_| is_confirmed)),
            ..self.new_entry(number, kind, target)?
        })
    }

    /// The entry as it is shown, after it was written.
    pub(super) async fn written(&self, id: u64) -> Result<Entry> {
        self.shared.written.notify_one();
        let entry = match self.show_live(&self.store().cached(), id) {
            Some(live) => Some(live),
            None => self.entry(EntryId(id)).await?,
        };
        entry.ok_or_else(|| Error::usage(format!("entry {id} was removed meanwhile")))
    }
}

/// The entry that another one builds on.
pub(super) fn source(draft: &Draft, past: Option<&Stored>, id: EntryId) -> Result<Stored> {
    let found = draft.get(id.0).or(past).cloned();
    let found = found.ok_or_else(|| Error::usage(format!("there is no entry {id}")))?;
    if found.state() == EntryState::Discarded {
        return Err(Error::usage(format!("entry {id} was given up")));
    }
    Ok(found)
}

/// The input and the base of an update.
pub(super) fn update_of(
    base: &Consignment,
    input: WithExtra<ConsignmentInput>,
) -> Result<(WithExtra<ConsignmentInput>, Base)> {
    let Some(id) = &base.id else {
        return Err(Error::usage(
            "the record has no id, so it cannot be updated",
        ));
    };
    if input.input().id.value().is_some_and(|named| named != id) {
        return Err(Error::usage(
            "the input names another record than the one that was edited",
        ));
    }
    let input = input.map(|input| input.id(id.clone()));
    Ok((input, Base::Record(shape(base))))
}

fn check_status(input: &ConsignmentInput) -> Result<()> {
    match input.status.value() {
        None | Some(ConsignmentStatus::Draft) => Ok(()),
        Some(status) => Err(Error::usage(format!(
            "an outbox saves drafts only, and the input has the status {status}: save it without, then submit or delete it"
        ))),
    }
}
