//! The declaration that is filled in, and the outbox that sends it.

use std::collections::BTreeMap;
use std::time::Duration;

use envd_sdk::RetryPolicy;
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::model::{
    ConsignmentInput, Day, FormType, Jurisdiction, PartyInput, PdfUrl, Pic, Property,
};
use envd_sdk::register::Register;
use envd_sdk::validate::{Context, EditError, Form, Item, ItemKind, QuestionRef};
use envd_sync::outbox::{Declaration, DeclarationState, Outbox, Wanted};
use envd_sync::{Banks, Replica};
use envd_sync::{bank::Bank, store::MemorySync};
use serde_json::{Value, json};

use super::cli::Failure;
use super::server::fields::Fields;
use super::{page, server, settings};

/// What the page shows of a declaration that is not submitted.
#[derive(PartialEq)]
pub(crate) enum Step {
    FillIn,
    /// It was to be sent, and something is in the way.
    Stopped,
    /// All answers, before it is submitted.
    Review,
}

pub(crate) struct App {
    /// What each page posts, and other sites do not know.
    pub(crate) token: String,
    pub(crate) bank: Bank,
    pub(crate) form: Form,
    /// As it was put into the outbox last.
    pub(crate) sent: ConsignmentInput,
    pub(crate) step: Step,
    /// Whether the last change has removed a row.
    pub(crate) has_removed: bool,
    /// It in the outbox, once it was to be sent.
    pub(crate) declaration: Option<Declaration>,
    /// What the register has for each PIC that was entered.
    pub(crate) properties: BTreeMap<Pic, Option<Property>>,
    pub(crate) is_cut: bool,
    pub(crate) today: Day,
    empty: Form,
    outbox: Outbox,
    register: Register,
    fake: Fake,
}

impl App {
    pub(crate) async fn start() -> Result<Self, Failure> {
        let fake = settings::fixed_fake().start().await?;
        let client = fake.client().retry(RetryPolicy::none()).build()?;
        let account = client.account(fake.account_id());
        let store = MemorySync::new();
        let bank = Banks::new(&account, store.clone()).refresh().await?.bank;
        let user = client.registered_user().await?.value;
        // The PIC of the account is left to the service, so that its refusal can be seen.
        let today = Day::today_in(Jurisdiction::Qld, fake.clock().now());
        let context = Context::of(&user, &account, today).advice(true);
        let nowhere = PartyInput::default;
        let input = ConsignmentInput::new([FormType::Lpac1], nowhere(), nowhere());
        let empty = bank.questionnaire().form(&input, &context);
        Ok(Self {
            token: server::random_id()?,
            form: empty.clone(),
            sent: input,
            step: Step::FillIn,
            has_removed: false,
            declaration: None,
            properties: BTreeMap::new(),
            is_cut: false,
            today,
            outbox: Outbox::new(&Replica::new(&account, store)),
            register: Register::builder(fake.register_url()).build()?,
            bank,
            empty,
            fake,
        })
    }

    /// Takes over all fields and the button for rows, or nothing if one of them cannot be.
    pub(crate) fn fill_in(&mut self, fields: &Fields, button: &str) -> Result<(), EditError> {
        // The page of a tab that does not know that it is submitted.
        if self.is_submitted() {
            return Ok(());
        }
        let mut form = self.form.clone();
        if button == "undo" && self.has_removed {
            form.undo();
        }
        // The last first: an answer is stored before one above it hides its question.
        for (name, value) in fields.iter().rev() {
            match set(&mut form, name, value) {
                // Another answer on the same page hides the question.
                Err(EditError::DoesNotApply { .. })
                    if set(&mut self.form.clone(), name, value).is_ok() => {}
                done => done?,
            }
        }
        let (action, name) = button.split_once(" q.").unwrap_or_default();
        if !action.is_empty() && action != "change" {
            let at = page::question(name)?;
            match action {
                "add" => drop(form.add_row(at)?),
                "copy" => copy_row(&mut form, &at)?,
                "leave" => form.skip(at)?,
                "remove" => drop(form.remove_row(at.id, at.row)?),
                _ => {}
            }
        }
        let is_same = form.to_input() == self.form.to_input();
        self.has_removed = action == "remove" || self.has_removed && is_same && action.is_empty();
        self.form = form;
        Ok(())
    }

    /// Does what a button says that is not about rows.
    pub(crate) async fn press(&mut self, button: &str) -> envd_sync::Result<()> {
        match button {
            "save" => self.send(false).await?,
            "submit" => self.send(true).await?,
            "review" => {
                self.step = if self.is_blocked(true) {
                    Step::Stopped
                } else {
                    Step::Review
                };
            }
            "sign" => drop(self.form.field("declaration.signature", Value::Null)),
            "new" => {
                self.form = self.empty.clone();
                self.declaration = None;
                (self.step, self.has_removed) = (Step::FillIn, false);
            }
            "cut" => {
                // Later than the outbox trusts its copy of the account: it reads first, so that surely nothing was sent.
                self.fake.clock().advance(Duration::from_secs(600));
                let line = self.fake.on_path("/v2/graphql");
                line.fault(Fault::dropped_before()).forever();
                self.is_cut = true;
            }
            "connect" => {
                self.fake.clear_scripts();
                self.is_cut = false;
                self.outbox.send().await?;
            }
            change if change.starts_with("change") => self.step = Step::FillIn,
            // What is changed while it waits goes with it.
            _ if self.is_waiting() && !self.is_blocked(self.submits()) => {
                self.write(self.submits()).await?;
            }
            _ => {}
        }
        if let Some(declaration) = &mut self.declaration
            && let Some(now) = self.outbox.declaration(declaration.id).await?
        {
            *declaration = now;
        }
        self.look_up().await;
        Ok(())
    }

