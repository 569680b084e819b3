//! The declaration that is filled in, and the outbox that sends it.

use std::time::Duration;

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::model::{ConsignmentInput, Day, FormType, Jurisdiction, PartyInput};
use envd_sdk::sync::outbox::{Entry, EntryState, Outbox};
use envd_sdk::sync::{bank::Bank, store::MemorySync};
use envd_sdk::validate::{Context, EditError, Form};
use envd_sdk::{Error, RetryPolicy};
use serde_json::{Value, json};

use super::cli::Failure;
use super::server::fields::Fields;
use super::{page, server, settings};

pub(crate) struct App {
    /// What each page posts, and other sites do not know.
    pub(crate) token: String,
    pub(crate) bank: Bank,
    pub(crate) form: Form,
    /// What is on the page, and what was when the declaration was put into the outbox.
    pub(crate) fields: Fields,
    pub(crate) sent: Fields,
    sent_input: ConsignmentInput,
    /// Whether it was to be sent, and something was in the way.
    pub(crate) is_stopped: bool,
    /// The entries of the outbox that save and submit it.
    pub(crate) entries: Vec<Entry>,
    pub(crate) is_cut: bool,
    empty: Form,
    outbox: Outbox,
    fake: Fake,
}

impl App {
    pub(crate) async fn start() -> Result<Self, Failure> {
        let fake = settings::fixed_fake().start().await?;
        let client = fake.client().retry(RetryPolicy::none()).build()?;
        let account = client.account(fake.account_id());
        let store = MemorySync::new();
        let bank = account.banks(store.clone()).refresh().await?.bank;
        let user = client.registered_user().await?.value;
        // The PIC of the account is left to the service, so that its refusal can be seen.
        let today = Day::today_in(Jurisdiction::Qld, fake.clock().now());
        let context = Context::of(&user, &account, today);
        let nowhere = PartyInput::default;
        let input = ConsignmentInput::new([FormType::Lpac1], nowhere(), nowhere());
        let empty = bank.questionnaire().form(&input, &context);
        Ok(Self {
            token: server::random_id()?,
            form: empty.clone(),
            fields: Fields::default(),
            sent: Fields::default(),
            sent_input: input,
            is_stopped: false,
            entries: Vec::new(),
            is_cut: false,
            outbox: account.outbox(store),
            bank,
            empty,
            fake,
        })
    }

    /// Takes over all fields and the button for rows, or nothing if one of them cannot be.
    pub(crate) fn fill_in(&mut self, fields: Fields) -> Result<(), EditError> {
        if self.is_submitted() {
            // The page of a tab that does not know it yet.
            self.fields = fields;
            return Ok(());
        }
        let mut form = self.form.clone();
        // The last first: an answer is stored before one above it hides its question.
        for (name, value) in fields.iter().rev() {
            match set(&mut form, name, value) {
                // Another answer on the same page hides the question.
                Err(EditError::DoesNotApply { .. })
                    if set(&mut self.form.clone(), name, value).is_ok() => {}
                done => done?,
            }
        }
        if let Some((action, name)) = fields.get("do").and_then(|button| button.split_once(" q.")) {
            let at = page::question(name)?;
            match action {
                "add" => drop(form.add_row(at)?),
                "leave" => form.skip(at)?,
                "remove" => drop(form.remove_row(at.id, at.row)?),
                _ => {}
            }
        }
        self.form = form;
        self.fields = fields;
        Ok(())
    }

    /// Does what a button says that is not about rows.
    pub(crate) async fn press(&mut self) -> Result<(), Error> {
        match self.fields.get("do").unwrap_or_default() {
            "save" => self.send(false).await?,
            "submit" => self.send(true).await?,
            "new" => {
                self.form = self.empty.clone();
                self.entries.clear();
                self.is_stopped = false;
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
        Ok(())
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
        !self.entries.is_empty() && self.form.to_input() != self.sent_input
    }

    fn is_blocked(&self, submits: bool) -> bool {
        let mut blockers = self.form.blockers().into_iter();
        blockers.any(|blocker| submits || blocker.blocks_creating())
    }

    /// Puts the declaration into the outbox and sends it, unless something is in the way. What is submitted stays as it is.
    async fn send(&mut self, submits: bool) -> Result<(), Error> {
        self.is_stopped = self.is_blocked(submits);
        if self.is_stopped || self.is_submitted() {
            return Ok(());
        }
        self.write(submits).await?;
        self.outbox.send().await.map(drop)
    }

    /// Puts the declaration into the outbox, in the place of what it holds.
    async fn write(&mut self, submits: bool) -> Result<(), Error> {
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
        self.sent = self.fields.clone();
        self.sent_input = input;
        Ok(())
    }
}

/// Answers a question, or sets another field.
fn set(form: &mut Form, name: &str, text: &str) -> Result<(), EditError> {
    if let Some(name) = name.strip_prefix("q.") {
        let asked = page::question(name)?;
        return form.answer(asked.id, asked.row, text).map(drop);
    }
    let Some(path) = name.strip_prefix("f.") else {
        return Ok(());
    };
    let value = match (path, text) {
        ("forms", forms) => forms.split_terminator(',').collect(),
        (_, "") => Value::Null,
        ("declaration.accept", "true") => json!(true),
        _ => json!(text),
    };
    form.field(path, value).map(drop)
}
