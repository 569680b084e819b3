//! What only a person can decide.

use std::fmt;

use super::account_outbox::Outbox;
use super::compare::is_absent;
use super::edits::{accept_theirs, follow_in_lane, follow_last_save};
use super::entry::{Entry, EntryId, EntryKind, EntryState, Reason};
use super::journal::Draft;
use super::lane::Lane;
use super::pass::is_entry_failure;
use super::stored::{Base, Stored, Target, Watch};
use crate::error::{Error, Result};
use crate::model::{ConsignmentId, ConsignmentInput, ConsignmentStatus, Timestamp, WithExtra};
use crate::transport::RetryPolicy;

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
    /// Sends this in place of what was written: [`Outbox::edit`].
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
    /// Decides what becomes of an entry. Entries that were written on top of one that is given up need a decision as well.
    ///
    /// One entry each, with the decision that ends it:
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
    /// use envd_sdk::sync::outbox::{Decision, EntryState, Reason};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = account.outbox(envd_sdk::sync::store::MemorySync::new());
    /// # let website = account.clone();
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// // Changed on the website since it was edited here.
    /// # let id = account.save_consignment(input()).await?.value.id.ok_or("no id")?;
    /// let base = account.consignment(id.clone()).await?.value;
    /// let moved = |day| ConsignmentInput::from(&base).movement(day, "05:15").id(id.clone());
    /// let mine = outbox.update(&base, moved("2099-01-15")).await?;
    /// website.save_consignment(moved("2099-01-20")).await?;
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
    /// // The reply was lost, and somebody has made the same declaration on the website: a person says which is which.
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
    /// [`is_config`](Error::is_config) when there is no such entry, or it is at its end, or the decision does not fit its state:
    /// the error says which state that is; [`is_store`](Error::is_store) when the store fails; of
    /// [`Adopt`](Decision::Adopt), which reads the record, also as [`Account::consignment`](crate::Account::consignment).
    /// Nothing is changed then. Without reception the record is read by the next send, and the entry waits for that.
    pub async fn decide(&self, entry: EntryId, decision: Decision) -> Result<Entry> {
        if let Decision::Edit(input) = decision {
            return self.edit(entry, *input).await;
        }
        let is_checked = match &decision {
            Decision::Adopt(id) => self.check_adoption(entry, id).await?,
            _ => true,
        };
        let watch_until = self.watch_until();
        let change = self.journal().change(|draft| {
            let stored = draft.entry_ref(entry.0).cloned();
            let stored = stored.ok_or_else(|| {
                Error::config(format!(
                    "entry {entry} does not wait: there is nothing to decide"
                ))
            })?;
            match &decision {
                Decision::KeepMine => keep_mine(draft, &stored),
                Decision::TakeTheirs => take_theirs(draft, &stored),
                Decision::Resend => resend(draft, &stored),
                Decision::Adopt(id) if !is_checked => choose(draft, &stored, id),
                Decision::Adopt(id) => adopt(draft, &stored, id, &watch_until),
                Decision::Discard | Decision::Edit(_) => discard(draft, &stored, &watch_until),
            }
        });
        change.await?;
        self.written(entry.0).await
    }

    /// The record belongs to no other entry, and is there; `false`: the service cannot be asked now.
    async fn check_adoption(&self, entry: EntryId, id: &ConsignmentId) -> Result<bool> {
        if let Some(other) = self.journal().last_save(id).await? {
            return Err(Error::config(format!(
                "the record belongs to entry {other}: it is not what entry {entry} sent"
            )));
        }
        let read = self.account().consignment(id.clone());
        let is_there = match read.retry(RetryPolicy::none()).await {
            Ok(record) => record.value.status != Some(ConsignmentStatus::Deleted),
            Err(error) if is_absent(&error) => false,
            Err(error) if is_entry_failure(&error) => return Err(error),
            Err(_) => return Ok(false),
        };
        if is_there {
            return Ok(true);
        }
        Err(Error::config(format!(
            "the service does not show that record: entry {entry} cannot adopt it"
        )))
    }

    /// Until when records of an entry that ends now are looked for.
    pub(super) fn watch_until(&self) -> Timestamp {
        let now = self.now();
        let until = now.checked_add(self.settings.stray_watch);
        until.unwrap_or(now).into()
    }
}

fn unfit(stored: &Stored, decision: &str) -> Error {
    let why = stored.reason.map(|reason| format!(" ({reason})"));
    Error::config(format!(
        "entry {} is {}{}: \"{decision}\" does not fit",
        stored.id,
        stored.state,
        why.unwrap_or_default()
    ))
}

fn change<'a>(draft: &'a mut Draft, stored: &Stored) -> Result<&'a mut Stored> {
    // OK because the caller has found the entry in this draft.
    draft
        .entry(stored.id)
        .ok_or_else(|| unfit(stored, "a decision"))
}

fn keep_mine(draft: &mut Draft, stored: &Stored) -> Result<()> {
    let fits = stored.state == EntryState::NeedsAttention;
    match stored.reason {
        Some(Reason::Conflict | Reason::NotADraft) if fits => {
            accept_theirs(draft, stored);
        }
        Some(Reason::Gone) if fits && stored.kind == EntryKind::Save => {
            let entry = change(draft, stored)?;
            entry.target = Target::New;
            entry.base = None;
            make_anew(draft, stored);
        }
        Some(Reason::MovementPassed) if fits => {
            change(draft, stored)?.is_late_accepted = true;
        }
        Some(Reason::EarlierGivenUp) if fits && follows_something(draft, stored) => {}
        _ => return Err(unfit(stored, "keep mine")),
    }
    change(draft, stored)?.queue_again();
    follow_last_save(draft, stored.id);
    Ok(())
}

