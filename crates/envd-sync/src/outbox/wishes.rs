//! What a person wants: written down before the call returns.

use std::sync::Arc;

use serde_json::Value;

use super::apply::{Event, Intent, Unfit};
use super::compare::Record;
use super::decide::{Seen, claim};
use super::declaration::{Declaration, DeclarationId};
use super::observe::{Reader, record_of, updated_key};
use super::outbox::Outbox;
use super::row::{Row, Text, Time, Wish};
use super::store::{Draft, Holder, seconds};
use crate::error::{Error, Result};
use crate::given_instant;
use crate::replica::{Depth, LocalRecord};
use envd_sdk::model::{
    Consignment, ConsignmentId, ConsignmentInput, ConsignmentNumber, ConsignmentStatus,
    ConsignmentText, Timestamp, WithExtra,
};

impl Outbox {
    /// Writes a new declaration down, of which a draft is wanted. It is in the store when this returns. It is not validated.
    ///
    /// To edit a record of the service, use [`update`](Self::update).
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
    /// let written = outbox.save(input).await?;
    /// assert_eq!(outbox.declarations().await?[0].id, written.id);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the input cannot be written as JSON, names a record, or has a status other than
    /// `DRAFT`; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn save(&self, input: impl Into<WithExtra<ConsignmentInput>>) -> Result<Declaration> {
        let text = new_text(&input.into(), false)?;
        self.add(Wish::Save(text)).await
    }

    /// Writes a new declaration down, which is wanted submitted. It is always sent as a draft, and submitted by its id once the
    /// service has it: if a reply is lost, a draft too many is the worst that can happen.
    ///
    /// The submit is a save by id with the status `SUBMITTED` (assumed: see [`ops`](envd_sdk::ops)).
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
    /// let written = outbox.submit(input).await?;
    /// outbox.send().await?;
    /// let sent = outbox.declaration(written.id).await?.ok_or("it is gone")?;
    /// let id = sent.consignment.ok_or("not sent")?;
    /// assert_eq!(account.consignment(id).await?.value.status, Some(ConsignmentStatus::Submitted));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save); the status may be `SUBMITTED`.
    pub async fn submit(
        &self,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Declaration> {
        let text = new_text(&input.into(), true)?;
        self.add(Wish::Submit(text)).await
    }

    /// Replaces what is wanted there: the last word counts, and a wish to submit stays. What is under way is not touched; the edit
    /// follows it. It also answers a question about what was written before. If this handle has a [`not_after`](Self::not_after), it
    /// takes the place of the one before.
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
    /// let written = outbox.save(input()).await?;
    /// outbox.edit(written.id, input().movement("2099-01-15", "05:15")).await?;
    /// outbox.send().await?;
    /// // Also later: the draft of the service is changed.
    /// outbox.edit(written.id, input().movement("2099-01-16", "05:15")).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save), and [`Error::Usage`](crate::Error::Usage) when there is no such declaration, it was given up, the
    /// input names another record, or two texts wait already of which one is signed.
    pub async fn edit(
        &self,
        id: DeclarationId,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Declaration> {
        let input = input.into();
        let intent = Intent::Save(text(&input, false)?);
        self.edited(id, input.input().id.value(), intent).await
    }

    /// As [`edit`](Self::edit), and wants it submitted.
    ///
    /// # Errors
    ///
    /// As [`edit`](Self::edit).
    pub async fn edit_and_submit(
        &self,
        id: DeclarationId,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Declaration> {
        let input = input.into();
        let intent = Intent::Submit(Some(text(&input, true)?));
        self.edited(id, input.input().id.value(), intent).await
    }

    /// Wants a declaration submitted of which a draft was wanted.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such declaration, it was given up, or its delete is wanted;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn submit_saved(&self, id: DeclarationId) -> Result<Declaration> {
        self.wish(id, Intent::Submit(None)).await
    }

    /// Takes a wish to submit back, as long as nothing was submitted: a draft is wanted again.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::Wanted;
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let written = outbox.submit(input()).await?;
    /// assert_eq!(outbox.withdraw(written.id).await?.wanted, Wanted::Save);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`submit_saved`](Self::submit_saved).
    pub async fn withdraw(&self, id: DeclarationId) -> Result<Declaration> {
        self.wish(id, Intent::Withdraw).await
    }

    /// Wants a declaration gone: never made if it was not sent, otherwise deleted on the service. If somebody has changed the record
    /// since, or it is no draft, a person is asked.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such declaration, or it was given up;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn delete(&self, id: DeclarationId) -> Result<Declaration> {
        self.wish(id, Intent::Delete).await
    }

    /// Writes the next state of a record of the service down. `base` is the record as the user edited it: if it is not the same any
    /// more when it is to be sent, nothing is sent, and a person is asked.
    ///
    /// A record belongs to one declaration, so an edit of a record that waits already is merged with what waits, by field.
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
    /// As [`edit`](Self::edit), and [`Error::Usage`](crate::Error::Usage) when `base` has no id, or not that of the input.
    pub async fn update(
        &self,
        base: &Consignment,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Declaration> {
        let input = input.into();
        let record = named_record(base, input.input())?;
        let intent = Intent::Save(text(&input, false)?);
        self.of_record(&record, base.number.as_ref(), intent).await
    }

    /// As [`update`](Self::update), and wants the record submitted, by the same request.
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
    /// outbox.submit_record(&base, ConsignmentInput::from(&base)).await?;
    /// assert_eq!(outbox.declarations().await?.len(), 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub async fn submit_record(
        &self,
        base: &Consignment,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Result<Declaration> {
        let input = input.into();
        let record = named_record(base, input.input())?;
        let intent = Intent::Submit(Some(text(&input, true)?));
        self.of_record(&record, base.number.as_ref(), intent).await
    }

    /// Wants a record of the service gone, by its id. One that is gone already counts as done. If it is no draft then, or not what
    /// the local copy shows now, a person is asked.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn delete_record(&self, id: impl Into<ConsignmentId>) -> Result<Declaration> {
        let id = id.into();
        let copy = self.replica().consignment(id.clone()).await?;
        let full = copy.as_ref().filter(|copy| copy.depth() == Depth::Full);
        let record = full.and_then(|copy| record_of(&copy.consignment().ok()?));
        let seen_at = copy.as_ref().and_then(LocalRecord::updated_at);
        let record = record.unwrap_or_else(|| Record {
            id: id.as_str().to_owned(),
            updated_at: seen_at.as_ref().map(updated_key).unwrap_or_default(),
            created_by: None,
            fields: Value::Null,
        });
        let number = copy.and_then(|copy| copy.number());
        self.of_record(&record, number.as_ref(), Intent::Delete)
            .await
    }

    async fn add(&self, wish: Wish) -> Result<Declaration> {
        loop {
            let mut draft = self.wanted().await?;
            let id = self.put_new(&mut draft, wish.clone(), None)?.id;
            if self.store().commit(draft).await? {
                return self.written(id).await;
            }
        }
    }

    async fn wish(&self, id: DeclarationId, intent: Intent) -> Result<Declaration> {
        self.edited(id, None, intent).await
    }

    /// `named`: the record that the input names.
    async fn edited(
        &self,
        id: DeclarationId,
        named: Option<&ConsignmentId>,
        intent: Intent,
    ) -> Result<Declaration> {
        let event = self.wished(intent, None)?;
        let named = named.map(ConsignmentId::as_str);
        self.change_row(id, |draft, row| {
            if named.is_some() && named != row.record.as_deref() {
                return Err(Error::usage(format!(
                    "the input names another record than declaration {id} is about"
                )));
            }
            self.append_wish(draft, row, &event)
        })
        .await
    }

    async fn of_record(
        &self,
        record: &Record,
        number: Option<&ConsignmentNumber>,
        intent: Intent,
    ) -> Result<Declaration> {
        let wish = match &intent {
            Intent::Save(text) => Wish::Save(text.clone()),
            Intent::Submit(Some(text)) => Wish::Submit(text.clone()),
            _ => Wish::Delete,
        };
        let event = self.wished(intent, Some(record))?;
        loop {
            let mut draft = self.wanted().await?;
            let id = if let Some(row) = self.row_for(&mut draft, record).await? {
                self.append_wish(&mut draft, &row, &event)?;
                row.id
            } else {
                let row = self.put_new(&mut draft, wish.clone(), Some(record))?;
                row.shown.number = number.map(|number| number.as_str().to_owned());
                row.id
            };
            if self.store().commit(draft).await? {
                return self.written(id).await;
            }
        }
    }

    fn wished(&self, intent: Intent, base: Option<&Record>) -> Result<Event> {
        Ok(Event::Wished {
            intent,
            base: base.cloned(),
            not_after: self.limit()?,
        })
    }

    fn append_wish(&self, draft: &mut Draft<'_>, row: &Row, event: &Event) -> Result<()> {
        let id = row.id;
        let row = draft.append(row, event).map_err(|unfit| {
            Error::usage(match unfit {
                Unfit::Discarded => format!("declaration {id} was given up"),
                Unfit::ThirdText => format!(
                    "declaration {id} has two texts that wait already, one of them signed: send them first"
                ),
                Unfit::NoText => format!("declaration {id} is to be deleted: edit it instead"),
                Unfit::State | Unfit::Decision => format!("declaration {id} cannot take that now"),
            })
        })?;
        let limit = self.settings.not_after.as_ref();
        row.shown.not_after = limit.map(text_of).or(row.shown.not_after.take());
        Ok(())
    }

    fn put_new<'a>(
        &self,
        draft: &'a mut Draft<'_>,
        wish: Wish,
        record: Option<&Record>,
    ) -> Result<&'a mut Row> {
        let (id, listing, version) = (draft.next_id(), draft.listing(), draft.version());
        let mut row = Row::new(id, wish, record, listing, version);
        row.not_after = self.limit()?;
        row.shown.not_after = self.settings.not_after.as_ref().map(text_of);
        row.shown.created_at = text_of(&Timestamp::from(draft.now));
        Ok(draft.put(row))
    }

    /// The instant of [`not_after`](Self::not_after), if it can be read.
    fn limit(&self) -> Result<Option<Time>> {
        let limit = self.settings.not_after.as_ref();
        let limit = limit.map(|at| given_instant(at, "not_after")).transpose()?;
        Ok(limit.map(seconds))
    }

    /// Changes one row, also one of the history.
    pub(super) async fn change_row(
        &self,
        id: DeclarationId,
        change: impl Fn(&mut Draft<'_>, &Row) -> Result<()>,
    ) -> Result<Declaration> {
        loop {
            let mut draft = self.wanted().await?;
            let row = self.store().any_row(id.0).await?;
            let row = row.ok_or_else(|| Error::usage(format!("there is no declaration {id}")))?;
            change(&mut draft, &row)?;
            if self.store().commit(draft).await? {
                return self.written(id.0).await;
            }
        }
    }

    /// A change that a person wants, of what all processes have written.
    async fn wanted(&self) -> Result<Draft<'_>> {
        self.learn().await?;
        let mut draft = self.draft();
        // A row knows what was listed before it was written.
        draft.expects_replica = true;
        Ok(draft)
    }

    /// The row of a record. A creation without a clear answer that may have made it is its row from then on, or a question.
    async fn row_for(&self, draft: &mut Draft<'_>, record: &Record) -> Result<Option<Arc<Row>>> {
        let store = self.store();
        let holder = store.holder(&record.id, 0).await?;
        if let Some(Holder::Row(row)) = &holder
            && row.is_about(&record.id)
        {
            return Ok(Some(Arc::clone(row)));
        }
        let open = store.expecting(0);
        let seen = Seen {
            record: record.clone(),
            sequence: match open.as_slice() {
                [] => None,
                _ => Reader::new(self).first_listed(&record.id).await?,
            },
            owner: holder.and_then(|holder| holder.owner(&record.id, true)),
        };
        let claimed = open.iter().find_map(|row| {
            let event = self.judged(row.id, |when| claim(row, &seen, when))?;
            Some((row, event))
        });
        let Some((row, event)) = claimed else {
            return Ok(None);
        };
        let row = draft.append(row, &event);
        let row = row.map_err(|_| Error::usage("the record may be that of another declaration"))?;
        let is_its_own = matches!(event, Event::Applied { .. });
        Ok(is_its_own.then(|| Arc::new(row.clone())))
    }

    /// The declaration as it is shown, after it was written.
    async fn written(&self, id: u64) -> Result<Declaration> {
        self.shared.written.notify_one();
        let row = self.store().any_row(id).await?;
        let shown = row.map(|row| self.show(&row));
        shown.ok_or_else(|| Error::usage(format!("declaration {id} was removed meanwhile")))
    }
}

