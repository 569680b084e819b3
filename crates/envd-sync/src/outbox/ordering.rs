//! Entries about one record are sent one after another, in the order in which they were written: which is next, and what the
//! end of one means for those behind it.

use std::collections::HashMap;

use serde_json::Value;

use super::entry::{EntryKind, EntryState, Reason};
use super::outbox_store::Draft;
use super::stored::{Base, Event, Happened, Stored, Target, Watch};
use envd_sdk::model::{ConsignmentId, ConsignmentNumber};

/// What entries that are sent one after another have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum OrderingKey<'a> {
    /// A record of the service.
    Record(&'a ConsignmentId),
    /// Its comments.
    Number(&'a ConsignmentNumber),
    /// A record that an entry will make.
    Entry(u64),
}

impl Stored {
    pub(super) fn key(&self) -> OrderingKey<'_> {
        match &self.target {
            Target::Record(id) => OrderingKey::Record(id),
            Target::Number(number) => OrderingKey::Number(number),
            Target::Entry(id) => OrderingKey::Entry(*id),
            Target::New => OrderingKey::Entry(self.id),
        }
    }
}

/// Whose turn it is among all entries.
pub(super) struct Turns<'a> {
    /// The earliest entry about each record.
    first: HashMap<OrderingKey<'a>, u64>,
    /// The earliest creation that is open.
    open: Option<u64>,
}

impl<'a> Turns<'a> {
    pub(super) fn of(entries: impl IntoIterator<Item = &'a Stored>) -> Self {
        let (mut first, mut open) = (HashMap::new(), None);
        for entry in entries {
            let earliest = first.entry(entry.key()).or_insert(entry.order);
            *earliest = entry.order.min(*earliest);
            if entry.is_open_creation() {
                open = Some(open.map_or(entry.order, |other| entry.order.min(other)));
            }
        }
        Self { first, open }
    }

    /// Whether one of them need not wait for others. A creation waits until no other is open, so that two identical loads are
    /// never taken for each other.
    pub(super) fn is_next(&self, entry: &Stored) -> bool {
        let is_made = entry.builds_on().is_none();
        let is_first = self.first.get(&entry.key()) == Some(&entry.order);
        let is_open = entry.is_open_creation();
        let is_in_the_way = |other: u64| !is_open || other < entry.order;
        is_made && is_first && !(entry.creates() && self.open.is_some_and(is_in_the_way))
    }
}

/// Whether one entry need not wait for others.
pub(super) fn is_next<'a>(entries: impl IntoIterator<Item = &'a Stored>, entry: &Stored) -> bool {
    let matters = |other: &&Stored| other.key() == entry.key() || other.is_open_creation();
    Turns::of(entries.into_iter().filter(matters)).is_next(entry)
}

impl Draft {
    /// Adds an event to an entry, with what it means for the entries behind it.
    pub(super) fn append(&mut self, id: u64, event: Event) {
        let at = self.now.clone();
        let Some(entry) = self.entry(id) else {
            return;
        };
        let is_end = matches!(event, Event::Confirmed { .. } | Event::GivenUp { .. });
        let is_unclear = |event: &Event| matches!(event, Event::Unclear { .. });
        let is_again = |last: &Happened| is_unclear(&last.event) && is_unclear(&event);
        entry.events.pop_if(|last| is_again(last));
        entry.push(&at, event);
        if !is_end && entry.kind != EntryKind::Submit {
            return;
        }
        let entry = entry.clone();
        let standing = entry.standing();
        match standing.state {
            EntryState::Queued => self.follow_with_submits(entry.key()),
            EntryState::Confirmed => {
                self.watch(&entry);
                if let Some(record) = standing.record {
                    // A record that was made anew has another name.
                    let after = standing.after.cloned().map(Base::Record);
                    let base = after.or_else(|| entry.state_after());
                    self.follow(&entry, record, base.as_ref());
                    if entry.creates() {
                        // The user may have written about the record before it was known whose it is.
                        self.follow_with_submits(OrderingKey::Record(record));
                    }
                }
            }
            EntryState::Discarded => {
                self.watch(&entry);
                self.leave_alone(&entry);
            }
            _ => {}
        }
    }

