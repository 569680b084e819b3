//! What a person wants: written down before the call returns.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::apply::{Intent, RowEvent, Unfit};
use super::compare::ServiceRecord;
use super::decide::{Seen, claim};
use super::decision::Decision;
use super::declaration::{Declaration, DeclarationId};
use super::observe::Reader;
use super::outbox::Outbox;
use super::reading::{record_of, updated_key};
use super::row::{CallerKey, Limit, Row, Text};
use super::store::{Holder, Transaction, key_name, seconds};
use crate::error::{Error, Result};
use crate::given_instant;
use crate::replica::{Depth, LocalRecord};
use envd_sdk::model::{
    Consignment, ConsignmentId, ConsignmentInput, ConsignmentNumber, ConsignmentStatus,
    ConsignmentText, WithExtra,
};

impl Outbox {
    /// Writes a new declaration down, of which a draft is wanted. It is in the store when the awaited call returns. It is not
    /// validated.
    ///
    /// An application that may repeat the call gives it a [key](NewDeclaration::key).
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
    /// `DRAFT`, and when its [key](NewDeclaration::key) cannot be one or belongs to a declaration that was given up or pruned;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub fn save(&self, input: impl Into<WithExtra<ConsignmentInput>>) -> NewDeclaration<'_> {
        NewDeclaration::new(self, &input.into(), false)
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
    pub fn submit(&self, input: impl Into<WithExtra<ConsignmentInput>>) -> NewDeclaration<'_> {
        NewDeclaration::new(self, &input.into(), true)
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
        let named = input.input().id.value();
        self.wish(About::Declaration(id, named), intent).await
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
        let named = input.input().id.value();
        self.wish(About::Declaration(id, named), intent).await
    }

    /// Wants a declaration submitted of which a draft was wanted.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such declaration, it was given up, or its delete is wanted;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn submit_saved(&self, id: DeclarationId) -> Result<Declaration> {
        self.wish(About::Declaration(id, None), Intent::Submit(None))
            .await
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
        self.wish(About::Declaration(id, None), Intent::Withdraw)
            .await
    }

    /// Wants a declaration gone: never made if it was not sent, otherwise deleted on the service. If somebody has changed the record
    /// since, or it is no draft, a person is asked.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such declaration, or it was given up;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn delete(&self, id: DeclarationId) -> Result<Declaration> {
        self.wish(About::Declaration(id, None), Intent::Delete)
            .await
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
    /// # let id = account.save_consignment(input()).await?.id()?;
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
        let about = About::Record(&record, base.number.as_ref());
        self.wish(about, intent).await
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
        let about = About::Record(&record, base.number.as_ref());
        self.wish(about, intent).await
    }

    /// Wants a record of the service gone, by its id. One that is gone already counts as done. If it is no draft then, or not what
    /// the local copy shows now, a person is asked.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when no record can have this id; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn delete_record(&self, id: impl Into<ConsignmentId>) -> Result<Declaration> {
        let id = id.into();
        named(&id)?;
        let copy = self.replica().consignment(id.clone()).await?;
        let full = copy.as_ref().filter(|copy| copy.depth() == Depth::Full);
        let record = full.and_then(|copy| record_of(&copy.consignment().ok()?));
        let seen_at = copy.as_ref().and_then(LocalRecord::updated_at);
        let record = record.unwrap_or_else(|| ServiceRecord {
            id: id.as_str().to_owned(),
            updated_at: seen_at.as_ref().map(updated_key).unwrap_or_default(),
            created_by: None,
            fields: Value::Null,
        });
        let number = copy.and_then(|copy| copy.number());
        let about = About::Record(&record, number.as_ref());
        self.wish(about, Intent::Delete).await
    }

    /// Decides what becomes of a declaration; [`Declaration::decisions`] lists what fits.
    ///
    /// One declaration each, with the decision that ends it:
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::{Decision, DeclarationState, Reason};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let website = account.clone();
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// // Changed on the website since it was edited here.
    /// # let id = account.save_consignment(input()).await?.id()?;
    /// let base = account.consignment(id.clone()).await?.value;
    /// let moved = |day| ConsignmentInput::from(&base).movement(day, "05:15").id(id.clone());
    /// let mine = outbox.update(&base, moved("2099-01-15")).await?;
    /// let (_, problems) = website.save_consignment(moved("2099-01-20")).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.send().await?;
    /// let asked = outbox.declaration(mine.id).await?.ok_or("it is gone")?;
    /// assert_eq!(asked.reason, Some(Reason::Conflict));
    /// outbox.decide(mine.id, Decision::KeepMine).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    ///
    /// // Changed again, with the other answer.
    /// let (_, problems) = website.save_consignment(moved("2099-01-21")).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.edit(mine.id, moved("2099-01-16")).await?;
    /// outbox.send().await?;
    /// let declaration = outbox.decide(mine.id, Decision::TakeTheirs).await?;
    /// assert_eq!(declaration.state, DeclarationState::Discarded);
    ///
    /// // Refused: corrected, and sent again.
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("002", "a movement date is required");
    /// let refused = outbox.save(input().movement("2099-04-01", "05:15")).await?;
    /// outbox.send().await?;
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("003", "the service is being moved");
    /// outbox.edit(refused.id, input().movement("2099-04-02", "05:15")).await?;
    /// outbox.send().await?;
    ///
    /// // Refused for a reason that has passed.
    /// outbox.decide(refused.id, Decision::Resend).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    ///
    /// // Not wanted any more.
    /// let unwanted = outbox.save(input().movement("2099-03-01", "05:15")).await?;
    /// outbox.decide(unwanted.id, Decision::Discard).await?;
    ///
    /// // Somebody has made the same declaration on the website: a person says whether it is this one.
    /// # let twin = || input().movement("2099-02-01", "05:15");
    /// let twin_of = outbox.save(twin()).await?;
    /// let (_, problems) = website.save_consignment(twin()).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.send().await?;
    /// let mut asked = outbox.declaration(twin_of.id).await?.ok_or("it is gone")?;
    /// assert_eq!(asked.reason, Some(Reason::Candidates));
    /// outbox.decide(twin_of.id, Decision::Adopt(asked.candidates.remove(0))).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such declaration, the decision does not fit it, or the record to adopt
    /// has a name that no record can have;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn decide(&self, id: DeclarationId, decision: Decision) -> Result<Declaration> {
        if let Decision::Adopt(id) = &decision {
            named(id)?;
        }
        let event = RowEvent::Decided(decision);
        self.write(About::Declaration(id, None), &event).await
    }

    async fn wish(&self, about: About<'_>, intent: Intent) -> Result<Declaration> {
        let base = match about {
            About::Record(record, _) => Some(record.clone()),
            _ => None,
        };
        let limit = self.not_after.as_ref().map(|given| {
            let at = seconds(given_instant(given, "not_after")?);
            let given = given.as_str().to_owned();
            Ok::<_, Error>(Limit { at, given })
        });
        let event = RowEvent::Wished {
            intent,
            base,
            not_after: limit.transpose()?,
        };
        self.write(about, &event).await
    }

    /// Writes down what a person says of a row, also of one of the history, over all that other processes have written.
    async fn write(&self, about: About<'_>, event: &RowEvent) -> Result<Declaration> {
        let store = self.store();
        loop {
            store.learn().await?;
            let mut draft = self.draft();
            // A row knows what was listed before it was written.
            draft.expects_replica = true;
            let row = match about {
                About::New(None) => Arc::new(draft.new_row(None)),
                About::New(Some(key)) => {
                    if let Some(id) = store.with_key(&key.name).await? {
                        let row = store.any_row(id).await?;
                        let row = row.ok_or_else(|| pruned(id, &key.name))?;
                        let known = row.key.as_ref();
                        if known.is_some_and(|known| known.is_repeated_by(key)) {
                            return Ok(self.show(&row));
                        }
                        row
                    } else {
                        let row = draft.new_row(None);
                        let name = key_name(&key.name)?;
                        draft.documents.push((name, Some(row.id.to_string())));
                        Arc::new(row)
                    }
                }
                About::Declaration(id, named) => {
                    let row = store.any_row(id.0).await?;
                    let row =
                        row.ok_or_else(|| Error::usage(format!("there is no declaration {id}")))?;
                    if named.is_some_and(|named| row.record.as_deref() != Some(named.as_str())) {
                        return Err(Error::usage(format!(
                            "the input names another record than declaration {id} is about"
                        )));
                    }
                    row
                }
                About::Record(record, number) => {
                    let known = self.row_of(&mut draft, record).await?;
                    known.unwrap_or_else(|| {
                        let mut row = draft.new_row(Some(record.id.clone()));
                        row.shown.number = number.map(|number| number.as_str().to_owned());
                        Arc::new(row)
                    })
                }
            };
            let id = row.id;
            let written = draft.append(&row, event);
            let written = written.map_err(|unfit| refused(id, unfit, event))?;
            if let About::New(Some(key)) = about {
                written.key = Some(key.clone());
            }
            if !store.commit(draft).await? {
                continue;
            }
            self.shared.written.notify_one();
            let row = store.any_row(id).await?;
            let shown = row.map(|row| self.show(&row));
            return shown
                .ok_or_else(|| Error::usage(format!("declaration {id} was removed meanwhile")));
        }
    }

    /// The row of a record. A creation without a clear answer that may have made it is its row from then on, or a question.
    async fn row_of(
        &self,
        draft: &mut Transaction<'_>,
        record: &ServiceRecord,
    ) -> Result<Option<Arc<Row>>> {
        let store = self.store();
        if let Some(Holder::Row(row)) = store.holder(&record.id, 0).await?
            && row.is_about(&record.id)
        {
            return Ok(Some(row));
        }
        let open = store.expecting(0);
        if open.is_empty() {
            return Ok(None);
        }
        let seen = Seen {
            record: record.clone(),
            sequence: Reader::new(self).first_listed(&record.id).await?,
            owner: store.owner(&record.id, 0, true).await?,
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
        let is_its_own = matches!(event, RowEvent::Applied { .. });
        Ok(is_its_own.then(|| Arc::new(row.clone())))
    }
}

