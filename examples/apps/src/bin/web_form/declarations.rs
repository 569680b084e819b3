//! The calls of the SDK. Everything else in this program is about forms, pages and requests.
//!
//! | the user | the program calls |
//! | --- | --- |
//! | begins a declaration | [`Banks::latest`], [`Questionnaire::form`](envd_sdk::validate::Questionnaire::form), [`Banks::create_draft`] |
//! | opens a page of it | [`Banks::draft`], [`Banks::open`]; `section.rs` shows [`Form::items`], `remarks.rs` [`Form::blockers`] |
//! | enters a PIC | [`Register::property`] |
//! | saves a page | [`Form::field`], [`Form::add_row`] and the like in `section.rs`, then [`Banks::update_draft`] |
//! | submits it | [`Outbox::submit`] with the id of the draft as key, [`Outbox::send`] |
//! | reads the receipt | [`Outbox::declaration_with_key`], [`AccountClient::consignment`](envd_sdk::AccountClient::consignment) |
//! | answers a question of the outbox | [`Outbox::decide`], [`Outbox::withdraw`] |
//! | looks for an older one | [`Outbox::declarations`], [`Outbox::history`] |

use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

use envd_sdk::RetryPolicy;
use envd_sdk::model::{Consignment, ConsignmentInput, Day, Jurisdiction, Pic, UserDetails};
use envd_sdk::register::Register;
use envd_sdk::validate::{Context, Form};
use envd_sync::bank::{Bank, DraftError, LocalDraft};
use envd_sync::outbox::{Decision, Declaration, DeclarationState, Outbox, Wanted};
use envd_sync::store::SqliteSync;
use envd_sync::{Banks, Error, Replica, Result};
use tokio::time::timeout;

use super::cli::Failure;
use super::section::remove_signature;
use super::settings::Settings;

/// How long a page waits for the service. A request that takes longer continues, and the page shows the declaration as waiting.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Declarations {
    settings: Settings,
    user: UserDetails,
    banks: Banks,
    outbox: Outbox,
    register: Register,
}

/// An open draft, with the list of questions that it was begun with.
pub(crate) struct Open {
    pub(crate) draft: LocalDraft,
    pub(crate) form: Form,
    pub(crate) bank: Bank,
}