    /// A request that was given up may still arrive.
    fn watch(&mut self, entry: &Stored) {
        let standing = entry.standing();
        let baseline = standing.baseline.filter(|_| standing.is_in_doubt());
        self.head.watches.extend(baseline.map(|baseline| Watch {
            entry: entry.id,
            baseline,
            since: self.now.clone(),
        }));
    }

    /// A record was made, or found: entries that wait for it know it now, and are changes of what it is now. One that the user
    /// made of another state of the record than the settled entry keeps it: what others changed in between counts.
    fn follow(&mut self, settled: &Stored, id: &ConsignmentId, base: Option<&Base>) {
        let before = settled.base.clone().filter(|_| !settled.creates());
        let known = [before, settled.state_after()];
        let follows = |other: &Stored| {
            let is_behind = match &other.target {
                Target::Entry(before) => *before == settled.id,
                Target::Record(record) => record == id,
                _ => false,
            };
            other.id != settled.id && is_behind && !other.standing().is_in_flight()
        };
        self.change_where(follows, |entry| {
            entry.target = Target::Record(id.clone());
            let is_own = matches!(
                &entry.base,
                Some(own @ Base::Record(_)) if !known.iter().any(|known| own.is_same(known.as_ref()))
            );
            // What was submitted meanwhile, by us too, is deleted only after a question.
            let is_deleted_draft =
                entry.kind == EntryKind::Delete && settled.kind == EntryKind::Submit;
            let may_follow = matches!(entry.state(), EntryState::Queued | EntryState::Refused);
            if may_follow && !is_own && !is_deleted_draft {
                entry.base = base.cloned().or(entry.base.take());
            }
        });
    }

    /// The entry was given up, so those behind it need a decision as well.
    fn leave_alone(&mut self, entry: &Stored) {
        let is_behind = |other: &Stored| {
            let waits = other.state() == EntryState::Queued;
            other.order > entry.order && other.key() == entry.key() && waits
        };
        let at = self.now.clone();
        self.change_where(is_behind, |other| {
            // It is an edit of the same state of the record: what others changed since counts for it, too.
            other.base = other.base.take().or_else(|| entry.base.clone());
            other.push(&at, Event::asked(Reason::EarlierGivenUp));
        });
    }

    /// The record was read after an entry was carried out, and nobody has edited it since: the next edit is made of it.
    pub(super) fn read_back(&mut self, settled: &Stored, id: &ConsignmentId, after: &Value) {
        self.follow(settled, id, Some(&Base::Record(after.clone())));
        if settled.standing().record == Some(id) {
            let mut past = settled.clone();
            past.number = after["number"].as_str().map(Into::into);
            let after = after.clone();
            past.push(&self.now, Event::ReadBack { after });
            self.past.insert(past.id, Some(past));
        }
    }

    /// Adds late duplicates to an entry of the history, and returns how many are new.
    pub(super) fn report_duplicates(&mut self, mut past: Stored, found: &[ConsignmentId]) -> u64 {
        let mut records = found.to_vec();
        records.retain(|id| !past.late_duplicates().any(|told| told == id));
        let new = records.len() as u64;
        if new > 0 {
            past.push(&self.now, Event::LateDuplicates { records });
            self.past.insert(past.id, Some(past));
        }
        new
    }

    /// The save of a record that is sent last.
    pub(super) fn last_save(&self, key: OrderingKey<'_>) -> Option<&Stored> {
        let saves = self.entries();
        saves
            .filter(|entry| entry.kind == EntryKind::Save && entry.key() == key)
            .max_by_key(|entry| entry.order)
    }
}
