//! What only a person can decide.

use std::fmt;

use super::account_outbox::Outbox;
use super::entry::{Entry, EntryId, EntryKind, EntryState, Reason};
use super::stored::{Event, Stored};
use crate::error::{Error, Result};
use crate::replica::{RecordRead, is_answer};
use envd_sdk::RetryPolicy;
use envd_sdk::model::{ConsignmentId, ConsignmentInput, WithExtra};

/// What becomes of an entry, from a person: [`guide::outbox`](crate::guide::outbox) says which fits when.
///
/// It holds for what was there when it was made: if the record changes again, the entry needs another decision.
///
/// See [`Outbox::decide`] for an example of each.
#[derive(Clone)]
#[non_exhaustive]
pub enum Decision {
    /// Sends what was written here, over what the service has now. A record that is gone is made anew; a movement whose day
    /// has passed is sent anyway.
    ///
    /// Fits [`Conflict`](Reason::Conflict), [`NotADraft`](Reason::NotADraft), [`MovementPassed`](Reason::MovementPassed),
    /// [`Gone`](Reason::Gone) of a save, and [`EarlierGivenUp`](Reason::EarlierGivenUp) where there is a record.
    KeepMine,
    /// Keeps what the service has, and gives the entry up.
    ///
    /// Fits [`Conflict`](Reason::Conflict), [`NotADraft`](Reason::NotADraft), [`Gone`](Reason::Gone) and
    /// [`EarlierGivenUp`](Reason::EarlierGivenUp).
    TakeTheirs,
    /// Sends this in place of what was written: [`Outbox::edit`]. In [`Entry::decisions`] it holds what was written.
    Edit(Box<WithExtra<ConsignmentInput>>),
    /// Sends the entry again: none of the [candidates](Entry::candidates) is it.
    ///
    /// Fits an entry that is [`Refused`](EntryState::Refused) or [`Unconfirmed`](EntryState::Unconfirmed), and
    /// [`Candidates`](Reason::Candidates), [`Forbidden`](Reason::Forbidden), [`NoUsableAnswer`](Reason::NoUsableAnswer), and
    /// [`Gone`](Reason::Gone) of a save. One that is
    /// unconfirmed may have been carried out: a person answers for it that it was not.
    Resend,
    /// This record is what was sent. Fits a save without id that was sent and has no answer, and
    /// [`Candidates`](Reason::Candidates).
    Adopt(ConsignmentId),
    /// Gives the entry up; nothing is deleted on the service. Fits every entry that is not at its end and not being sent.
    Discard,
}

/// The name, such as `keep mine`.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Decision {
    fn name(&self) -> &'static str {
        match self {
            Self::KeepMine => "keep mine",
            Self::TakeTheirs => "take theirs",
            Self::Edit(_) => "edit",
            Self::Resend => "resend",
            Self::Adopt(_) => "adopt",
            Self::Discard => "discard",
        }
    }
}

