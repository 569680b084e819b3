//! Forms stored under a name, to be opened again later.

use serde::{Deserialize, Serialize};

use super::Banks;
use super::banks::not_kept;
use crate::account_store::{self, VersionedDocument};
use crate::error::Result;
use crate::store::rows::{Batch, Document};
use envd_sdk::model::{ConsignmentStatus, Timestamp};
use envd_sdk::validate::SavedForm;

/// The prefix of the names of draft documents.
const PREFIX: &str = "bank/draft/";

/// A form stored under a name; it pins its list of questions, which stays as long as the draft does.
///
/// The service does not know it. `Debug` hides the user's input.
///
/// See [`Banks::create_draft`] for an example.
#[derive(Clone, PartialEq)]
pub struct LocalDraft {
    name: String,
    content: Content,
    /// The stored text, compared before a write to detect other writers.
    text: String,
}

/// The stored content of a draft.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    saved_at: Timestamp,
    form: SavedForm,
}

/// The reasons for refusing to write a draft.
///
/// ```
/// use envd_sync::bank::DraftError;
///
/// fn advice(error: &DraftError) -> &'static str {
///     match error {
///         DraftError::Changed => "Somebody has saved this draft since you opened it. Open it again.",
///         DraftError::NameTaken => "There is a draft of this name. Choose another one.",
///         _ => "The declaration is signed. To use other questions, make a new one.",
///     }
/// }
/// # let _ = advice;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The declaration is accepted, signed or submitted, so it keeps its list of questions and its forms.
    #[error("a signed or submitted declaration keeps its questions: make a new one")]
    Signed,
    /// The draft was written or removed since it was read.
    #[error("the draft has changed since it was read: read it again")]
    Changed,
    /// There is a draft with this name.
    #[error("there is a draft with this name: read and update it, or choose another name")]
    NameTaken,
}

impl DraftError {
    /// An error if the form is accepted, signed or submitted.
    pub(super) fn unless_movable(form: &SavedForm) -> Result<(), Self> {
        let input = form.input();
        let draft = ConsignmentStatus::Draft;
        let is_signed = input.declaration.value().is_some_and(|declaration| {
            let signature = declaration.signature.value();
            declaration.accept.value() == Some(&true) || signature.is_some_and(|it| !it.is_empty())
        });
        let is_draft = input.status.value().is_none_or(|status| *status == draft);
        (is_draft && !is_signed).then_some(()).ok_or(Self::Signed)
    }
}