    /// Asks the register for the PICs of the form. Without an answer it is asked again with the next post.
    async fn look_up(&mut self) {
        let input = self.form.to_input();
        for path in page::PARTIES {
            let pic = page::text_at(&input, &format!("{path}.pic"));
            let Ok(pic) = Pic::parse(&pic) else { continue };
            if !self.properties.contains_key(&pic)
                && let Ok(property) = self.register.property(&pic).await
            {
                self.properties.insert(pic, property);
            }
        }
    }

    /// The printed declaration, once it is submitted.
    pub(crate) async fn printed(&self) -> envd_sdk::Result<Option<Vec<u8>>> {
        let declaration = self.declaration.as_ref();
        let record = declaration.and_then(|declaration| declaration.consignment.clone());
        let Some(record) = record.filter(|_| self.is_submitted()) else {
            return Ok(None);
        };
        let account = self.outbox.account();
        let address: Option<PdfUrl> = account.consignment(record).await?.value.pdf_url;
        match address {
            // It has a token in it, so the browser does not get it.
            Some(address) => account.client().pdf(&address).await.map(Some),
            None => Ok(None),
        }
    }

    /// Whether what is in the outbox is to be submitted, and not only saved.
    pub(crate) fn submits(&self) -> bool {
        self.declaration
            .as_ref()
            .is_some_and(|declaration| declaration.wanted == Wanted::Submit)
    }

    pub(crate) fn is_submitted(&self) -> bool {
        self.submits() && self.is_in(&[DeclarationState::Confirmed])
    }

    /// Whether it waits for the line, and not for a correction.
    fn is_waiting(&self) -> bool {
        self.is_in(&[DeclarationState::Queued])
    }

    fn needs_correction(&self) -> bool {
        self.is_in(&[DeclarationState::Refused, DeclarationState::NeedsAttention])
    }

    fn is_in(&self, states: &[DeclarationState]) -> bool {
        let declaration = self.declaration.as_ref();
        declaration.is_some_and(|declaration| states.contains(&declaration.state))
    }

    /// Whether something was changed that is not in the outbox.
    pub(crate) fn is_changed(&self) -> bool {
        self.declaration.is_some() && self.form.to_input() != self.sent
    }

    fn is_blocked(&self, submits: bool) -> bool {
        let mut blockers = self.form.blockers().into_iter();
        blockers.any(|blocker| submits || blocker.blocks_creating())
    }

    /// Puts the declaration into the outbox and sends it, unless something is in the way. What is submitted stays as it is.
    async fn send(&mut self, submits: bool) -> envd_sync::Result<()> {
        let is_blocked = self.is_blocked(submits);
        self.step = if is_blocked {
            Step::Stopped
        } else {
            Step::FillIn
        };
        if is_blocked || self.is_submitted() {
            return Ok(());
        }
        self.write(submits).await?;
        self.outbox.send().await.map(drop)
    }

    /// Puts the declaration into the outbox, in the place of what it holds.
    async fn write(&mut self, submits: bool) -> envd_sync::Result<()> {
        let input = self.form.to_input();
        let text = input.clone();
        let is_same = !self.is_changed() && !self.needs_correction();
        let written = match &self.declaration {
            None if submits => self.outbox.submit(text).await?,
            None => self.outbox.save(text).await?,
            Some(kept) if is_same && !submits => kept.clone(),
            Some(kept) if is_same => self.outbox.submit_saved(kept.id).await?,
            Some(kept) if submits => self.outbox.edit_and_submit(kept.id, text).await?,
            Some(kept) => self.outbox.edit(kept.id, text).await?,
        };
        self.declaration = Some(written);
        self.sent = input;
        Ok(())
    }
}

/// Adds a row with the answers of another one, in the order of the page: an answer is put in after the one that asks for it.
fn copy_row(form: &mut Form, at: &QuestionRef) -> Result<(), EditError> {
    let items = form.items();
    let mut all = items.iter().flat_map(Item::descendants);
    let section = all.find(|item| item.question.id == at.id);
    let rows = section.map(|item| &item.rows).into_iter().flatten();
    let row = rows.into_iter().find(|row| row.index == at.row);
    let row = row.ok_or_else(|| EditError::NoSuchRow(at.clone()))?;
    let added = form.add_row(at.id.as_str())?.appeared;
    let index = added.first().and_then(|question| question.row);
    for Item {
        question,
        kind,
        rows,
        value,
        ..
    } in row.items.iter().flat_map(Item::descendants)
    {
        if *kind == ItemKind::Rows && !rows.is_empty() {
            let mut inner = question.clone();
            inner.row = index;
            form.add_row(inner)?;
        } else if let Some(value) = value {
            form.answer((&question.id, index), value.as_str())?;
        }
    }
    Ok(())
}

/// Answers a question, or sets another field.
fn set(form: &mut Form, name: &str, text: &str) -> Result<(), EditError> {
    if let Some(name) = name.strip_prefix("q.") {
        let asked = page::question(name)?;
        return form.answer(asked, text).map(drop);
    }
    let Some(path) = name.strip_prefix("f.") else {
        return Ok(());
    };
    let value = match (path, text) {
        ("forms", forms) => forms.split_terminator(',').collect(),
        (_, "") => Value::Null,
        ("declaration.accept", "true") => json!(true),
        ("declaration.date", day) if Day::parse(day).is_ok() => json!(format!("{day}T00:00:00")),
        _ => json!(text),
    };
    form.field(path, value).map(drop)
}
