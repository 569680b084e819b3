//! The declarations and edits that a caller writes, with their settings, until they are awaited.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use super::apply::Intent;
use super::compare::ServiceRecord;
use super::declaration::{Declaration, DeclarationId};
use super::outbox::Outbox;
use super::requests::{About, named_record, new_text, text};
use super::row::{CallerKey, Text};
use crate::error::Result;
use envd_sdk::model::{Consignment, ConsignmentInput, ConsignmentNumber, WithExtra};

impl Outbox {
    /// Writes a new declaration, to be saved as a draft. It is in the store when the awaited call returns. It is not validated.
    ///
    /// If the application may repeat the call, give it a [key](NewDeclaration::key).
    ///
    /// To edit a record of the service, use [`update`](Self::update).
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let written = outbox.save(input).await?;
    /// assert_eq!(outbox.declarations().await?[0].id, written.id);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the input cannot be written as JSON, names a record, or has a status other than
    /// `DRAFT`, and when its [key](NewDeclaration::key) is invalid or belongs to a declaration that was discarded or pruned;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub fn save(&self, input: impl Into<WithExtra<ConsignmentInput>>) -> NewDeclaration<'_> {
        NewDeclaration::new(self, &input.into(), false)
    }

    /// Writes a new declaration, to be submitted. The outbox always creates a draft first, and submits it by its id. So the worst
    /// effect of a lost reply is a surplus draft.
    ///
    /// The submit is a save by id with the status `SUBMITTED` (assumed: see [`ops`](envd_sdk::ops)).
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
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

    /// Replaces the text of a declaration, and keeps an intent to submit. A request under way is not affected; the new text is sent after
    /// it. The edit also answers a question about the earlier text. If this handle has a [`not_after`](Self::not_after), it replaces
    /// the earlier limit.
    ///
    /// ```
    /// # test_support::example(async {
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
    /// // A later edit changes the draft on the service.
    /// outbox.edit(written.id, input().movement("2099-01-16", "05:15")).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save), and [`Error::Usage`](crate::Error::Usage) when the declaration does not exist or was discarded, the
    /// input names another record, or two texts are already waiting and one of them is signed.
    pub fn edit(
        &self,
        id: DeclarationId,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> DeclarationEdit<'_> {
        DeclarationEdit::new(self, Ok(Edited::Declaration(id)), input.into())
    }

    /// Changes a record of the service. `base` is the record that the user edited: if the record differs from it when the change is
    /// due, nothing is sent, and the user is asked.
    ///
    /// A record belongs to one declaration. If a change of this record is already waiting, the two are merged field by field. A signed
    /// text is not merged: the earlier text is sent before the later one.
    ///
    /// ```
    /// # test_support::example(async {
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
    /// As [`edit`](Self::edit), and [`Error::Usage`](crate::Error::Usage) when `base` has no id, or another id than the input.
    pub fn update(
        &self,
        base: &Consignment,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> DeclarationEdit<'_> {
        let input = input.into();
        let record = named_record(base, input.input());
        let edited = record.map(|record| Edited::Record(record, base.number.clone()));
        DeclarationEdit::new(self, edited, input)
    }
}

/// A new declaration, from [`Outbox::save`] and [`Outbox::submit`]. It is written when awaited.
///
/// See [`key`](Self::key) for an example.
///
/// # Cancel safety
///
/// Nothing is stored before the first poll. If the future is dropped later, the declaration is either stored or not. Repeating the
/// call without a [`key`](Self::key) may then store a second declaration; with the same key, it returns the first. If the future of
/// any call that writes is dropped, a running [loop](Outbox::run) may carry out the request up to a minute late.
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

    /// Sets the application's own key for the declaration, such as a hidden field of a form or the number of a load: 1 to 100 bytes
    /// without control characters, unique in the account. If the call is repeated with its key, after a crash or a second click, it
    /// returns the existing declaration instead of creating another.
    ///
    /// If the repeated call has the same text as the last call with this key, nothing is written, whatever has happened to the
    /// declaration since. If the text differs, the call is an [edit](Outbox::edit), and an intent to submit stays. The declaration keeps
    /// its key forever.
    ///
    /// ```
    /// # test_support::example(async {
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
        let intent = intent(text, self.is_submitted);
        self.outbox.request(About::New(key.as_ref()), intent).await
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

/// A new text for a declaration or a record, from [`Outbox::edit`] and [`Outbox::update`]. It is written when awaited.
///
/// # Cancel safety
///
/// Nothing is stored before the first poll. If the future is dropped later, the new text is either stored or not. Read the
/// [declaration](Outbox::declaration) before you repeat the call.
#[must_use = "nothing is written until it is awaited"]
pub struct DeclarationEdit<'a> {
    outbox: &'a Outbox,
    edited: Result<Edited>,
    input: WithExtra<ConsignmentInput>,
    is_submitted: bool,
}

enum Edited {
    Declaration(DeclarationId),
    /// The record as the user saw it, and its number.
    Record(ServiceRecord, Option<ConsignmentNumber>),
}

impl<'a> DeclarationEdit<'a> {
    fn new(outbox: &'a Outbox, edited: Result<Edited>, input: WithExtra<ConsignmentInput>) -> Self {
        Self {
            outbox,
            edited,
            input,
            is_submitted: false,
        }
    }

    /// Submits the record with the new text, in one request. Without it, the record becomes a draft with the new text, or stays one,
    /// unless the declaration is already to be submitted.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::ConsignmentInput;
    /// use envd_sync::outbox::Wanted;
    ///
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// // A draft of the account.
    /// let base = account.consignment("00000000-0000-4000-8000-000000000101").await?.value;
    /// let input = ConsignmentInput::from(&base);
    /// let written = outbox.update(&base, input).submit().await?;
    /// assert_eq!(written.wanted, Wanted::Submit);
    /// # Ok(()) });
    /// ```
    pub fn submit(mut self) -> Self {
        self.is_submitted = true;
        self
    }

    async fn write(self) -> Result<Declaration> {
        let edited = self.edited?;
        let text = text(&self.input, self.is_submitted)?;
        let about = match &edited {
            Edited::Declaration(id) => About::Declaration(*id, self.input.input().id.value()),
            Edited::Record(record, number) => About::Record(record, number.as_ref()),
        };
        let intent = intent(text, self.is_submitted);
        self.outbox.request(about, intent).await
    }
}

impl<'a> IntoFuture for DeclarationEdit<'a> {
    type Output = Result<Declaration>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.write())
    }
}

impl fmt::Debug for DeclarationEdit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeclarationEdit")
            .field("is_submitted", &self.is_submitted)
            .finish_non_exhaustive()
    }
}

fn intent(text: Text, is_submitted: bool) -> Intent {
    if is_submitted {
        Intent::Submit(Some(text))
    } else {
        Intent::Save(text)
    }
}