/// A new declaration, from [`Outbox::save`] and [`Outbox::submit`]: awaited, it is written down.
///
/// See [`key`](Self::key) for an example.
#[must_use = "nothing is written until it is awaited"]
pub struct NewDeclaration<'a> {
    outbox: &'a Outbox,
    text: Result<Text>,
    is_submitted: bool,
    key: Option<String>,
}

impl<'a> NewDeclaration<'a> {
    fn new(outbox: &'a Outbox, input: &WithExtra<ConsignmentInput>, is_submitted: bool) -> Self {
        Self {
            outbox,
            text: new_text(input, is_submitted),
            is_submitted,
            key: None,
        }
    }

    /// A name of the application's own for the declaration, such as a hidden field of a form or the number of a load: 1 to 100 bytes
    /// without control characters, unique in the account. Whoever repeats a call with its key, after a kill or a second click, gets
    /// the declaration that has it, and makes no second one.
    ///
    /// If the repeated call has the same text as the call before it, nothing is written, whatever became of the declaration since.
    /// If it has another text, it is an [edit](Outbox::edit): a wish to submit stays. The key stays with the declaration for ever.
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
    /// let first = outbox.submit(input()).key("form-7f3a").await?;
    /// // The user clicks twice.
    /// let second = outbox.submit(input()).key("form-7f3a").await?;
    /// assert_eq!(first.id, second.id);
    /// assert_eq!(second.key.as_deref(), Some("form-7f3a"));
    /// assert_eq!(outbox.declarations().await?.len(), 1);
    /// # Ok(()) });
    /// ```
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    async fn write(self) -> Result<Declaration> {
        let text = self.text?;
        let key = self.key.map(|name| CallerKey {
            name,
            text: text.clone(),
            is_submitted: self.is_submitted,
        });
        let intent = if self.is_submitted {
            Intent::Submit(Some(text))
        } else {
            Intent::Save(text)
        };
        self.outbox.wish(About::New(key.as_ref()), intent).await
    }
}

