//! Calls that store what the user wants, before they return.

use std::sync::Arc;

use serde_json::Value;

use super::apply::{Intent, RowEvent, Unfit};
use super::compare::ServiceRecord;
use super::decide::{ObservedRecord, claim};
use super::decision::Decision;
use super::declaration::{Declaration, DeclarationId};
use super::observe::Reader;
use super::outbox::Outbox;
use super::reading::{record_of, updated_key};
use super::row::{CallerKey, Limit, Row, Text};
use super::store::{Holder, Transaction, key_name};
use crate::error::{Error, Result};
use crate::given_instant;
use crate::replica::{Depth, LocalRecord};
use envd_sdk::model::{
    Consignment, ConsignmentId, ConsignmentInput, ConsignmentNumber, ConsignmentStatus,
    ConsignmentText, WithExtra,
};

impl Outbox {
    /// Submits a declaration that was saved as a draft.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the request may have been stored: read the [declaration](Self::declaration) to find out.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the declaration does not exist, was discarded, or is to be deleted;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn submit_saved(&self, id: DeclarationId) -> Result<Declaration> {
        self.request(About::Declaration(id, None), Intent::Submit(None))
            .await
    }

    /// Takes back an intent to submit. If the record may already be submitted, the user is asked before it becomes a draft again.
    ///
    /// ```
    /// # test_support::example(async {
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
    /// # Cancel safety
    ///
    /// If the future is dropped, the request may have been stored: read the [declaration](Self::declaration) to find out.
    ///
    /// # Errors
    ///
    /// As [`submit_saved`](Self::submit_saved).
    pub async fn withdraw(&self, id: DeclarationId) -> Result<Declaration> {
        self.request(About::Declaration(id, None), Intent::Withdraw)
            .await
    }

    /// Deletes a declaration: if it was never sent, nothing is sent; otherwise its record is deleted on the service. If another user
    /// has changed the record since, or it is not a draft, the user is asked.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the request may have been stored: read the [declaration](Self::declaration) to find out.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the declaration does not exist or was discarded;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn delete(&self, id: DeclarationId) -> Result<Declaration> {
        self.request(About::Declaration(id, None), Intent::Delete)
            .await
    }

    /// Deletes a record of the service, by its id. If the record is already gone, the declaration is confirmed. If the record is not a
    /// draft when the delete is due, or no longer what the local copy shows now, the user is asked.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the request may have been stored. It is then among the [declarations](Self::declarations), or in
    /// the [history](Self::history) if it has already been carried out.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the id is not valid; [`Error::Store`](crate::Error::Store) when the store fails.
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
        self.request(about, Intent::Delete).await
    }

    /// Answers the question of a declaration. [`Declaration::decisions`] lists the possible answers.
    ///
    /// An example of each decision:
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::{Decision, DeclarationState, Reason};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let website = account.clone();
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// // The record was changed on the website after it was edited here.
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
    /// // It is changed again, and the user keeps the other version.
    /// let (_, problems) = website.save_consignment(moved("2099-01-21")).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.edit(mine.id, moved("2099-01-16")).await?;
    /// outbox.send().await?;
    /// let declaration = outbox.decide(mine.id, Decision::TakeTheirs).await?;
    /// assert_eq!(declaration.state, DeclarationState::Discarded);
    ///
    /// // A refused declaration is corrected and sent again.
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("002", "a movement date is required");
    /// let refused = outbox.save(input().movement("2099-04-01", "05:15")).await?;
    /// outbox.send().await?;
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("003", "the service is being moved");
    /// outbox.edit(refused.id, input().movement("2099-04-02", "05:15")).await?;
    /// outbox.send().await?;
    ///
    /// // It is refused for a reason that has since passed.
    /// outbox.decide(refused.id, Decision::Resend).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    ///
    /// // A declaration that is not needed any more.
    /// let unwanted = outbox.save(input().movement("2099-03-01", "05:15")).await?;
    /// outbox.decide(unwanted.id, Decision::Discard).await?;
    ///
    /// // Another user created the same declaration on the website. The user decides whether it is this one.
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
    /// # Cancel safety
    ///
    /// If the future is dropped, the decision may have been stored: read the [declaration](Self::declaration) to find out.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the declaration does not exist, the decision is not possible, or the id of the
    /// record to adopt is not valid; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn decide(&self, id: DeclarationId, decision: Decision) -> Result<Declaration> {
        if let Decision::Adopt(id) = &decision {
            named(id)?;
        }
        let event = RowEvent::Decided(decision);
        self.write(About::Declaration(id, None), &event).await
    }

    pub(super) async fn request(&self, about: About<'_>, intent: Intent) -> Result<Declaration> {
        let base = match about {
            About::Record(record, _) => Some(record.clone()),
            _ => None,
        };
        let limit = self.not_after.as_ref().map(|given| {
            let at = given_instant(given, "not_after")?;
            let given = given.as_str().to_owned();
            Ok::<_, Error>(Limit { at, given })
        });
        let event = RowEvent::Requested {
            intent,
            base,
            not_after: limit.transpose()?,
        };
        self.write(about, &event).await
    }

    /// Appends an event of the user to a row, from the history too. Repeats until the state that it was applied to is the stored one.
    async fn write(&self, about: About<'_>, event: &RowEvent) -> Result<Declaration> {
        let store = self.store();
        loop {
            store.learn().await?;
            let mut draft = self.draft();
            // The row stores the replica's state at this time.
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

    /// Finds the row of a record. If a creation that is being sent or in doubt may have created the record, that row takes it over, or
    /// the user is asked about it.
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
        let seen = ObservedRecord {
            record: record.clone(),
            sequence: Reader::new(self).first_listed(&record.id).await?,
            owner: store.owner(&record.id, 0, true).await?,
        };
        let claimed = open.iter().find_map(|row| {
            let event = self.with_circumstances(row.id, |when| claim(row, &seen, when))?;
            Some((row, event))
        });
        let Some((row, event)) = claimed else {
            return Ok(None);
        };
        let row = draft.append(row, &event);
        let row = row.map_err(|_| Error::usage("the record may belong to another declaration"))?;
        let is_its_own = matches!(event, RowEvent::Applied { .. });
        Ok(is_its_own.then(|| Arc::new(row.clone())))
    }
}

