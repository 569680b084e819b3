//! What only a person can decide.

use std::fmt;

use super::account_outbox::Outbox;
use super::entry::{Entry, EntryId, EntryKind, EntryState, Reason};
use super::journal::Draft;
use super::stored::{Base, Stored, Target, Watch};
use crate::error::{Error, Result};
use crate::model::{ConsignmentId, ConsignmentInput, Timestamp, WithExtra};

/// What becomes of an entry, from a person. It holds for what was there when it was made: if the record changes again, the
/// entry needs another decision.
#[derive(Clone)]
#[non_exhaustive]
pub enum Decision {
    /// Sends what was written here, over what the service has now. A record that is gone is made anew.
    KeepMine,
    /// Keeps what the service has; the entry is given up.
    TakeTheirs,
    /// Sends this instead.
    Edit(Box<WithExtra<ConsignmentInput>>),
    /// Sends the entry again: none of the [candidates](Entry::candidates) is it.
    Resend,
    /// This record is what was sent.
    Adopt(ConsignmentId),
    /// Gives the entry up. What may have arrived stays with the service.
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
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when there is no such entry, or the decision does not fit its state: the error says
    /// which state that is; [`is_store`](Error::is_store).
    pub async fn decide(&self, entry: EntryId, decision: Decision) -> Result<Entry> {
        if let Decision::Edit(input) = decision {
            return self.edit(entry, *input).await;
        }
        let watch_until = self.now().checked_add(self.settings.stray_watch);
        let watch_until: Timestamp = watch_until.unwrap_or_else(|| self.now()).into();
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
                Decision::Adopt(id) => adopt(draft, &stored, id, &watch_until),
                Decision::Discard | Decision::Edit(_) => discard(draft, &stored, &watch_until),
            }
        });
        change.await?;
        self.shared.written.notify_one();
        let entry_after = self.entry(entry).await?;
        entry_after.ok_or_else(|| Error::config(format!("entry {entry} was removed meanwhile")))
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
    let entry = change(draft, stored)?;
    match stored.reason {
        Some(Reason::Conflict | Reason::NotADraft) if fits => {
            if let Some(conflict) = entry.conflict.take() {
                entry.base = Some(Base::Record(conflict.theirs));
            }
        }
        Some(Reason::Gone) if fits && stored.kind == EntryKind::Save => {
            entry.target = Target::New;
            entry.base = None;
            make_anew(draft, stored);
        }
        Some(Reason::MovementPassed) if fits => entry.is_late_accepted = true,
        Some(Reason::EarlierGivenUp) if fits && !matches!(stored.target, Target::Entry(_)) => {}
        _ => return Err(unfit(stored, "keep mine")),
    }
    change(draft, stored)?.queue_again();
    Ok(())
}

/// The record is gone and made anew: what waits behind the entry is about the new one.
fn make_anew(draft: &mut Draft, stored: &Stored) {
    let lane = stored.lane();
    let behind = draft
        .live
        .values()
        .filter(|other| other.id != stored.id && other.lane() == lane);
    let behind: Vec<u64> = behind.map(|other| other.id).collect();
    for id in behind {
        if let Some(other) = draft.entry(id).filter(|other| !other.is_in_flight()) {
            other.target = Target::Entry(stored.id);
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
            Some(Reason::Candidates | Reason::Forbidden | Reason::Gone)
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
    Ok(())
}

fn adopt(draft: &mut Draft, stored: &Stored, id: &ConsignmentId, until: &Timestamp) -> Result<()> {
    let fits =
        stored.creates() && !stored.attempts.is_empty() && stored.state != EntryState::Sending;
    if !fits {
        return Err(unfit(stored, "adopt"));
    }
    let entry = change(draft, stored)?;
    entry.candidates.clear();
    entry.is_adopted = true;
    confirm(draft, stored.id, Some(id), until)
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
    entry.consignment = record.cloned();
    let entry = entry.clone();
    watch(draft, &entry, watch_until);
    if let Some(record) = record {
        draft.settle_lane(id, record, entry.input.map(Base::Sent).as_ref());
    }
    Ok(())
}

/// A request that was given up may still arrive.
fn watch(draft: &mut Draft, stored: &Stored, until: &Timestamp) {
    let Some(baseline) = stored.baseline.filter(|_| stored.may_still_arrive()) else {
        return;
    };
    draft.head.watches.push(Watch {
        entry: stored.id,
        baseline,
        until: until.clone(),
    });
}
