//! The handle of the stored question lists.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Bank;
use super::question_bank::prepare;
use crate::account_store::{AccountStore, VersionedDocument, unreadable};
use crate::error::{Error, Result};
use crate::store::SyncStore;
use crate::store::rows::Batch;
use envd_sdk::model::{FormType, Question, QuestionList, Timestamp};
use envd_sdk::validate::{ContentHash, Context, Form, Policy, Questionnaire, SavedForm};
use envd_sdk::{AccountClient, Clock};

/// The time for which a confirmation is valid before another one is written.
const CONFIRMED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The question lists in a store, and the drafts that pin them; cheap to clone, and clones share the store.
///
/// Only [`refresh`](Self::refresh) sends requests. A list stays until [`prune`](Self::prune) removes it. Several processes may use
/// one store at the same time.
///
/// See [`Banks::new`] and [`open`](Self::open) for an example.
#[derive(Clone)]
#[must_use]
pub struct Banks {
    account: AccountClient,
    pub(super) store: AccountStore,
    pub(super) clock: Clock,
    policy: Policy,
}

/// The result of a [refresh](Banks::refresh).
///
/// See [`Banks::new`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BankRefresh {
    /// The list that the service sends now.
    pub bank: Bank,
    /// Whether its content differs from the previous list; true for the first list.
    pub changed: bool,
}

impl Banks {
    /// The question lists in a store, for forms that are filled in without reception; this sends and reads nothing yet.
    ///
    /// The store may also hold other accounts and a [replica](crate::Replica). The service has one list for all accounts, but the
    /// store keeps it per account, as it keeps everything.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sync::Banks;
    /// use envd_sync::store::MemorySync;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let banks = Banks::new(&account, MemorySync::new());
    /// assert!(banks.latest().await?.is_none());
    /// assert!(banks.refresh().await?.changed);
    /// assert!(banks.latest().await?.is_some());
    /// # Ok(()) });
    /// ```
    pub fn new(account: &AccountClient, store: impl SyncStore) -> Self {
        Self {
            account: account.clone(),
            store: AccountStore::new(Arc::new(store), account.id().as_str()),
            clock: account.client().clock().clone(),
            policy: Policy::default(),
        }
    }

    /// The policy for preparing lists; [`Policy::default`] unless set.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Downloads the questions of the service, and stores them in addition to earlier lists if their content is new.
    ///
    /// A list equal to the latest one is not written again; only its [`confirmed_at`](Bank::confirmed_at) is, at most once in 24
    /// hours. A list that is empty or has server errors is not stored: it may lack questions. A refresh sends one request, or two
    /// if questions are nested deeper than any seen so far. It sends the request again if another process has received another list
    /// in the meantime.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the list may have been stored, completely or not at all. Repeating the call is harmless.
    ///
    /// # Errors
    ///
    /// As [`Client::questions`](envd_sdk::Client::questions), also for a list with server errors. After an error, such as one for
    /// missing reception, the [latest](Self::latest) list stays usable. [`Error::Reply`] for an empty list, [`Error::Store`] when
    /// the store fails.
    pub async fn refresh(&self) -> Result<BankRefresh> {
        loop {
            // Read the index before the request, so that no reply replaces a list that was requested later.
            let before = self.load().await?;
            let received = self.account.client().questions().received();
            let (list, json) = received.await?.strict()?.into_parts();
            if list.items.is_empty() {
                return Err(Error::Reply("the list of questions is empty"));
            }
            if let Some(refreshed) = self.keep(before, &list, &json).await? {
                return Ok(refreshed);
            }
        }
    }

    /// Stores a list; `None` if another process has received another list since `base` was read.
    pub(super) async fn keep(
        &self,
        mut base: VersionedDocument<Index>,
        list: &QuestionList,
        received: &str,
    ) -> Result<Option<BankRefresh>> {
        let questionnaire = Questionnaire::prepare_with(&list.items, self.policy);
        let hash = questionnaire.content_hash();
        let before = base.value.latest;
        loop {
            if base.value.latest != before && base.value.latest != Some(hash) {
                return Ok(None);
            }
            let mut index = base.value.clone();
            index.receive(hash, list, self.clock.now());
            let mut batch = Batch::default();
            let stored = self.stored_list(hash).await?;
            // A damaged list is written again.
            let sound = stored.filter(|json| prepare(hash, json, self.policy).is_ok());
            let json = sound.clone().unwrap_or_else(|| received.to_owned());
            if sound.is_none() {
                batch.documents.push((list_name(hash), Some(json.clone())));
            }
            let is_kept = index == base.value && sound.is_some();
            if is_kept || self.replace(&base, &index, batch).await? {
                let changed = before != Some(hash);
                let bank = self.bank_of(&index, hash, json)?;
                return Ok(bank.map(|bank| BankRefresh { bank, changed }));
            }
            base = self.load().await?;
        }
    }