impl LocalDraft {
    fn from_document(document: Document) -> Result<Self> {
        let name = document.name.strip_prefix(PREFIX).unwrap_or_default();
        Ok(Self {
            name: name.to_owned(),
            content: VersionedDocument::read(&document)?.value,
            text: document.text,
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The form, to be [opened](Banks::open).
    pub fn form(&self) -> &SavedForm {
        &self.content.form
    }

    /// The time of the last write, in UTC, on the clock of the [`Banks`].
    pub fn saved_at(&self) -> &Timestamp {
        &self.content.saved_at
    }
}

debug_shows!(LocalDraft, |it| name: it.name, saved_at: it.content.saved_at, form: it.content.form);

impl Banks {
    /// Stores a form under a new name of 1 to 100 bytes without control characters.
    ///
    /// The store then holds the user's input, with names, addresses and the signature if there is one.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::validate::Context;
    /// use envd_sync::Banks;
    /// use envd_sync::store::MemorySync;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let banks = Banks::new(&account, MemorySync::new()); // Or `SqliteSync::open("farm.db")?`.
    /// let bank = banks.refresh().await?.bank;
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let context = Context::on(Day::parse("2026-11-20")?);
    /// let mut form = bank.questionnaire().form(&input, &context);
    /// let draft = banks.create_draft("1", &form.save()).await?;
    /// form.answer("17", "Yes")?;
    /// banks.update_draft(&draft, &form.save()).await?;
    ///
    /// // After the next start.
    /// let draft = banks.draft("1").await?.ok_or("no draft")?;
    /// let form = banks.open(draft.form().clone(), &context).await?;
    /// assert_eq!(form.progress().answered, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the draft may have been stored. Repeating the call then fails with [`DraftError::NameTaken`]; read
    /// the [draft](Self::draft) first.
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::NameTaken`] if the name is taken.
    /// [`Error::Usage`](crate::Error::Usage) if the name is invalid, or if the store does not hold the list of the form.
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn create_draft(&self, name: &str, form: &SavedForm) -> Result<LocalDraft> {
        let draft = self.draft_of(name, form);
        self.write_draft(name, None, Some(&draft)).await?;
        Ok(draft)
    }

    /// Replaces the form of a draft, unless the draft changed since it was read or written.
    ///
    /// This also accepts a form that was [opened with a newer list](Self::open_with).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the new form may have been stored. Repeating the call then fails with [`DraftError::Changed`];
    /// read the [draft](Self::draft) first.
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft), and nothing is written: with [`DraftError::Changed`] if the draft was written or
    /// removed in the meantime, with [`DraftError::Signed`] if the draft is signed or submitted and the form has another list or
    /// other forms. [`Error::Usage`](crate::Error::Usage) if the form has another list, which the store does not hold.
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn update_draft(&self, draft: &LocalDraft, form: &SavedForm) -> Result<LocalDraft> {
        let questions = |form: &SavedForm| (form.content_hash(), form.input().forms.clone());
        if questions(draft.form()) != questions(form) {
            DraftError::unless_movable(draft.form())?;
        }
        let written = self.draft_of(&draft.name, form);
        self.write_draft(&draft.name, Some(draft), Some(&written))
            .await?;
        Ok(written)
    }

    /// Removes a draft, unless it changed since it was read or written.
    ///
    /// Its list stays until [`prune`](Self::prune) removes it.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the draft may have been removed. Repeating the call then fails with [`DraftError::Changed`].
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::Changed`] if the draft was written or removed in the meantime.
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn remove_draft(&self, draft: &LocalDraft) -> Result<()> {
        self.write_draft(&draft.name, Some(draft), None).await
    }

    /// The draft with this name; sends no request.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) for an invalid name, [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn draft(&self, name: &str) -> Result<Option<LocalDraft>> {
        let document = self.store.document(&document_name(name)?).await?;
        document.map(LocalDraft::from_document).transpose()
    }

    /// All drafts, sorted by name; sends no request.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn drafts(&self) -> Result<Vec<LocalDraft>> {
        let documents = self.store.documents(PREFIX).await?.into_iter();
        documents.map(LocalDraft::from_document).collect()
    }

    fn draft_of(&self, name: &str, form: &SavedForm) -> LocalDraft {
        let content = Content {
            saved_at: self.clock.now().into(),
            form: form.clone(),
        };
        LocalDraft {
            name: name.to_owned(),
            // OK because all of it was read from JSON or can be serialized to JSON.
            text: serde_json::to_string(&content).unwrap_or_default(),
            content,
        }
    }

    /// Replaces the draft if the stored text equals `before`; removes it if `after` is `None`.
    ///
    /// Expecting the version of the document would not be enough: it starts again when a draft is removed and created again. Both
    /// of these write the index, so this also expects the version of the index.
    async fn write_draft(
        &self,
        name: &str,
        before: Option<&LocalDraft>,
        after: Option<&LocalDraft>,
    ) -> Result<()> {
        let document = document_name(name)?;
        loop {
            let base = self.load().await?;
            let stored = self.store.document(&document).await?;
            let expected = before.map(|draft| &draft.text);
            if stored.as_ref().map(|stored| &stored.text) != expected {
                let reason = expected.map_or(DraftError::NameTaken, |_| DraftError::Changed);
                return Err(reason.into());
            }
            let mut index = base.value.clone();
            index.pins.remove(name);
            if let Some(hash) = after.map(|draft| draft.form().content_hash()) {
                index.list(hash).ok_or_else(|| not_kept(hash))?;
                index.pins.insert(name.to_owned(), hash);
            }
            let version = stored.map_or(0, |stored| stored.version);
            let text = after.map(|draft| draft.text.clone());
            let mut batch = Batch::default();
            batch.expected.push((document.clone(), version));
            batch.documents.push((document.clone(), text));
            if self.replace(&base, &index, batch).await? {
                return Ok(());
            }
        }
    }
}

fn document_name(draft: &str) -> Result<String> {
    account_store::document_name(PREFIX, draft, "a draft")
}