/// Whether what the entry is about is there, or will be.
fn follows_something(draft: &Draft, stored: &Stored) -> bool {
    match &stored.target {
        Target::Entry(before) => draft.live.contains_key(before),
        _ => true,
    }
}

/// The record is gone and made anew: what waits behind the entry is about the new one.
pub(super) fn make_anew(draft: &mut Draft, stored: &Stored) {
    let lane = stored.lane();
    let behind = draft
        .live
        .values()
        .filter(|other| other.id != stored.id && other.lane() == lane);
    let behind: Vec<u64> = behind.map(|other| other.id).collect();
    for id in behind {
        if let Some(other) = draft.entry(id).filter(|other| !other.is_in_flight()) {
            (other.target, other.base) = (Target::Entry(stored.id), None);
        }
    }
}

fn take_theirs(draft: &mut Draft, stored: &Stored) -> Result<()> {
    let fits = matches!(
        stored.reason,
        Some(Reason::Conflict | Reason::NotADraft | Reason::Gone | Reason::EarlierGivenUp)
    );
    if stored.state != EntryState::NeedsAttention || !fits {
        return Err(unfit(stored, "take theirs"));
    }
    give_up(draft, stored, Reason::TookTheirs)
}

fn resend(draft: &mut Draft, stored: &Stored) -> Result<()> {
    let fits = match stored.state {
        EntryState::Refused | EntryState::Unconfirmed => true,
        EntryState::NeedsAttention => matches!(
            stored.reason,
            Some(Reason::Candidates | Reason::Forbidden | Reason::Gone | Reason::NoUsableAnswer)
        ),
        _ => false,
    };
    if !fits {
        return Err(unfit(stored, "resend"));
    }
    if stored.reason == Some(Reason::Gone) {
        return keep_mine(draft, stored);
    }
    let entry = change(draft, stored)?;
    let ruled_out = entry.candidates.iter().map(ToString::to_string);
    entry.known.extend(ruled_out);
    entry.queue_again();
    follow_last_save(draft, stored.id);
    Ok(())
}

fn adopt(draft: &mut Draft, stored: &Stored, id: &ConsignmentId, until: &Timestamp) -> Result<()> {
    if !may_adopt(stored) {
        return Err(unfit(stored, "adopt"));
    }
    let entry = change(draft, stored)?;
    entry.candidates.clear();
    entry.is_adopted = true;
    confirm(draft, stored.id, Some(id), until)
}

/// The record is read before the entry is confirmed.
fn choose(draft: &mut Draft, stored: &Stored, id: &ConsignmentId) -> Result<()> {
    if !may_adopt(stored) {
        return Err(unfit(stored, "adopt"));
    }
    let entry = change(draft, stored)?;
    entry.candidates.clear();
    entry.chosen = Some(id.clone());
    entry.state = EntryState::Unconfirmed;
    entry.reason = Some(Reason::NoClearAnswer);
    entry.next_at = None;
    Ok(())
}

fn may_adopt(stored: &Stored) -> bool {
    let may_be_there = stored.is_in_doubt() || stored.reason == Some(Reason::Candidates);
    stored.creates() && may_be_there && stored.state != EntryState::Sending
}

fn discard(draft: &mut Draft, stored: &Stored, until: &Timestamp) -> Result<()> {
    if stored.state == EntryState::Sending {
        return Err(unfit(stored, "discard"));
    }
    watch(draft, stored, until);
    give_up(draft, stored, Reason::GivenUp)
}

fn give_up(draft: &mut Draft, stored: &Stored, reason: Reason) -> Result<()> {
    let lane = stored.lane();
    let entry = change(draft, stored)?;
    entry.state = EntryState::Discarded;
    entry.reason = Some(reason);
    entry.next_at = None;
    let behind: Vec<u64> = draft
        .live
        .values()
        .filter(|other| other.order > stored.order && other.lane() == lane)
        .filter(|other| other.state == EntryState::Queued)
        .map(|other| other.id)
        .collect();
    for id in behind {
        if let Some(other) = draft.entry(id) {
            // It is an edit of the same state of the record: what others changed since counts for it, too.
            other.base = other.base.take().or_else(|| stored.base.clone());
            other.needs_attention(Reason::EarlierGivenUp);
        }
    }
    Ok(())
}

/// The entry is carried out: it is at its end, and those behind it go on, about its record.
pub(super) fn confirm(
    draft: &mut Draft,
    id: u64,
    record: Option<&ConsignmentId>,
    watch_until: &Timestamp,
) -> Result<()> {
    let Some(stored) = draft.entry_ref(id).cloned() else {
        return Ok(());
    };
    let entry = change(draft, &stored)?;
    entry.state = EntryState::Confirmed;
    entry.reason = None;
    entry.next_at = None;
    entry.conflict = None;
    entry.candidates.clear();
    entry.consignment = record.cloned();
    let entry = entry.clone();
    watch(draft, &entry, watch_until);
    if let Some(record) = record {
        // A record that was made anew has another name.
        let after = entry.after.clone().map(Base::Record);
        let base = after.or_else(|| entry.state_after());
        draft.settle_lane(&entry, record, base.as_ref());
        if entry.creates() {
            // The user may have written about the record before it was known whose it is.
            follow_in_lane(draft, &Lane::Record(record.clone()));
        }
    }
    Ok(())
}

/// A request that was given up may still arrive.
fn watch(draft: &mut Draft, stored: &Stored, until: &Timestamp) {
    let Some(baseline) = stored.baseline.filter(|_| stored.is_in_doubt()) else {
        return;
    };
    draft.head.watches.push(Watch {
        entry: stored.id,
        baseline,
        until: until.clone(),
    });
}
