//! How an edit changes what waits.

use super::decision::make_anew;
use super::entry::{EntryKind, EntryState, Reason};
use super::input_text::InputText;
use super::journal::Draft;
use super::lane::Lane;
use super::stored::{Base, Stored, Target};
use crate::error::{Error, Result};
use crate::model::Timestamp;

impl Stored {
    /// Whether an edit takes its place: nothing of it is with the service, and no person has signed it.
    pub(super) fn is_replaceable(&self) -> bool {
        let is_input = matches!(self.kind, EntryKind::Save | EntryKind::Submit);
        is_input
            && match self.state {
                EntryState::Queued => {
                    self.kind == EntryKind::Save && !self.is_in_doubt() && !self.is_signed()
                }
                EntryState::Refused => true,
                EntryState::NeedsAttention => self.reason != Some(Reason::Candidates),
                _ => false,
            }
    }

    /// Whether it is a submit that an edit of its record corrects.
    fn waits_for_correction(&self, not_after: Option<&Timestamp>) -> bool {
        let is_outdated = match self.reason {
            Some(Reason::MovementPassed | Reason::FormRetired) => true,
            Some(Reason::NotAfterPassed) => not_after.is_some(),
            _ => false,
        };
        self.kind == EntryKind::Submit
            && match self.state {
                EntryState::Queued | EntryState::Refused => true,
                EntryState::NeedsAttention => is_outdated,
                _ => false,
            }
    }

    /// Takes an edit, and is sent again. A time limit of the edit takes the place of its own.
    fn replace_input(&mut self, text: InputText, not_after: Option<&Timestamp>) {
        if let Some(limit) = not_after {
            self.not_after = Some(limit.clone());
        }
        if let (Some(before), false) = (self.input.replace(text), self.attempts.is_empty()) {
            self.earlier_inputs.push(before);
        }
        self.queue_again();
    }
}

/// Replaces the input of an entry by a later one, and those of later entries that wait: what the user wrote last is what stays.
pub(super) fn replace(
    draft: &mut Draft,
    before: &Stored,
    text: &InputText,
    not_after: Option<&Timestamp>,
) -> Result<()> {
    let is_orphan =
        before.reason == Some(Reason::EarlierGivenUp) && matches!(before.target, Target::Entry(_));
    if is_orphan && before.kind == EntryKind::Submit {
        return Err(Error::config(format!(
            "entry {} submits what was given up: discard it",
            before.id
        )));
    }
    let lane = if is_orphan {
        make_anew(draft, before);
        Lane::Entry(before.id)
    } else {
        before.lane()
    };
    accept_theirs(draft, before);
    let later = draft.live.values().filter(|other| {
        other.order > before.order
            && other.kind == EntryKind::Save
            && other.state == EntryState::Queued
            && other.is_replaceable()
            && other.lane() == lane
    });
    let mut ids: Vec<u64> = later.map(|later| later.id).collect();
    ids.push(before.id);
    for id in ids {
        if let Some(entry) = draft.entry(id) {
            entry.replace_input(text.clone(), not_after);
        }
    }
    if let Some(entry) = draft.entry(before.id).filter(|_| is_orphan) {
        (entry.target, entry.base) = (Target::New, None);
    }
    follow_with_submits(draft, &lane, before.order, text, not_after);
    Ok(())
}

/// Adds a save. It takes the place of one that waits and is not signed, and comes before a submit that waits.
///
/// Two updates of one state of a record are merged by field: the later one wins where both change a field.
pub(super) fn put(draft: &mut Draft, new: Stored) -> Result<u64> {
    let (lane, limit) = (new.lane(), new.not_after.clone());
    let last = draft.last_save(&lane);
    let waiting = last
        .filter(|entry| entry.state == EntryState::Queued && entry.is_replaceable())
        .map(|entry| entry.id);
    let (id, order) = match (waiting.and_then(|id| draft.entry(id)), new) {
        (Some(entry), new) => {
            if let Some(mut text) = new.input {
                if let (Some(Base::Record(base)), Some(earlier)) = (&new.base, &entry.input)
                    && (entry.base.as_ref()).is_some_and(|own| own.is_same(new.base.as_ref()))
                {
                    text = earlier.merged(base, &text)?;
                }
                entry.replace_input(text, limit.as_ref());
            }
            entry.base = new.base.or(entry.base.take());
            (entry.id, entry.order)
        }
        (None, new) => {
            let entry = draft.add(new);
            (entry.id, entry.order)
        }
    };
    if let Some(text) = draft.entry_ref(id).and_then(|entry| entry.input.clone()) {
        follow_with_submits(draft, &lane, order, &text, limit.as_ref());
    }
    Ok(id)
}

/// What is submitted is what the user wrote last, also by a submit that was refused for what was written before.
fn follow_with_submits(
    draft: &mut Draft,
    lane: &Lane,
    order: u64,
    text: &InputText,
    not_after: Option<&Timestamp>,
) {
    let submits = draft.live.values();
    let submits =
        submits.filter(|entry| entry.waits_for_correction(not_after) && entry.lane() == *lane);
    let submits: Vec<u64> = submits.map(|entry| entry.id).collect();
    for id in submits {
        let later = draft.next();
        if let Some(submit) = draft.entry(id) {
            submit.replace_input(text.clone(), not_after);
            if submit.order < order {
                submit.order = later;
            }
        }
    }
}

/// A submit that is to be sent again comes after what was written meanwhile.
pub(super) fn follow_last_save(draft: &mut Draft, submit: u64) {
    let submit = draft.entry_ref(submit);
    let lane = submit.filter(|submit| submit.kind == EntryKind::Submit);
    if let Some(lane) = lane.map(Stored::lane) {
        follow_in_lane(draft, &lane);
    }
}

/// The submits of a lane come after its last save, and submit what that one saves.
pub(super) fn follow_in_lane(draft: &mut Draft, lane: &Lane) {
    let last = draft.last_save(lane);
    if let Some((order, text)) = last.and_then(|last| Some((last.order, last.input.clone()?))) {
        follow_with_submits(draft, lane, order, &text, None);
    }
}

/// A person has seen what the service has: the entry is a change of that from now on, and so is what waits behind it and was
/// made of the same state of the record.
pub(super) fn accept_theirs(draft: &mut Draft, stored: &Stored) {
    let Some(conflict) = &stored.conflict else {
        return;
    };
    let lane = stored.lane();
    let is_same = |other: &Stored| {
        let is_made_of_it =
            (other.base.as_ref()).is_some_and(|base| base.is_same(stored.base.as_ref()));
        other.id == stored.id || other.lane() == lane && !other.is_in_flight() && is_made_of_it
    };
    let same: Vec<u64> = (draft.live.values())
        .filter(|other| is_same(other))
        .map(|other| other.id)
        .collect();
    for id in same {
        if let Some(entry) = draft.entry(id) {
            entry.base = Some(Base::Record(conflict.theirs.clone()));
        }
    }
    if let Some(entry) = draft.entry(stored.id) {
        entry.conflict = None;
    }
}