/// The subject of a user's event.
#[derive(Clone, Copy)]
pub(super) enum About<'a> {
    /// A new declaration, with the application's key if any. Another declaration may already have the key.
    New(Option<&'a CallerKey>),
    /// An existing declaration, and the record that the input names.
    Declaration(DeclarationId, Option<&'a ConsignmentId>),
    /// A record as the user saw it, and its number.
    Record(&'a ServiceRecord, Option<&'a ConsignmentNumber>),
}

fn pruned(id: u64, key: &str) -> Error {
    Error::usage(format!(
        "declaration {id}, which has the key {key:?}, was pruned: use another key for a new declaration"
    ))
}

fn refused(id: u64, unfit: Unfit, event: &RowEvent) -> Error {
    Error::usage(match unfit {
        Unfit::Discarded => format!("declaration {id} was discarded: write a new one"),
        Unfit::ThirdText => format!(
            "declaration {id} already has two texts to send, one of them signed: send them before you write another"
        ),
        Unfit::NoText => {
            format!("declaration {id} is to be deleted, so it has no text to send: edit it instead")
        }
        Unfit::Signed => format!(
            "declaration {id} was signed by another user: edit it, so that you sign it, or discard it"
        ),
        Unfit::State | Unfit::Decision => match event {
            RowEvent::Decided(decision) => format!(
                "declaration {id} cannot be answered with {:?} now: see its decisions",
                decision.name()
            ),
            _ => format!("declaration {id} cannot be changed in its present state"),
        },
    })
}

/// Fails for an invalid id, which a read would never find.
fn named(id: &ConsignmentId) -> Result<()> {
    let id = id.as_str();
    let is_odd = |letter: char| letter.is_control() || letter.is_whitespace();
    if (1..=200).contains(&id.len()) && !id.contains(is_odd) {
        return Ok(());
    }
    let what = "the id of a record needs 1 to 200 bytes without blanks and control characters";
    Err(Error::usage(what))
}

pub(super) fn named_record(base: &Consignment, input: &ConsignmentInput) -> Result<ServiceRecord> {
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

pub(super) fn new_text(input: &WithExtra<ConsignmentInput>, is_submitted: bool) -> Result<Text> {
    let id = input.input().id.value();
    let number = input.input().number.value();
    if id.is_some() || number.is_some() {
        return Err(Error::usage(
            "the input names a record: update that, with the record as it was edited, or leave id and number out for a new one",
        ));
    }
    text(input, is_submitted)
}

/// The text of an input, unchanged, so that the text sent equals the signed text byte for byte. Only the id, number and status are set
/// when it is sent.
pub(super) fn text(input: &WithExtra<ConsignmentInput>, is_submitted: bool) -> Result<Text> {
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