fn named_record(base: &Consignment, input: &ConsignmentInput) -> Result<Record> {
    let record = record_of(base);
    let record =
        record.ok_or_else(|| Error::usage("the record has no id, so it cannot be updated"))?;
    if input
        .id
        .value()
        .is_some_and(|named| named.as_str() != record.id)
    {
        return Err(Error::usage(
            "the input names another record than the one that was edited",
        ));
    }
    Ok(record)
}

fn new_text(input: &WithExtra<ConsignmentInput>, is_submitted: bool) -> Result<Text> {
    let (id, number) = (input.input().id.value(), input.input().number.value());
    if id.is_some() || number.is_some() {
        return Err(Error::usage(
            "the input names a record: update that, with the record as it was edited, or leave id and number out for a new one",
        ));
    }
    text(input, is_submitted)
}

/// The text of an input, kept as it was written: what is sent equals what was signed, byte for byte. Only the names of the record
/// and the status are set when it is sent.
fn text(input: &WithExtra<ConsignmentInput>, is_submitted: bool) -> Result<Text> {
    match input.input().status.value() {
        None | Some(ConsignmentStatus::Draft) => {}
        Some(ConsignmentStatus::Submitted) if is_submitted => {}
        Some(status) => {
            return Err(Error::usage(format!(
                "the input has the status {status}: leave it out, then save, submit or delete"
            )));
        }
    }
    let text = serde_json::to_string(input)
        .map_err(|error| Error::usage(format!("the input cannot be written: {error}")))?;
    let text = ConsignmentText::parse(&text).map_err(|error| Error::usage(error.to_string()))?;
    let text = text.without("id").without("number").without("status");
    Ok(Text(text.as_str().into()))
}

fn text_of(at: &Timestamp) -> String {
    at.as_str().to_owned()
}
