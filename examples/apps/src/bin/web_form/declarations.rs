//! The calls of the SDK: [`Banks`] keeps the questions and the drafts, the [`Outbox`] sends, the [`Register`] knows the properties.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use envd_sdk::RetryPolicy;
use envd_sdk::model::{ConsignmentInput, Day, Jurisdiction, Pic, Property, UserDetails};
use envd_sdk::register::Register;
use envd_sdk::validate::{Context, Form, Questionnaire};
use envd_sync::bank::{Bank, DraftError, LocalDraft};
use envd_sync::outbox::{Declaration, DeclarationState, Outbox, Wanted};
use envd_sync::store::SqliteSync;
use envd_sync::{Banks, Error, Replica, Result};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::cli::Failure;
use super::settings::Settings;

/// How long a page waits for the service. A request that takes longer continues, and the page shows the declaration as waiting.
const PATIENCE: Duration = Duration::from_secs(5);

/// The maximum number of stored drafts.
pub(crate) const MOST_DRAFTS: usize = 200;

pub(crate) struct Declarations {
    settings: Settings,
    user: UserDetails,
    banks: Banks,
    pub(crate) outbox: Outbox,
    register: Register,
    properties: Mutex<BTreeMap<Pic, Option<Property>>>,
}

/// An open draft, with the questions that it was begun with.
pub(crate) struct Open {
    pub(crate) draft: LocalDraft,
    pub(crate) form: Form,
    pub(crate) questions: Questionnaire,
}

impl Declarations {
    /// Opens the file `store` and starts the outbox, which sends declarations when they are due.
    pub(crate) async fn start(store: &Path) -> Result<Self, Failure> {
        let settings = Settings::read().await?;
        let (client, _) = settings.log_in().await?;
        // The outbox repeats requests. Pages that only read show a missing answer at once.
        let client = client.retry(RetryPolicy::none()).build()?;
        let user = client.registered_user().await?.value;
        let account = client.account(Settings::account_id(&user)?);
        let store = SqliteSync::open(store)?;
        let banks = Banks::new(&account, store.clone());
        banks.refresh().await?;
        let outbox = Outbox::new(&Replica::new(&account, store));
        tokio::spawn(outbox.run().into_future());
        Ok(Self {
            register: settings.register()?.build()?,
            settings,
            user,
            banks,
            outbox,
            properties: Mutex::default(),
        })
    }

    pub(crate) fn today(&self) -> Day {
        Day::today_in(Jurisdiction::Qld, self.settings.clock().now())
    }

    fn context(&self) -> Context {
        // Without the PIC of the account, so that the pages can show the service refuse one.
        Context::of(&self.user, self.outbox.account(), self.today()).advice(true)
    }

    /// The newest list of questions.
    pub(crate) async fn bank(&self) -> Result<Bank> {
        match self.banks.latest().await? {
            Some(bank) => Ok(bank),
            None => Ok(self.banks.refresh().await?.bank),
        }
    }

    /// A form with the newest list of questions.
    pub(crate) async fn form(&self, input: &ConsignmentInput) -> Result<Form> {
        Ok(self
            .bank()
            .await?
            .questionnaire()
            .form(input, &self.context()))
    }

    /// The drafts that are not submitted. A submitted declaration keeps its draft until the service confirms it, because the user
    /// can withdraw it until then.
    pub(crate) async fn drafts(&self) -> Result<Vec<LocalDraft>> {
        let mut drafts = Vec::new();
        for draft in self.banks.drafts().await? {
            match self.sent(draft.name()).await? {
                Some(sent) if !is_closed(&sent) => drafts.push(draft),
                Some(sent) if is_final(&sent) => self.remove(draft.name()).await?,
                Some(_) => {}
                None => drafts.push(draft),
            }
        }
        Ok(drafts)
    }

    /// The number of drafts in the store.
    pub(crate) async fn count(&self) -> Result<usize> {
        Ok(self.banks.drafts().await?.len())
    }

    /// Begins a draft. A second call with its id changes nothing.
    pub(crate) async fn begin(&self, id: &str, input: &ConsignmentInput) -> Result<()> {
        let form = self.form(input).await?;
        match self.banks.create_draft(id, &form.save()).await {
            Err(Error::Draft(DraftError::NameTaken)) => Ok(()),
            begun => begun.map(drop),
        }
    }

    pub(crate) async fn open(&self, id: &str) -> Result<Option<Open>> {
        let Some(draft) = self.banks.draft(id).await? else {
            return Ok(None);
        };
        let form = self
            .banks
            .open(draft.form().clone(), &self.context())
            .await?;
        let bank = self.banks.bank(draft.form().content_hash()).await?;
        Ok(bank.map(|bank| Open {
            draft,
            form,
            questions: bank.questionnaire().clone(),
        }))
    }