impl<'a> IntoFuture for NewDeclaration<'a> {
    type Output = Result<Declaration>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.write())
    }
}

impl fmt::Debug for NewDeclaration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewDeclaration")
            .field("is_submitted", &self.is_submitted)
            .finish_non_exhaustive()
    }
}

/// What a person speaks of.
#[derive(Clone, Copy)]
enum About<'a> {
    /// With the key of the application, which another declaration may have already.
    New(Option<&'a CallerKey>),
    /// With the record that the input names.
    Declaration(DeclarationId, Option<&'a ConsignmentId>),
    /// As the person saw it, with its number.
    Record(&'a ServiceRecord, Option<&'a ConsignmentNumber>),
}

fn pruned(id: u64, key: &str) -> Error {
    Error::usage(format!(
        "declaration {id}, which has the key {key:?}, was pruned: use another key for a new declaration"
    ))
}

fn refused(id: u64, unfit: Unfit, event: &RowEvent) -> Error {
    Error::usage(match unfit {
        Unfit::Discarded => format!("declaration {id} was given up"),
        Unfit::ThirdText => format!(
            "declaration {id} has two texts that wait already, one of them signed: send them first"
        ),
        Unfit::NoText => format!("declaration {id} is to be deleted: edit it instead"),
        Unfit::Signed => format!(
            "declaration {id} was signed by another user: edit it, so that you sign it, or discard it"
        ),
        Unfit::State | Unfit::Decision => {
            format!("declaration {id}: \"{}\" does not fit it now", event.why())
        }
    })
}

/// Fails for a text that can be no id: a read of it would never get an answer.
fn named(id: &ConsignmentId) -> Result<()> {
    let id = id.as_str();
    let is_odd = |letter: char| letter.is_control() || letter.is_whitespace();
    if (1..=200).contains(&id.len()) && !id.contains(is_odd) {
        return Ok(());
    }
    let what = "the id of a record needs 1 to 200 bytes without blanks and control characters";
    Err(Error::usage(what))
}

fn named_record(base: &Consignment, input: &ConsignmentInput) -> Result<ServiceRecord> {
    let record = record_of(base);
    let record =
        record.ok_or_else(|| Error::usage("the record has no id, so it cannot be updated"))?;
    named(&record.id.as_str().into())?;
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
