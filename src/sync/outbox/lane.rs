//! Lanes: entries about one record are sent one after another, in the order in which they were written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::entry::EntryState;
use super::stored::{Stored, Target};
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
    let is_creating = entries
        .iter()
        .any(|entry| entry.creates() && entry.is_in_flight());
    let mut first: HashMap<Lane, u64> = HashMap::new();
    let mut next = Vec::new();
    for entry in entries {
        let is_first = *first.entry(entry.lane()).or_insert(entry.id) == entry.id;
        match entry.state {
            // It sends nothing, so it need not wait.
            EntryState::Unconfirmed => next.push(Next::Settle(entry.id)),
            _ if !is_first => {}
            EntryState::Queued if matches!(entry.target, Target::Entry(_)) => {}
            EntryState::Queued if entry.creates() && is_creating => {}
            EntryState::Queued => next.push(Next::Send(entry.id)),
            _ => {}
        }
    }
    next
}
