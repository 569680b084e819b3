//! The outbox, the register and the questions. Of documents it keeps which declaration each one became.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use envd_sdk::RetryPolicy;
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::model::{ConsignmentInput, Day, Jurisdiction, PdfUrl, Pic, Property};
use envd_sdk::register::Register;
use envd_sdk::validate::{Context, Form};
use envd_sync::bank::Bank;
use envd_sync::outbox::{Declaration, DeclarationId, DeclarationState, Outbox, Wanted};
use envd_sync::store::MemorySync;
use envd_sync::{Banks, Replica};
use tokio::sync::Mutex;

use super::cli::Failure;
use super::document::Document;
use super::settings;

pub(crate) struct App {
    pub(crate) bank: Bank,
    pub(crate) today: Day,
    context: Context,
    outbox: Outbox,
    /// The declaration of each document that was saved or submitted, by key, and the version that went into it last.
    declarations: Mutex<BTreeMap<String, (DeclarationId, u64)>>,
    register: Register,
    properties: Mutex<BTreeMap<Pic, Option<Property>>>,
    fake: Fake,
    is_cut: AtomicBool,
}

impl App {
    pub(crate) async fn start() -> Result<Self, Failure> {
        let fake = settings::fixed_fake().start().await?;
        let client = fake.client().retry(RetryPolicy::none()).build()?;
        let account = client.account(fake.account_id());
        let store = MemorySync::new();
        let user = client.registered_user().await?.value;
        let today = Day::today_in(Jurisdiction::Qld, fake.clock().now());
        Ok(Self {
            bank: Banks::new(&account, store.clone()).refresh().await?.bank,
            today,
            // The PIC of the account is left to the service, so that its refusal can be seen.
            context: Context::of(&user, &account, today).advice(true),
            outbox: Outbox::new(&Replica::new(&account, store)),
            declarations: Mutex::default(),
            register: Register::builder(fake.register_url()).build()?,
            properties: Mutex::default(),
            fake,
            is_cut: AtomicBool::new(false),
        })
    }

    pub(crate) fn form(&self, document: &Document) -> Form {
        document.form(self.bank.questionnaire(), &self.context)
    }

    /// A submitted input, as a form to read.
    pub(crate) fn form_of(&self, input: &ConsignmentInput) -> Form {
        self.bank.questionnaire().form(input, &self.context)
    }

    /// The declaration that a document became, and the document's version.
    pub(crate) async fn declaration(
        &self,
        key: &str,
    ) -> envd_sync::Result<Option<(Declaration, u64)>> {
        let Some((id, version)) = self.declarations.lock().await.get(key).copied() else {
            return Ok(None);
        };
        let declaration = self.outbox.declaration(id).await?;
        Ok(declaration.map(|declaration| (declaration, version)))
    }

    pub(crate) async fn by_id(&self, id: DeclarationId) -> envd_sync::Result<Option<Declaration>> {
        self.outbox.declaration(id).await
    }

    /// All declarations with their keys, the latest first.
    pub(crate) async fn all(&self) -> envd_sync::Result<Vec<(Declaration, String)>> {
        let mut all = self.outbox.declarations().await?;
        let mut before = None;
        loop {
            let page = self.outbox.history(before).await?;
            all.extend(page.declarations);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        all.sort_by_key(|declaration| declaration.id);
        let declarations = self.declarations.lock().await;
        let keys = declarations.iter().map(|(key, (id, _))| (*id, key));
        let keys: BTreeMap<_, _> = keys.collect();
        let keyed = all.into_iter().rev().map(|declaration| {
            let key = keys.get(&declaration.id).copied();
            (declaration, key.cloned().unwrap_or_default())
        });
        Ok(keyed.collect())
    }

    pub(crate) async fn key(&self, id: DeclarationId) -> String {
        let declarations = self.declarations.lock().await;
        let mut found = declarations.iter().filter(|(_, (other, _))| *other == id);
        found.next().map(|(key, _)| key.clone()).unwrap_or_default()
    }

    /// Puts what follows from a document into the outbox, as one declaration, and sends it. A post that comes twice, or after a
    /// newer one, changes nothing.
    pub(crate) async fn put(
        &self,
        document: &Document,
        input: ConsignmentInput,
        submits: bool,
    ) -> envd_sync::Result<()> {
        let mut declarations = self.declarations.lock().await;
        let version = document.version();
        let written = match declarations.get(&document.key).copied() {
            Some((_, newest)) if newest >= version => return Ok(()),
            Some((id, _)) if submits => self.outbox.edit_and_submit(id, input).await?,
            Some((id, _)) => self.outbox.edit(id, input).await?,
            None if submits => self.outbox.submit(input).await?,
            None => self.outbox.save(input).await?,
        };
        declarations.insert(document.key.clone(), (written.id, version));
        drop(declarations);
        self.outbox.send().await.map(drop)
    }

    pub(crate) async fn withdraw(&self, id: DeclarationId) -> envd_sync::Result<()> {
        self.outbox.withdraw(id).await.map(drop)
    }

    /// The line of this server to the service.
    pub(crate) async fn set_line(&self, is_cut: bool) -> envd_sync::Result<()> {
        self.is_cut.store(is_cut, Ordering::Relaxed);
        if !is_cut {
            self.fake.clear_scripts();
            return self.outbox.send().await.map(drop);
        }
        // Long enough that the outbox reads the account again first. The read fails, so no change is sent.
        self.fake.clock().advance(Duration::from_secs(600));
        let line = self.fake.on_path("/v2/graphql");
        line.fault(Fault::dropped_before()).forever();
        Ok(())
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// The register's entry for a PIC. `None` if the register does not answer; the next call tries again.
    pub(crate) async fn property(&self, pic: Pic) -> Option<String> {
        let mut known = self.properties.lock().await;
        if !known.contains_key(&pic)
            && let Ok(property) = self.register.property(&pic).await
        {
            known.insert(pic, property);
        }
        Some(match known.get(&pic)? {
            None => "This PIC is not in the register. Check it.".to_owned(),
            Some(property) => {
                let parts = [&property.name, &property.town, &property.registered_state];
                let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
                parts.join(", ")
            }
        })
    }

    /// The printed declaration.
    pub(crate) async fn printed(
        &self,
        declaration: Declaration,
    ) -> envd_sdk::Result<Option<Vec<u8>>> {
        let Some(record) = declaration.consignment else {
            return Ok(None);
        };
        let account = self.outbox.account();
        let address: Option<PdfUrl> = account.consignment(record).await?.value.pdf_url;
        match address {
            // The address contains a token, so the browser does not get it.
            Some(address) => account.client().pdf(&address).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Whether a declaration is submitted, or waits to be: to change it, the user withdraws it first.
pub(crate) fn is_submitted(declaration: &Declaration) -> bool {
    let needs_correction = matches!(
        declaration.state,
        DeclarationState::Refused | DeclarationState::NeedsAttention | DeclarationState::Discarded
    );
    declaration.wanted == Wanted::Submit && !needs_correction
}
