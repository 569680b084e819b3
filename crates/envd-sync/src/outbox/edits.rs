//! How an edit changes what waits.

use super::entry::{EntryKind, EntryState, Reason};
use super::input_text::InputText;
use super::ordering::OrderingKey;
use super::outbox_store::Draft;
use super::stored::{Base, Event, Stored, Target};
use crate::error::{Error, Result};
use envd_sdk::model::Timestamp;

impl Stored {
    /// Whether an edit takes its place: nothing of it is with the service, and no person has signed it.
    pub(super) fn is_replaceable(&self) -> bool {
        let standing = self.standing();
        let is_save = self.kind == EntryKind::Save;
        match standing.state {
            EntryState::Queued => is_save && !standing.is_in_doubt() && !self.is_signed(),
            EntryState::Refused => is_save || self.kind == EntryKind::Submit,
            EntryState::NeedsAttention => {
                let is_known = standing.reason != Some(Reason::Candidates);
                is_known && (is_save || self.kind == EntryKind::Submit)
            }
            _ => false,
        }
    }

    /// Whether what it changes was given up before it was made.
    fn is_orphan(&self) -> bool {
        let is_left = self.standing().reason == Some(Reason::EarlierGivenUp);
        is_left && self.builds_on().is_some()
    }

    fn is_orphaned_submit(&self) -> bool {
        self.is_orphan() && self.kind == EntryKind::Submit
    }

    pub(super) fn is_editable(&self) -> bool {
        self.is_replaceable() && !self.is_orphaned_submit()
    }

    /// Whether it is a submit that an edit of its record corrects.
    fn waits_for_correction(&self, not_after: Option<&Timestamp>) -> bool {
        let standing = self.standing();
        let is_outdated = match standing.reason {
            Some(Reason::MovementPassed | Reason::FormRetired) => true,
            Some(Reason::NotAfterPassed) => not_after.is_some(),
            _ => false,
        };
        self.kind == EntryKind::Submit
            && match standing.state {
                EntryState::Queued | EntryState::Refused => true,
                EntryState::NeedsAttention => is_outdated,
                _ => false,
            }
    }

    /// Takes an edit, and is sent again. A time limit of the edit takes the place of its own.
    fn replace_input(&mut self, text: InputText, not_after: Option<&Timestamp>, at: &Timestamp) {
        self.not_after = not_after.or(self.not_after.as_ref()).cloned();
        let was_sent = self.standing().attempts > 0;
        self.earlier_inputs
            .extend(self.input.replace(text).filter(|_| was_sent));
        if !self.events.is_empty() {
            self.push(at, Event::queued());
        }
    }
}

/// Replaces the input of an entry by a later one, and those of later entries that wait: what the user wrote last is what stays.
pub(super) fn replace(
    draft: &mut Draft,
    before: &Stored,
    text: &InputText,
    not_after: Option<&Timestamp>,
) -> Result<()> {
    if before.is_orphaned_submit() {
        return Err(Error::usage(format!(
            "entry {} submits what was given up: discard it",
            before.id
        )));
    }
    draft.accept_theirs(before);
    let key = if before.is_orphan() {
        draft.make_anew(before);
        OrderingKey::Entry(before.id)
    } else {
        before.key()
    };
    let at = draft.now.clone();
    let is_replaced = |other: &Stored| {
        let is_later = other.order > before.order && other.state() == EntryState::Queued;
        let is_save = other.kind == EntryKind::Save && other.is_replaceable();
        other.id == before.id || is_later && is_save && other.key() == key
    };
    draft.change_where(is_replaced, |entry| {
        entry.replace_input(text.clone(), not_after, &at);
    });
    draft.submit_text(key, before.order, text, not_after);
    Ok(())
}

/// Adds a save. It takes the place of one that waits and is not signed, and comes before a submit that waits.
///
/// Two updates of one state of a record are merged by field: the later one wins where both change a field.
pub(super) fn put(draft: &mut Draft, new: Stored) -> Result<u64> {
    let (limit, at) = (new.not_after.clone(), draft.now.clone());
    let last = draft.last_save(new.key());
    let waiting =
        last.filter(|entry| entry.state() == EntryState::Queued && entry.is_replaceable());
    let id = match waiting.map(|entry| entry.id).and_then(|id| draft.entry(id)) {
        Some(entry) => {
            if let Some(mut text) = new.input {
                if let (Some(Base::Record(base)), Some(earlier)) = (&new.base, &entry.input)
                    && (entry.base.as_ref()).is_some_and(|own| own.is_same(new.base.as_ref()))
                {
                    text = earlier.merged(base, &text)?;
                }
                entry.replace_input(text, limit.as_ref(), &at);
            }
            entry.base = new.base.or(entry.base.take());
            entry.id
        }
        None => draft.add(new),
    };
    if let Some(entry) = draft.get(id).cloned()
        && let Some(text) = &entry.input
    {
        draft.submit_text(entry.key(), entry.order, text, limit.as_ref());
    }
    Ok(id)
}

impl Draft {
    /// What is submitted is what the user wrote last, also by a submit that was refused for what was written before: submits
    /// come after the save of this text and place in the order.
    fn submit_text(
        &mut self,
        key: OrderingKey<'_>,
        order: u64,
        text: &InputText,
        not_after: Option<&Timestamp>,
    ) {
        let (at, mut last) = (self.now.clone(), self.head.last);
        let is_submit =
            |entry: &Stored| entry.waits_for_correction(not_after) && entry.key() == key;
        self.change_where(is_submit, |submit| {
            submit.replace_input(text.clone(), not_after, &at);
            if submit.order < order {
                last += 1;
                submit.order = last;
            }
        });
        self.head.last = last;
    }

    /// The submits of a record come after its last save, and submit what that one saves.
    pub(super) fn follow_with_submits(&mut self, key: OrderingKey<'_>) {
        let last = self.last_save(key);
        if let Some((order, text)) = last.and_then(|last| Some((last.order, last.input.clone()?))) {
            self.submit_text(key, order, &text, None);
        }
    }

    /// A person has seen what the service has: the entry is a change of that from now on, and so is what waits behind it and was
    /// made of the same state of the record.
    pub(super) fn accept_theirs(&mut self, entry: &Stored) {
        let Some(conflict) = entry.standing().conflict else {
            return;
        };
        let is_of_it = |other: &Stored| {
            let base = other.base.as_ref();
            let is_same = base.is_some_and(|base| base.is_same(entry.base.as_ref()));
            let may_change = other.key() == entry.key() && !other.standing().is_in_flight();
            other.id == entry.id || may_change && is_same
        };
        self.change_where(is_of_it, |other| {
            other.base = Some(Base::Record(conflict.theirs.clone()));
        });
    }

    /// The record of an entry is gone and made anew: what waits behind the entry is about the new one.
    pub(super) fn make_anew(&mut self, entry: &Stored) {
        let is_behind = |other: &Stored| {
            let may_change = !other.standing().is_in_flight();
            other.id != entry.id && other.key() == entry.key() && may_change
        };
        self.change_where(is_behind, |other| {
            (other.target, other.base) = (Target::Entry(entry.id), None);
        });
        if let Some(entry) = self.entry(entry.id) {
            (entry.target, entry.base) = (Target::New, None);
        }
    }
}
