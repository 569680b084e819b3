//! Forms that are kept under a name, and opened again the next day.

use serde::{Deserialize, Serialize};

use super::Banks;
use super::banks::not_kept;
use crate::account_store::{self, VersionedDocument};
use crate::error::Result;
use crate::store::rows::{Batch, Document};
use envd_sdk::model::{ConsignmentStatus, Timestamp};
use envd_sdk::validate::SavedForm;

/// What the documents of drafts begin with.
const PREFIX: &str = "bank/draft/";

/// A form that is kept in the store under a name. It pins its list of questions, which stays as long as the draft does.
///
/// It is not known to the service. `Debug` leaves out what the user entered.
///
/// See [`Banks::create_draft`] for an example.
#[derive(Clone, PartialEq)]
pub struct LocalDraft {
    name: String,
    content: Content,
    /// As it is stored, to recognise another writer.
    text: String,
}

/// What the document of a draft holds.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    saved_at: Timestamp,
    form: SavedForm,
}

/// Why a draft is not written.
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
    /// The declaration is accepted, signed or submitted: it keeps its list of questions and its forms.
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
    /// An error for what is signed or submitted.
    pub(super) fn unless_movable(form: &SavedForm) -> Result<(), Self> {
        let (input, draft) = (form.input(), ConsignmentStatus::Draft);
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

    /// When it was written last, in UTC, on the clock of the [`Banks`].
    pub fn saved_at(&self) -> &Timestamp {
        &self.content.saved_at
    }
}

debug_shows!(LocalDraft, |it| name: it.name, saved_at: it.content.saved_at, form: it.content.form);

impl Banks {
    /// Keeps a form under a new name: 1 to 100 bytes without control characters.
    ///
    /// What the user entered is in the store then, with names, addresses and a signature if there is one.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::validate::Context;
    /// use envd_sync::Banks;
    /// use envd_sync::store::MemorySync;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let banks = Banks::new(&account, MemorySync::new()); // Or `SqliteSync::open("farm.db")?`.
    /// let bank = banks.refresh().await?.bank;
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
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
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::NameTaken`] when the name is there already.
    /// [`Error::Usage`](crate::Error::Usage) when the name cannot be used, or the store does not hold the list of the form. [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn create_draft(&self, name: &str, form: &SavedForm) -> Result<LocalDraft> {
        let draft = self.draft_of(name, form);
        self.write_draft(name, None, Some(&draft)).await?;
        Ok(draft)
    }

    /// Writes a form over a draft, as it was read or written last. This also accepts a form that was
    /// [opened with a newer list](Self::open_with).
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::Changed`] when the draft was written or removed since, or with
    /// [`DraftError::Signed`] when it is signed or submitted and the form has another list or other forms: nothing is written.
    /// [`Error::Usage`](crate::Error::Usage) when the form has another list, which the store does not hold.
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

    /// Removes a draft, as it was read or written last. Its list stays until [`prune`](Self::prune) removes it.
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::Changed`] when the draft was written or removed since.
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn remove_draft(&self, draft: &LocalDraft) -> Result<()> {
        self.write_draft(&draft.name, Some(draft), None).await
    }

    /// The draft with this name. Without a request.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) for what cannot be a name, [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn draft(&self, name: &str) -> Result<Option<LocalDraft>> {
        let document = self.store.document(&document_name(name)?).await?;
        document.map(LocalDraft::from_document).transpose()
    }

    /// All drafts, by name. Without a request.
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
            // OK because all of it was read from JSON or can be written as such.
            text: serde_json::to_string(&content).unwrap_or_default(),
            content,
        }
    }

    /// Replaces a draft if it is stored as it was read; without `after` it is removed.
    ///
    /// The version of the document is not enough to expect: it starts again when a draft is removed and created again. Both of
    /// these write the index, whose version is expected as well.
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