/// Hides what was written.
impl fmt::Debug for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Outbox {
    /// Decides what becomes of an entry; [`Entry::decisions`] lists what fits. Entries that were written on top of one that is given up need a decision as well.
    ///
    /// One entry each, with the decision that ends it:
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
    /// use envd_sync::outbox::{Decision, EntryState, Reason};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let website = account.clone();
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// // Changed on the website since it was edited here.
    /// # let id = account.save_consignment(input()).await?.value.id.ok_or("no id")?;
    /// let base = account.consignment(id.clone()).await?.value;
    /// let moved = |day| ConsignmentInput::from(&base).movement(day, "05:15").id(id.clone());
    /// let mine = outbox.update(&base, moved("2099-01-15")).await?;
    /// let (_, problems) = website.save_consignment(moved("2099-01-20")).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.send().await?;
    /// assert_eq!(outbox.entry(mine.id).await?.and_then(|entry| entry.reason), Some(Reason::Conflict));
    /// outbox.decide(mine.id, Decision::KeepMine).await?;
    /// outbox.send().await?;
    ///
    /// // The same again, with the other answer.
    /// let mine = outbox.update(&base, moved("2099-01-16")).await?;
    /// outbox.send().await?;
    /// let entry = outbox.decide(mine.id, Decision::TakeTheirs).await?;
    /// assert_eq!(entry.state, EntryState::Discarded);
    ///
    /// // Refused: corrected, and sent again.
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("002", "a movement date is required");
    /// let refused = outbox.save(input()).await?;
    /// outbox.send().await?;
    /// let corrected = input().movement("2099-01-15", "05:15");
    /// outbox.decide(refused.id, Decision::Edit(Box::new(corrected.into()))).await?;
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("003", "the service is being moved");
    /// outbox.send().await?;
    ///
    /// // Refused for a reason that has passed.
    /// outbox.decide(refused.id, Decision::Resend).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    ///
    /// // Not wanted any more.
    /// let unwanted = outbox.save(input()).await?;
    /// outbox.decide(unwanted.id, Decision::Discard).await?;
    ///
    /// // The reply was lost, and somebody has made the same declaration on the website: a person says
    /// // which is which.
    /// # let twin = || input().movement("2099-02-01", "05:15");
    /// # let edit = envd_sdk::fake::WebsiteEdit::insert(twin());
    /// # fake.edit_before_list(fake.account_id(), 2, edit);
    /// # fake.on_operation("CreateOrSaveConsignment").fault(envd_sdk::fake::Fault::dropped_after());
    /// let lost = outbox.save(twin()).await?;
    /// outbox.send().await?;
    /// let lost = outbox.entry(lost.id).await?.ok_or("no entry")?;
    /// assert_eq!(lost.candidates.len(), 2);
    /// let entry = outbox.decide(lost.id, Decision::Adopt(lost.candidates[1].clone())).await?;
    /// assert_eq!(entry.state, EntryState::Confirmed);
    /// # assert!(outbox.entries().await?.is_empty());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such entry, or it is at its end, or the decision does not fit its state:
    /// the error says which state that is; [`Error::Store`](crate::Error::Store) when the store fails; of
    /// [`Adopt`](Decision::Adopt), which reads the record, also as [`Account::consignment`](envd_sdk::Account::consignment).
    /// Nothing is changed then. Without reception the record is read by the next send, and the entry waits for that.
    pub async fn decide(&self, entry: EntryId, decision: Decision) -> Result<Entry> {
        if let Decision::Edit(input) = decision {
            return self.edit(entry, *input).await;
        }
        let is_checked = match &decision {
            Decision::Adopt(id) => self.check_adoption(entry, id).await?,
            _ => true,
        };
        let change = self.change(|draft| {
            let stored = draft.get(entry.0).cloned();
            let stored = stored.ok_or_else(|| {
                Error::usage(format!(
                    "entry {entry} does not wait: there is nothing to decide"
                ))
            })?;
            let before = stored.builds_on();
            let is_base_waiting = before.is_some_and(|id| draft.get(id).is_some());
            if !stored.fits(&decision, is_base_waiting) {
                return Err(unfit(&stored, &decision));
            }
            if matches!(decision, Decision::KeepMine | Decision::Resend) {
                draft.accept_theirs(&stored);
                if stored.standing().reason == Some(Reason::Gone) {
                    draft.make_anew(&stored);
                }
            }
            draft.append(stored.id, event_of(&decision, &stored, is_checked));
            Ok(())
        });
        change.await?;
        self.written(entry.0).await
    }

    /// The record belongs to no other entry, and is there; `false`: the service cannot be asked now.
    async fn check_adoption(&self, entry: EntryId, id: &ConsignmentId) -> Result<bool> {
        if let Some(other) = self.store().last_save(id).await? {
            return Err(Error::usage(format!(
                "the record belongs to entry {other}: it is not what entry {entry} sent"
            )));
        }
        let read = self.account().consignment(id.clone()).received();
        let read = read.optional().retry(RetryPolicy::none());
        match RecordRead::of(read.await).unlisted() {
            RecordRead::Found(_) => Ok(true),
            RecordRead::Gone(_) => Err(Error::usage(format!(
                "the service does not show that record: entry {entry} cannot adopt it"
            ))),
            RecordRead::Unclear(error) if is_answer(&error) => Err(error.into()),
            RecordRead::Unclear(_) => Ok(false),
        }
    }
}