impl Open {
    /// The form without a signature.
    pub(crate) fn unsigned(&self) -> Form {
        let mut input = self.form.save().into_input();
        remove_signature(&mut input);
        self.bank.questionnaire().adopt(&self.form, input)
    }
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
        let register = settings.register()?.cache(Duration::from_secs(3600), 1_000);
        Ok(Self {
            settings,
            user,
            banks,
            outbox,
            register: register.build()?,
        })
    }

    pub(crate) fn today(&self) -> Day {
        Day::today_in(Jurisdiction::Qld, self.settings.clock().now())
    }

    fn context(&self) -> Context {
        // Without the PIC of the account, so that the pages can show the service refuse one.
        Context::of(&self.user, self.outbox.account(), self.today()).advice(true)
    }

    /// A form with the newest list of questions.
    pub(crate) async fn form(&self, input: &ConsignmentInput) -> Result<Form> {
        let bank = match self.banks.latest().await? {
            Some(bank) => bank,
            None => self.banks.refresh().await?.bank,
        };
        Ok(bank.questionnaire().form(input, &self.context()))
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
        let saved = draft.form().clone();
        let bank = self.banks.bank(saved.content_hash()).await?;
        let form = self.banks.open(saved, &self.context()).await?;
        Ok(bank.map(|bank| Open { draft, form, bank }))
    }

    /// Writes a draft. False if another request has written it since it was opened; the caller then opens it again.
    pub(crate) async fn keep(&self, open: &Open, form: &Form) -> Result<bool> {
        match self.banks.update_draft(&open.draft, &form.save()).await {
            Err(Error::Draft(DraftError::Changed)) => Ok(false),
            kept => kept.map(|_| true),
        }
    }

    pub(crate) async fn remove(&self, draft: &LocalDraft) -> Result<()> {
        match self.banks.remove_draft(draft).await {
            Err(Error::Draft(DraftError::Changed)) => Ok(()),
            removed => removed,
        }
    }

    /// The drafts that are not submitted. A submitted declaration keeps its draft until the service confirms it, because the user
    /// can withdraw it until then.
    pub(crate) async fn drafts(&self) -> Result<Vec<LocalDraft>> {
        let mut drafts = Vec::new();
        for draft in self.banks.drafts().await? {
            match self.sent(draft.name()).await? {
                Some(sent) if is_closed(&sent) && sent.state.is_final() => {
                    self.remove(&draft).await?;
                }
                Some(sent) if is_closed(&sent) => {}
                _ => drafts.push(draft),
            }
        }
        Ok(drafts)
    }

    pub(crate) async fn count_drafts(&self) -> Result<usize> {
        Ok(self.banks.drafts().await?.len())
    }

    /// The declaration of a draft in the outbox.
    pub(crate) async fn sent(&self, id: &str) -> Result<Option<Declaration>> {
        self.outbox.declaration_with_key(id).await
    }

    /// Submits a declaration with the id of its draft as key, so that repeated calls and kills lead to one declaration.
    pub(crate) async fn submit(&self, id: &str, input: ConsignmentInput) -> Result<()> {
        match self.sent(id).await? {
            Some(sent) if is_closed(&sent) => {}
            Some(sent) => drop(self.outbox.edit(sent.id, input).submit().await?),
            None => drop(self.outbox.submit(input).key(id).await?),
        }
        self.send().await
    }

    /// Sends the due declarations and waits up to [`PATIENCE`], also for requests that an earlier call sends. The task continues
    /// afterwards, because a cancelled request would be in doubt.
    pub(crate) async fn send(&self) -> Result<()> {
        let outbox = self.outbox.clone();
        let sending = tokio::spawn(async move { outbox.send().await });
        match timeout(PATIENCE, sending).await {
            Ok(Ok(sent)) => sent.map(drop),
            _ => Ok(()),
        }
    }

    /// Answers a question of the outbox. A question that was answered meanwhile changes nothing.
    pub(crate) async fn decide(&self, sent: &Declaration, decision: Decision) -> Result<()> {
        if sent.decisions().contains(&decision) {
            self.outbox.decide(sent.id, decision).await?;
        }
        Ok(())
    }

    /// Makes a declaration that is not final a draft again, without the signature.
    pub(crate) async fn reopen(&self, id: &str, sent: &Declaration) -> Result<()> {
        let input = sent.input.clone().unwrap_or_default();
        self.begin(id, &input).await?;
        while let Some(open) = self.open(id).await? {
            if self.keep(&open, &open.unsigned()).await? {
                break;
            }
        }
        if is_closed(sent) {
            self.outbox.withdraw(sent.id).await?;
        }
        Ok(())
    }

    /// The latest declarations of the outbox with `number` in their number.
    pub(crate) async fn latest(&self, number: &str, most: usize) -> Result<Vec<Declaration>> {
        let number = number.to_lowercase();
        let is_wanted = |sent: &Declaration| {
            let known = sent.number.as_ref().map_or("", |known| known.as_str());
            known.to_lowercase().contains(&number)
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
        found.sort_by_key(|sent| Reverse(sent.id));
        found.truncate(most);
        Ok(found)
    }

    /// The record of the service; `None` if there is none or the service does not answer.
    pub(crate) async fn record(&self, sent: &Declaration) -> Option<Consignment> {
        let id = sent.consignment.clone()?;
        let read = timeout(PATIENCE, self.outbox.account().consignment(id)).await;
        Some(read.ok()?.ok()?.value)
    }

    /// The declaration as the service prints it.
    pub(crate) async fn printed(&self, sent: &Declaration) -> Option<Vec<u8>> {
        // The address has a token in it, so the browser does not get it.
        let address = self.record(sent).await?.pdf_url?;
        self.outbox.account().client().pdf(&address).await.ok()
    }

    /// A sentence about a PIC from the register, and whether it is a warning.
    pub(crate) async fn property(&self, pic: &Pic) -> (String, bool) {
        let Ok(Ok(found)) = timeout(PATIENCE, self.register.property(pic)).await else {
            let sentence = "The register gave no answer about this PIC.";
            return (sentence.to_owned(), false);
        };
        let Some(property) = found else {
            let sentence = "This PIC is not in the register. Check it.";
            return (sentence.to_owned(), true);
        };
        let parts = [property.name, property.town, property.registered_state];
        let name = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        match property.admin_status {
            Some(status) if !status.is_active() => {
                let warning = format!("The register says that this PIC is {status}. Check it.");
                (format!("{name}. {warning}"), true)
            }
            _ => (name, false),
        }
    }
}

/// Whether the user cannot edit a declaration: it is submitted, waits to be sent, or is discarded.
pub(crate) fn is_closed(sent: &Declaration) -> bool {
    match sent.state {
        DeclarationState::Discarded => true,
        DeclarationState::Refused | DeclarationState::NeedsAttention => false,
        _ => sent.wanted == Wanted::Submit,
    }
}
