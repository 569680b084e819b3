//! Lanes: entries about one record are sent one after another, in the order in which they were written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::entry::{EntryKind, EntryState};
use super::journal::Draft;
use super::stored::{Base, Stored, Target};
use crate::model::{ConsignmentId, ConsignmentNumber};

/// What entries of one lane have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    /// A record of the service.
    Record(ConsignmentId),
    /// Its comments.
    Number(ConsignmentNumber),
    /// A record that an entry will make.
    Entry(u64),
}

impl Stored {
    pub(super) fn lane(&self) -> Lane {
        match &self.target {
            Target::Record(id) => Lane::Record(id.clone()),
            Target::Number(number) => Lane::Number(number.clone()),
            Target::Entry(id) => Lane::Entry(*id),
            Target::New => Lane::Entry(self.id),
        }
    }
}

/// What a pass does next, if time allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Next {
    /// The entry is sent.
    Send(u64),
    /// The service is asked what became of the entry.
    Settle(u64),
}

/// The entries that are first in their lanes and can go on, in order. A creation waits until no other is open, so that two
/// identical loads are never taken for each other.
pub(super) fn next(live: &BTreeMap<u64, Arc<Stored>>) -> Vec<Next> {
    let mut entries: Vec<&Stored> = live.values().map(AsRef::as_ref).collect();
    entries.sort_unstable_by_key(|entry| entry.order);
    // One in doubt keeps the next one waiting also while it waits to be sent again.
    let creating = entries
        .iter()
        .find(|entry| entry.is_open_creation())
        .map(|entry| entry.id);
    let mut first: HashMap<Lane, u64> = HashMap::new();
    let mut next = Vec::new();
    for entry in entries {
        let is_first = *first.entry(entry.lane()).or_insert(entry.id) == entry.id;
        match entry.state {
            // It sends nothing, so it need not wait.
            EntryState::Unconfirmed => next.push(Next::Settle(entry.id)),
            _ if !is_first => {}
            EntryState::Queued if matches!(entry.target, Target::Entry(_)) => {}
            EntryState::Queued
                if entry.creates() && creating.is_some_and(|creating| creating != entry.id) => {}
            EntryState::Queued => next.push(Next::Send(entry.id)),
            _ => {}
        }
    }
    next
}

impl Draft {
    /// A record was made, or found: entries that wait for it know it now, and are changes of what it is now. One that the user
    /// made of another state of the record than the settled entry keeps it: what others changed in between counts.
    pub(super) fn settle_lane(
        &mut self,
        settled: &Stored,
        id: &ConsignmentId,
        base: Option<&Base>,
    ) {
        let before = settled.base.clone().filter(|_| !settled.creates());
        let known = [before, settled.state_after()];
        let waiting: Vec<u64> = self.live.keys().copied().collect();
        for other in waiting.into_iter().filter(|other| *other != settled.id) {
            let Some(entry) = self.entry_ref(other) else {
                continue;
            };
            let follows = match &entry.target {
                Target::Entry(before) => *before == settled.id,
                Target::Record(record) => record == id,
                _ => false,
            };
            if !follows || entry.is_in_flight() {
                continue;
            }
            let Some(entry) = self.entry(other) else {
                continue;
            };
            entry.target = Target::Record(id.clone());
            let is_own = matches!(
                &entry.base,
                Some(own @ Base::Record(_)) if !known.iter().any(|known| own.is_same(known.as_ref()))
            );
            // What was submitted meanwhile, by us too, is deleted only after a question.
            let is_deleted_draft =
                entry.kind == EntryKind::Delete && settled.kind == EntryKind::Submit;
            let may_follow = matches!(entry.state, EntryState::Queued | EntryState::Refused);
            if may_follow && !is_own && !is_deleted_draft {
                entry.base = base.cloned().or(entry.base.take());
            }
        }
    }

    /// The record was read after an entry was carried out, and nobody has edited it since: the next edit is made of it.
    pub(super) fn read_after(&mut self, settled: &Stored, id: &ConsignmentId, after: &Value) {
        self.settle_lane(settled, id, Some(&Base::Record(after.clone())));
        if settled.consignment.as_ref() == Some(id) {
            let past = Stored {
                after: Some(after.clone()),
                number: after["number"].as_str().map(Into::into),
                ..settled.clone()
            };
            self.past.insert(past.id, Some(past));
        }
    }

    /// The save of a lane that is sent last.
    pub(super) fn last_save(&self, lane: &Lane) -> Option<&Stored> {
        let live = self.live.values().map(AsRef::as_ref);
        live.filter(|entry: &&Stored| entry.kind == EntryKind::Save && entry.lane() == *lane)
            .max_by_key(|entry| entry.order)
    }
}
