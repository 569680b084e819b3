//! The records of one kind in one account: found by name, and kept in the order of the list.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::assumptions::{Assumptions, Deleted, ListOrder};
use super::instant;
use super::record_fields::has_form;
use super::record_page::ListFilter;

/// The records of one kind in one account.
///
/// A page of a long list must cost neither a sort nor a look at every record: the order is kept, and the records that match
/// the last filter are kept until a list changes.
#[derive(Default)]
pub(super) struct RecordTable {
    /// Oldest first. A removed record leaves its place empty, so that places stay valid.
    entries: Vec<Entry>,
    /// From id and number to the place.
    names: HashMap<String, usize>,
    /// The places of the listed records, by ascending key.
    order: Vec<usize>,
    /// Changes that lists do not show yet, oldest first.
    waiting: VecDeque<Waiting>,
    /// The number of list requests so far.
    lists: usize,
    matching: Option<(ListFilter, Vec<usize>)>,
}

struct Entry {
    created: DateTime<Utc>,
    record: Option<Arc<Value>>,
    listed: Option<Listed>,
}

/// A change that lists show after this number of list requests.
struct Waiting {
    after: usize,
    place: usize,
    record: Option<Arc<Value>>,
}

/// A record as lists show it, with the values that filters and orders read most.
pub(super) struct Listed {
    pub(super) record: Arc<Value>,
    pub(super) created: DateTime<Utc>,
    pub(super) updated: Option<DateTime<Utc>>,
    pub(super) moved: Option<DateTime<Utc>>,
    pub(super) is_deleted: bool,
    /// Whether it has the form `LPAHRG0`.
    pub(super) is_restricted: bool,
}

impl Listed {
    fn of(record: Arc<Value>, created: DateTime<Utc>) -> Self {
        let date = |name: &str| record[name].as_str().and_then(instant::parse);
        Self {
            created,
            updated: date("updatedAt"),
            moved: date("movementDate"),
            is_deleted: record["status"] == "DELETED",
            is_restricted: has_form(&record, "LPAHRG0"),
            record,
        }
    }
}