    /// The list that the service sent last; `None` before the first [`refresh`](Self::refresh); sends no request.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn latest(&self) -> Result<Option<Bank>> {
        match self.load().await?.value.latest {
            Some(hash) => self.bank(hash).await,
            None => Ok(None),
        }
    }

    /// The list with this hash, for example the list that a draft pins; sends no request.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn bank(&self, hash: ContentHash) -> Result<Option<Bank>> {
        let index = self.load().await?.value;
        match self.stored_list(hash).await? {
            Some(json) => self.bank_of(&index, hash, json),
            None => Ok(None),
        }
    }

    /// Opens a saved form with the list that it was filled in with, and validates it; sends no request.
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
    /// let banks = Banks::new(&account, MemorySync::new());
    /// let bank = banks.refresh().await?.bank;
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let context = Context::on(Day::parse("2026-11-20")?);
    /// let mut form = bank.questionnaire().form(&input, &context);
    /// form.answer("17", "Yes")?;
    /// let saved = form.save();
    ///
    /// // The next day, in the paddock.
    /// let context = Context::on(Day::parse("2026-11-21")?);
    /// let form = banks.open(saved, &context).await?;
    /// assert_eq!(form.progress().answered, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) if the store does not hold the list: the form was saved with another store, or the
    /// list was removed. [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn open(&self, saved: SavedForm, context: &Context) -> Result<Form> {
        Ok(self.open_pinned(saved, context).await?.1)
    }

    /// Opens a form and the list that it pins.
    pub(super) async fn open_pinned(
        &self,
        saved: SavedForm,
        context: &Context,
    ) -> Result<(Questionnaire, Form)> {
        let hash = saved.content_hash();
        let json = self.stored_list(hash).await?;
        let questionnaire = prepare(hash, &json.ok_or_else(|| not_kept(hash))?, self.policy)?;
        let form = questionnaire.open(saved, context);
        Ok((questionnaire, form.map_err(|_| not_kept(hash))?))
    }

    /// Removes unused lists, and returns their hashes.
    ///
    /// The latest list stays, and so do those pinned by drafts of this store and those in `keep`. Pass the lists of all forms that
    /// you store elsewhere: a form cannot be opened without its list.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sync::store::MemorySync;
    /// # use envd_sdk::validate::SavedForm;
    /// use envd_sync::Banks;
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let forms: Vec<SavedForm> = Vec::new();
    /// let banks = Banks::new(&account, MemorySync::new());
    /// banks.refresh().await?;
    /// let removed = banks.prune(forms.iter().map(SavedForm::content_hash)).await?;
    /// assert!(removed.is_empty());
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, either all unused lists are removed or none. Repeating the call is harmless, but does not return
    /// the hashes of lists that are already removed.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn prune(
        &self,
        keep: impl IntoIterator<Item = ContentHash>,
    ) -> Result<Vec<ContentHash>> {
        let keep: Vec<ContentHash> = keep.into_iter().collect();
        loop {
            let base = self.load().await?;
            let mut index = base.value.clone();
            let pins = base.value.pins.values();
            let needed: Vec<_> = pins.chain(&base.value.latest).chain(&keep).collect();
            let is_needless = |list: &mut KeptList| !needed.contains(&&list.content_hash);
            let removed = index.lists.extract_if(.., is_needless);
            let removed: Vec<ContentHash> = removed.map(|list| list.content_hash).collect();
            let mut batch = Batch::default();
            let removals = removed.iter().map(|hash| (list_name(*hash), None));
            batch.documents = removals.collect();
            if removed.is_empty() || self.replace(&base, &index, batch).await? {
                return Ok(removed);
            }
        }
    }

    pub(super) async fn load(&self) -> Result<VersionedDocument<Index>> {
        let index: VersionedDocument<Index> = self.store.load(INDEX).await?.unwrap_or_default();
        if index.value.format > FORMAT {
            let message = "a newer version wrote the question lists: update this program";
            return Err(unreadable(message.to_owned()).into());
        }
        Ok(index)
    }

    /// Writes a batch, and the index if it changed; `false` if another process wrote the index in the meantime.
    pub(super) async fn replace(
        &self,
        base: &VersionedDocument<Index>,
        index: &Index,
        mut batch: Batch,
    ) -> Result<bool> {
        batch.expected.push((INDEX.to_owned(), base.version));
        if *index != base.value {
            // OK because a struct of texts can always be serialized.
            let text = serde_json::to_string(index).unwrap_or_default();
            batch.documents.push((INDEX.to_owned(), Some(text)));
        }
        Ok(self.store.commit(&batch).await?)
    }

    async fn stored_list(&self, hash: ContentHash) -> Result<Option<String>> {
        let document = self.store.document(&list_name(hash)).await?;
        Ok(document.map(|document| document.text))
    }

    /// Opens a list of the index; `None` if another process has removed it.
    fn bank_of(&self, index: &Index, hash: ContentHash, json: String) -> Result<Option<Bank>> {
        let kept = index.list(hash).cloned();
        let bank = kept.map(|kept| Bank::open(kept, json, self.policy));
        Ok(bank.transpose()?)
    }
}