    /// Writes a draft. `None` if another request has written it since `draft` was read; the caller then reads it again.
    pub(crate) async fn keep(&self, draft: &LocalDraft, form: &Form) -> Result<Option<LocalDraft>> {
        match self.banks.update_draft(draft, &form.save()).await {
            Err(Error::Draft(DraftError::Changed)) => Ok(None),
            kept => kept.map(Some),
        }
    }

    pub(crate) async fn remove(&self, id: &str) -> Result<()> {
        let Some(draft) = self.banks.draft(id).await? else {
            return Ok(());
        };
        match self.banks.remove_draft(&draft).await {
            Err(Error::Draft(DraftError::Changed)) => Ok(()),
            removed => removed,
        }
    }

    /// Submits a declaration with the id of its draft as key, so that repeated calls and kills lead to one declaration. Waits up
    /// to [`PATIENCE`] for the service.
    pub(crate) async fn submit(&self, id: &str, input: ConsignmentInput) -> Result<()> {
        match self.sent(id).await? {
            Some(declaration) if is_closed(&declaration) => {}
            Some(declaration) => drop(self.outbox.edit(declaration.id, input).submit().await?),
            None => drop(self.outbox.submit(input).key(id).await?),
        }
        self.send().await
    }

    /// The declaration of a draft in the outbox.
    pub(crate) async fn sent(&self, id: &str) -> Result<Option<Declaration>> {
        self.outbox.declaration_with_key(id).await
    }

    /// Sends the due declarations and waits up to [`PATIENCE`]. The task continues afterwards, because a cancelled request would be
    /// in doubt.
    pub(crate) async fn send(&self) -> Result<()> {
        let outbox = self.outbox.clone();
        let sending = tokio::spawn(async move { outbox.send().await });
        match timeout(PATIENCE, sending).await {
            Ok(Ok(sent)) => sent.map(drop),
            _ => Ok(()),
        }
    }

    /// The latest declarations of the outbox: those whose number contains `number`, or all.
    pub(crate) async fn latest(&self, number: &str, most: usize) -> Result<Vec<Declaration>> {
        let is_wanted = |one: &Declaration| {
            let known = one.number.as_ref().map_or("", |number| number.as_str());
            number.is_empty() || known.to_lowercase().contains(&number.to_lowercase())
        };
        let mut found = self.outbox.declarations().await?;
        found.retain(is_wanted);
        let mut before = None;
        loop {
            let page = self.outbox.history(before).await?;
            found.extend(page.declarations.into_iter().filter(is_wanted));
            before = page.next;
            if before.is_none() || found.len() >= most {
                break;
            }
        }
        found.sort_by_key(|declaration| std::cmp::Reverse(declaration.id));
        found.truncate(most);
        Ok(found)
    }

    /// The record of the service; `None` if the service does not answer.
    pub(crate) async fn record(&self, declaration: &Declaration) -> Option<ConsignmentInput> {
        let id = declaration.consignment.clone()?;
        let read = timeout(PATIENCE, self.outbox.account().consignment(id));
        let record = read.await.ok()?.ok()?.value;
        Some(ConsignmentInput::from(&record))
    }

    /// The declaration as the service prints it.
    pub(crate) async fn printed(&self, declaration: Declaration) -> Option<Vec<u8>> {
        let account = self.outbox.account();
        let record = account.consignment(declaration.consignment?).await.ok()?;
        // The address has a token in it, so the browser does not get it.
        let address = record.value.pdf_url?;
        account.client().pdf(&address).await.ok()
    }

    /// A sentence about a PIC from the register, and whether it is a warning.
    pub(crate) async fn property(&self, pic: Pic) -> (String, bool) {
        let known = self.properties.lock().await.get(&pic).cloned();
        let property = match known {
            Some(property) => property,
            None => match timeout(PATIENCE, self.register.property(&pic)).await {
                Ok(Ok(property)) => property,
                _ => {
                    return (
                        "The register gave no answer about this PIC.".to_owned(),
                        false,
                    );
                }
            },
        };
        self.properties.lock().await.insert(pic, property.clone());
        let Some(property) = property else {
            return (
                "This PIC is not in the register. Check it.".to_owned(),
                true,
            );
        };
        let parts = [&property.name, &property.town, &property.registered_state];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        let name = parts.join(", ");
        match &property.admin_status {
            Some(status) if !status.is_active() => (
                format!("{name}. The register says that this PIC is {status}. Check it."),
                true,
            ),
            _ => (name, false),
        }
    }
}

/// Whether the user cannot edit a declaration: it is submitted, waits to be sent, or is discarded.
pub(crate) fn is_closed(declaration: &Declaration) -> bool {
    match declaration.state {
        DeclarationState::Discarded => true,
        DeclarationState::Refused | DeclarationState::NeedsAttention => false,
        _ => declaration.wanted == Wanted::Submit,
    }
}

/// Whether the user cannot take a declaration back any more.
pub(crate) fn is_final(declaration: &Declaration) -> bool {
    matches!(
        declaration.state,
        DeclarationState::Confirmed | DeclarationState::Discarded
    )
}