impl RecordTable {
    /// All records, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Value>> {
        self.entries
            .iter()
            .filter_map(|entry| entry.record.as_ref())
    }

    /// A record by id or number.
    pub(super) fn find(&self, name: &str) -> Option<&Arc<Value>> {
        self.entries[*self.names.get(name)?].record.as_ref()
    }

    pub(super) fn add(&mut self, record: Value, now: SystemTime, assumptions: &Assumptions) {
        let place = self.entries.len();
        for name in [&record["id"], &record["number"]] {
            if let Some(name) = name.as_str() {
                self.names.entry(name.to_owned()).or_insert(place);
            }
        }
        self.entries.push(Entry {
            created: now.into(),
            record: None,
            listed: None,
        });
        self.set(place, Some(record), assumptions);
    }

    /// Replaces the record with the same id.
    pub(super) fn replace(&mut self, record: Value, assumptions: &Assumptions) {
        if let Some(place) = self.place(&record["id"]) {
            self.set(place, Some(record), assumptions);
        }
    }

    pub(super) fn remove(&mut self, id: &Value, assumptions: &Assumptions) {
        if let Some(place) = self.place(id) {
            self.set(place, None, assumptions);
        }
    }

    /// Counts a list request and applies the changes that it shows first.
    pub(super) fn begin_list(&mut self, assumptions: &Assumptions) {
        while let Some(next) = self.waiting.front()
            && next.after <= self.lists
            && let Some(change) = self.waiting.pop_front()
        {
            self.show(change.place, change.record, assumptions);
        }
        self.lists += 1;
    }

    /// Shows all changes and sorts again, for other assumptions.
    pub(super) fn sort(&mut self, assumptions: &Assumptions) {
        for change in std::mem::take(&mut self.waiting) {
            let listed = change.record.map(|record| {
                let created = self.entries[change.place].created;
                Listed::of(record, created)
            });
            self.entries[change.place].listed = listed;
        }
        let entries = &self.entries;
        self.order = (0..entries.len())
            .filter(|place| entries[*place].listed.is_some())
            .collect();
        self.order
            .sort_unstable_by_key(|place| key(entries, *place, assumptions.order));
        self.matching = None;
    }

    /// The places of the records that match a filter, in the order of the list.
    pub(super) fn matching<'t>(
        &'t mut self,
        filter: ListFilter,
        assumptions: &'t Assumptions,
    ) -> Matching<'t> {
        let is_known = self.matching.as_ref().is_some_and(|(f, _)| *f == filter);
        if !is_known {
            let entries = &self.entries;
            let wanted = |place: &&usize| {
                let listed = entries[**place].listed.as_ref();
                listed.is_some_and(|listed| filter.matches(listed, assumptions))
            };
            let ascending = self.order.iter().filter(wanted).copied();
            let places = if assumptions.order.is_descending() {
                ascending.rev().collect()
            } else {
                ascending.collect()
            };
            self.matching = Some((filter, places));
        }
        Matching {
            table: self,
            places: self.matching.as_ref().map_or(&[], |(_, places)| places),
            assumptions,
        }
    }

    fn place(&self, id: &Value) -> Option<usize> {
        self.names.get(id.as_str()?).copied()
    }

    fn set(&mut self, place: usize, record: Option<Value>, assumptions: &Assumptions) {
        let record = record.map(Arc::new);
        self.entries[place].record.clone_from(&record);
        if assumptions.lag == 0 {
            self.show(place, record, assumptions);
        } else {
            self.waiting.push_back(Waiting {
                after: self.lists + assumptions.lag,
                place,
                record,
            });
        }
    }

    /// Lists show this state of a record from now on.
    fn show(&mut self, place: usize, record: Option<Arc<Value>>, assumptions: &Assumptions) {
        if self.entries[place].listed.is_some() {
            self.order.remove(self.rank(place, assumptions.order));
        }
        let created = self.entries[place].created;
        let listed = record.map(|record| Listed::of(record, created));
        let is_listed = listed.is_some();
        self.entries[place].listed = listed;
        if is_listed {
            self.order
                .insert(self.rank(place, assumptions.order), place);
        }
        self.matching = None;
    }

    /// How many listed records have a lower key.
    fn rank(&self, place: usize, order: ListOrder) -> usize {
        let own = key(&self.entries, place, order);
        self.order
            .partition_point(|other| key(&self.entries, *other, order) < own)
    }
}

/// The records that match a filter.
pub(super) struct Matching<'t> {
    table: &'t RecordTable,
    places: &'t [usize],
    assumptions: &'t Assumptions,
}

impl<'t> Matching<'t> {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The records from this index on.
    pub(super) fn from(&self, start: usize) -> impl Iterator<Item = &'t Arc<Value>> {
        let (places, entries) = (self.places, &self.table.entries);
        let listed = places[start..]
            .iter()
            .filter_map(|place| entries[*place].listed.as_ref());
        listed.map(|listed| &listed.record)
    }

    /// The index after a listed record, which need not match the filter itself.
    pub(super) fn index_after(&self, number: &str) -> Option<usize> {
        let (entries, order) = (&self.table.entries, self.assumptions.order);
        let place = *self.table.names.get(number)?;
        let listed = entries[place].listed.as_ref()?;
        if listed.is_deleted && self.assumptions.deleted == Deleted::Hidden {
            return None;
        }
        let own = key(entries, place, order);
        Some(self.places.partition_point(|other| {
            let other = key(entries, *other, order);
            if order.is_descending() {
                other >= own
            } else {
                other <= own
            }
        }))
    }
}

/// What records are sorted by. Equal dates and numbers are in order of creation.
fn key(entries: &[Entry], place: usize, order: ListOrder) -> (Option<DateTime<Utc>>, &str, usize) {
    let listed = entries[place].listed.as_ref();
    match order {
        ListOrder::NewestFirst | ListOrder::OldestFirst => (None, "", place),
        ListOrder::LatestUpdateFirst | ListOrder::EarliestUpdateFirst => {
            (listed.and_then(|listed| listed.updated), "", place)
        }
        ListOrder::Number => {
            let number = listed.and_then(|listed| listed.record["number"].as_str());
            (None, number.unwrap_or_default(), place)
        }
    }
}