impl Index {
    pub(super) fn list(&self, hash: ContentHash) -> Option<&KeptList> {
        self.lists.iter().find(|list| list.content_hash == hash)
    }

    /// Makes a list the latest one, and notes the time.
    fn receive(&mut self, hash: ContentHash, received: &QuestionList, now: SystemTime) {
        self.format = FORMAT;
        let at = Timestamp::from(now);
        let is_latest = self.latest.replace(hash) == Some(hash);
        let mut lists = self.lists.iter_mut();
        let Some(list) = lists.find(|list| list.content_hash == hash) else {
            self.lists.push(KeptList {
                content_hash: hash,
                received_at: at.clone(),
                confirmed_at: at,
                forms: forms_of(&received.items),
            });
            return;
        };
        // False after the clock was set back.
        let is_recent =
            |at: SystemTime| now.duration_since(at).is_ok_and(|age| age < CONFIRMED_FOR);
        if !is_latest || !list.confirmed_at.to_time().is_some_and(is_recent) {
            list.confirmed_at = at;
        }
    }
}

debug_shows!(Banks, |it| account: it.account.id());

/// The name of the index: which lists are stored, which one the service sent last, and which ones drafts pin. Every write that
/// adds, removes or pins a list expects its version.
const INDEX: &str = "bank/index";

/// The format of the documents. A newer version of this crate may write another format.
const FORMAT: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Index {
    format: u32,
    /// The list that the service sent last.
    pub(super) latest: Option<ContentHash>,
    /// In the order in which they were first received.
    pub(super) lists: Vec<KeptList>,
    /// The list of each draft, by the name of the draft.
    pub(super) pins: BTreeMap<String, ContentHash>,
}

/// The entry of a list in the index, without the questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptList {
    pub(super) content_hash: ContentHash,
    pub(super) received_at: Timestamp,
    pub(super) confirmed_at: Timestamp,
    pub(super) forms: Vec<FormType>,
}

/// The name of the document of a list.
pub(super) fn list_name(hash: ContentHash) -> String {
    format!("bank/list/{hash}")
}

/// The forms that questions name, on all levels.
pub(super) fn forms_of(questions: &[Question]) -> Vec<FormType> {
    let mut forms = BTreeSet::new();
    let mut open: Vec<&Question> = questions.iter().collect();
    while let Some(question) = open.pop() {
        forms.extend(question.forms.iter().cloned());
        open.extend(question.child_questions.iter());
    }
    forms.into_iter().collect()
}

pub(super) fn not_kept(hash: ContentHash) -> Error {
    Error::usage(format!(
        "the store does not hold the question list {hash} of the draft: open the draft with the store that it was filled in with, or start a form with its input"
    ))
}
