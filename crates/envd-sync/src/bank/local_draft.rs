//! Forms that are kept under a name, and opened again the next day.

use serde::{Deserialize, Serialize};

use super::{Banks, DraftError, Plan};
use crate::account_store::{self, VersionedDocument};
use crate::error::Result;
use crate::store::rows::{Batch, Document};
use envd_sdk::model::Timestamp;
use envd_sdk::validate::{ContentHash, SavedForm};

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
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The form, to be [opened](Banks::open).
    #[must_use]
    pub fn form(&self) -> &SavedForm {
        &self.content.form
    }

    /// The list of questions that it pins.
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        self.content.form.content_hash()
    }

    /// When it was written last, in UTC, on the clock of the [`Banks`].
    #[must_use]
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
        let written = self.write_draft(name, None, Some(form)).await?;
        written.ok_or_else(|| DraftError::NameTaken.into())
    }

    /// Writes a form over a draft, as it was read or written last.
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::Changed`] when the draft was written or removed since: nothing is written.
    /// [`Error::Usage`](crate::Error::Usage) when the form has another list, which the store does not hold.
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn update_draft(&self, draft: &LocalDraft, form: &SavedForm) -> Result<LocalDraft> {
        let written = self.write_draft(&draft.name, Some(draft), Some(form));
        written.await?.ok_or_else(|| DraftError::Changed.into())
    }

    /// Moves a draft as a plan says that a person has accepted: see [`Plan`].
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) when the draft is not the one that the plan was made from, or was written or removed since:
    /// nothing is written. [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn move_draft(&self, draft: &LocalDraft, plan: &Plan) -> Result<LocalDraft> {
        let moved = plan.accept(draft.form())?;
        self.update_draft(draft, &moved).await
    }

    /// Removes a draft, as it was read or written last. Its list stays until [`prune`](Self::prune) removes it.
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::Changed`] when the draft was written or removed since.
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn remove_draft(&self, draft: &LocalDraft) -> Result<()> {
        let removed = self.write_draft(&draft.name, Some(draft), None).await?;
        removed.map(drop).ok_or_else(|| DraftError::Changed.into())
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

    /// Writes, or removes, what is stored as it was in `before`; `None` if something else is stored. Of a draft that is
    /// removed, what it was.
    ///
    /// The version of the document alone does not tell: it starts again when a draft is removed and made anew. That writes
    /// the index, whose version is expected as well.
    async fn write_draft(
        &self,
        name: &str,
        before: Option<&LocalDraft>,
        form: Option<&SavedForm>,
    ) -> Result<Option<LocalDraft>> {
        let stored_name = document_name(name)?;
        let content = form.or(before.map(LocalDraft::form)).map(|form| Content {
            saved_at: self.clock.now().into(),
            form: form.clone(),
        });
        let Some(content) = content else {
            return Ok(None);
        };
        // OK because all of it was read from JSON or can be written as such.
        let text = serde_json::to_string(&content).unwrap_or_default();
        loop {
            let base = self.load().await?;
            let stored = self.store.document(&stored_name).await?;
            let expected = before.map(|before| &before.text);
            if stored.as_ref().map(|stored| &stored.text) != expected {
                return Ok(None);
            }
            let mut index = base.value.clone();
            if let Some(form) = form {
                let hash = form.content_hash();
                if index.list(hash).is_none() {
                    return Err(super::banks::not_kept(hash));
                }
                index.pins.insert(name.to_owned(), hash);
            } else {
                index.pins.remove(name);
            }
            let version = stored.map_or(0, |stored| stored.version);
            let batch = Batch {
                expected: vec![(stored_name.clone(), version)],
                documents: vec![(stored_name.clone(), form.map(|_| text.clone()))],
                ..Batch::default()
            };
            if self.replace(&base, &index, batch).await? {
                let name = name.to_owned();
                let written = LocalDraft {
                    name,
                    content,
                    text,
                };
                return Ok(Some(written));
            }
        }
    }
}

fn document_name(draft: &str) -> Result<String> {
    account_store::document_name(PREFIX, draft, "a draft")
}
