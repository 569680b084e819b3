//! The declaration that is filled in.

use envd_sdk::Result;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::sync::bank::Bank;
use envd_sdk::sync::outbox::{Entry, EntryId, EntryState, Outbox};
use envd_sdk::validate::{Context, EditError, Form, QuestionRef, Report, compare};
use serde_json::{Value, json};

use super::page::place;
use super::post::Post;

pub(crate) struct Declaration {
    pub(crate) form: Form,
    /// Whether it was to be sent, and something was in the way.
    pub(crate) is_stopped: bool,
    /// What the service says of fields, by their names. It holds as long as they are as they were sent.
    pub(crate) remarks: Vec<(String, String)>,
    sent: Post,
    /// The entries of the outbox that save and submit it.
    entries: Vec<EntryId>,
}

impl Declaration {
    pub(crate) fn new(bank: &Bank, context: &Context) -> Self {
        let nowhere = PartyInput::default;
        let input = ConsignmentInput::new([FormType::Lpac1], nowhere(), nowhere());
        Self {
            form: bank.questionnaire().form(&input, context),
            is_stopped: false,
            remarks: Vec::new(),
            sent: Post::default(),
            entries: Vec::new(),
        }
    }

    /// Takes over all fields and the button for rows, or nothing if one of them cannot be.
    pub(crate) fn fill_in(&mut self, post: &Post) -> Result<(), EditError> {
        let mut form = self.form.clone();
        // The last first: an answer is stored before one above it hides its question.
        for (name, _) in post.0.iter().rev() {
            let value = post.value(name);
            if let Some(path) = name.strip_prefix("f.") {
                fill_in_field(&mut form, path, &value)?;
            } else if name.starts_with("q.") {
                let asked = question(name)?;
                let answer = |form: &mut Form| form.answer(&asked.id, asked.row, value.as_str());
                match answer(&mut form) {
                    // Another answer on the same page hides the question.
                    Err(EditError::DoesNotApply { .. })
                        if answer(&mut self.form.clone()).is_ok() => {}
                    answered => drop(answered?),
                }
            }
        }
        let button = post.value("do");
        match button.split_once(' ').unwrap_or_default() {
            ("add", section) => drop(form.add_row(question(section)?)?),
            ("leave", section) => form.skip(question(section)?)?,
            ("remove", row) => {
                let row = question(row)?;
                form.remove_row(row.id, row.row)?;
            }
            _ => {}
        }
        self.form = form;
        let sent = &self.sent;
        self.remarks
            .retain(|(name, _)| post.value(name) == sent.value(name));
        Ok(())
    }

    /// Puts it into the outbox and sends it, unless something is in the way.
    pub(crate) async fn send(&mut self, outbox: &Outbox, post: Post, submits: bool) -> Result<()> {
        let mut blockers = self.form.blockers().into_iter();
        self.is_stopped = blockers.any(|blocker| submits || blocker.blocks_creating());
        if self.is_stopped {
            return Ok(());
        }
        let input = self.form.to_input();
        let saves = match self.entries.first() {
            None if submits => outbox.save_and_submit(input).await?.id,
            None => outbox.save(input).await?.id,
            Some(id) => outbox.edit(*id, input).await?.id,
        };
        let is_submitted = submits || self.entries.len() > 1;
        self.entries = vec![saves];
        if is_submitted {
            // The one that waits, if there is one.
            self.entries.push(outbox.submit(saves).await?.id);
        }
        self.sent = post;
        self.send_kept(outbox).await
    }

    /// Sends what is in the outbox, and notes what the service refuses beyond what the form says.
    pub(crate) async fn send_kept(&mut self, outbox: &Outbox) -> Result<()> {
        outbox.send().await?;
        self.remarks.clear();
        for entry in self.entries(outbox).await? {
            if entry.state == EntryState::Refused {
                let service = Report::from_server_errors(&entry.findings);
                let remarks = compare(self.form.report(), &service).only_server;
                let remarks = remarks
                    .iter()
                    .map(|finding| (place(finding), finding.sentence()));
                self.remarks.extend(remarks);
            }
        }
        Ok(())
    }

    /// The entries that save and submit it.
    pub(crate) async fn entries(&self, outbox: &Outbox) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for id in &self.entries {
            entries.extend(outbox.entry(*id).await?);
        }
        Ok(entries)
    }
}

/// Sets a field that is no question, if it differs.
fn fill_in_field(form: &mut Form, path: &str, text: &str) -> Result<(), EditError> {
    let value = match (path, text) {
        ("forms", forms) => forms.split_terminator(',').collect(),
        (_, "") => Value::Null,
        ("declaration.accept", "true") => json!(true),
        _ => json!(text),
    };
    let input = json!(form.to_input());
    let before = input.pointer(&format!("/{}", path.replace('.', "/")));
    if before.unwrap_or(&Value::Null) != &value {
        form.field(path, value)?;
    }
    Ok(())
}

/// The question and the row in the name of a field.
fn question(name: &str) -> Result<QuestionRef, EditError> {
    let unknown = || EditError::UnknownQuestion(name.into());
    let parts = name
        .strip_prefix("q.")
        .and_then(|name| name.rsplit_once('.'));
    let (id, row) = parts.ok_or_else(unknown)?;
    let mut question = QuestionRef::from(id);
    if !row.is_empty() {
        question.row = Some(row.parse().map_err(|_| unknown())?);
    }
    Ok(question)
}
