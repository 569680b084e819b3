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
use envd_sync::outbox::{Entry, EntryState, Outbox};
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
    /// What was put into the outbox last.
    pub(crate) sent: ConsignmentInput,
    pub(crate) step: Step,
    /// Whether the last change has removed a row.
    pub(crate) has_removed: bool,
    /// The entries of the outbox that save and submit it.
    pub(crate) entries: Vec<Entry>,
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
            entries: Vec::new(),
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
                self.entries.clear();
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
        for entry in &mut self.entries {
            if let Some(now) = self.outbox.entry(entry.id).await? {
                *entry = now;
            }
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
        let record = self
            .entries
            .last()
            .and_then(|last| last.consignment.clone());
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
        self.entries.len() > 1
    }

    pub(crate) fn is_submitted(&self) -> bool {
        self.submits() && self.ends_in(EntryState::Confirmed)
    }

    /// Whether it waits for the line, and not for a correction.
    fn is_waiting(&self) -> bool {
        self.ends_in(EntryState::Queued) && !self.needs_correction()
    }

    fn needs_correction(&self) -> bool {
        let waits = [EntryState::Refused, EntryState::NeedsAttention];
        let mut entries = self.entries.iter();
        entries.any(|entry| waits.contains(&entry.state))
    }

    fn ends_in(&self, state: EntryState) -> bool {
        self.entries.last().is_some_and(|last| last.state == state)
    }

    /// Whether something was changed that is not in the outbox.
    pub(crate) fn is_changed(&self) -> bool {
        !self.entries.is_empty() && self.form.to_input() != self.sent
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
        let save = match self.entries.first() {
            None if submits => self.outbox.save_and_submit(input.clone()).await?,
            None => self.outbox.save(input.clone()).await?,
            Some(save) if self.is_changed() || self.needs_correction() => {
                self.outbox.edit(save.id, input.clone()).await?
            }
            Some(save) => save.clone(),
        };
        if submits || self.submits() {
            // The one that waits, if there is one.
            let submit = self.outbox.submit(save.id).await?;
            self.entries = vec![save, submit];
        } else {
            self.entries = vec![save];
        }
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