impl Stored {
    /// Whether a person may decide so about it. `is_base_waiting`: whether the entry that it builds on is not at its end.
    fn fits(&self, decision: &Decision, is_base_waiting: bool) -> bool {
        use Reason::{Candidates, Conflict, EarlierGivenUp, Forbidden, Gone, MovementPassed};
        use Reason::{NoUsableAnswer, NotADraft};
        let standing = self.standing();
        let asks_for = standing
            .reason
            .filter(|_| standing.state == EntryState::NeedsAttention);
        let is_save = self.kind == EntryKind::Save;
        match (decision, asks_for) {
            (Decision::Discard, _) => standing.state != EntryState::Sending,
            (Decision::Edit(_), _) => self.is_editable(),
            (Decision::Adopt(_), _) => {
                let may_be_there = standing.is_in_doubt() || asks_for == Some(Candidates);
                self.creates() && may_be_there && standing.state != EntryState::Sending
            }
            (Decision::Resend | Decision::KeepMine, Some(Gone)) => is_save,
            (Decision::Resend, _) => {
                let by_reason = matches!(asks_for, Some(Candidates | Forbidden | NoUsableAnswer));
                by_reason
                    || matches!(
                        standing.state,
                        EntryState::Refused | EntryState::Unconfirmed
                    )
            }
            // What it is about is there, or will be.
            (Decision::KeepMine, Some(EarlierGivenUp)) => {
                is_base_waiting || self.builds_on().is_none()
            }
            (Decision::KeepMine, Some(Conflict | NotADraft | MovementPassed))
            | (Decision::TakeTheirs, Some(Conflict | NotADraft | Gone | EarlierGivenUp)) => true,
            (Decision::KeepMine | Decision::TakeTheirs, _) => false,
        }
    }

    /// What a person can decide about it now.
    pub(super) fn decisions(&self, is_base_waiting: bool) -> Vec<Decision> {
        if self.state().is_final() {
            return Vec::new();
        }
        let candidates = self.standing().candidates;
        let text = self.input.as_ref().filter(|_| self.is_editable());
        let edit = text.map(|text| Box::new(text.with_extra()));
        let all = [Decision::KeepMine, Decision::TakeTheirs].into_iter();
        let all = all
            .chain(edit.map(Decision::Edit))
            .chain([Decision::Resend]);
        let all = all.chain(candidates.iter().cloned().map(Decision::Adopt));
        all.chain([Decision::Discard])
            .filter(|decision| self.fits(decision, is_base_waiting))
            .collect()
    }
}

/// What is true of the entry after a decision that fits.
fn event_of(decision: &Decision, stored: &Stored, is_checked: bool) -> Event {
    let standing = stored.standing();
    match decision {
        Decision::KeepMine => Event::Queued {
            not: Vec::new(),
            is_late: standing.reason == Some(Reason::MovementPassed),
        },
        Decision::TakeTheirs => Event::GivenUp {
            reason: Reason::TookTheirs,
        },
        Decision::Resend => Event::Queued {
            not: standing.candidates.to_vec(),
            is_late: false,
        },
        Decision::Adopt(record) if is_checked => Event::Confirmed {
            record: Some(record.clone()),
            is_adopted: true,
            after: None,
        },
        // It is read before the entry is confirmed.
        Decision::Adopt(record) => Event::Chosen {
            record: record.clone(),
        },
        Decision::Discard | Decision::Edit(_) => Event::GivenUp {
            reason: Reason::GivenUp,
        },
    }
}

fn unfit(stored: &Stored, decision: &Decision) -> Error {
    let standing = stored.standing();
    let why = standing.reason.map(|reason| format!(" ({reason})"));
    Error::usage(format!(
        "entry {} is {}{}: \"{}\" does not fit",
        stored.id,
        standing.state,
        why.unwrap_or_default(),
        decision.name()
    ))
}
