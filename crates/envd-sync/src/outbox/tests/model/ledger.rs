//! Records the programs' work for the invariants: the rows they write, the lists and records they read, and the changes they send. Checks
//! that each change was marked before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use test_support::plain_service::Service;

use super::invariants::{Commit, Flight, Invariants};
use super::note;
use super::service::date;
use crate::outbox::apply::{Intent, RowEvent};
use crate::outbox::row::{ChangeRequest, Limit, Row};

/// The recent work of a process.
#[derive(Default)]
struct Doings {
    /// The marked change that is sent next, and its limit.
    mark: Option<(Flight, Option<Limit>)>,
    /// The version of each record that it has read since its last change.
    reads: HashMap<String, usize>,
    /// The number of the list that it is reading, and the last event before that list.
    scan: Option<(u64, u64)>,
}

pub(super) struct Ledger {
    pub(super) invariants: Invariants,
    /// The user's current call, until it is written.
    pub(super) act: Option<RowEvent>,
    /// The rows that the user knows, because the calls that wrote them returned.
    pub(super) acknowledged: BTreeSet<u64>,
    pub(super) settle: u64,
    /// Whether new records may be missing from lists at first.
    pub(super) has_lag: bool,
    /// The sum of all clock changes of the processes, in seconds.
    pub(super) skew: u64,
    doings: HashMap<usize, Doings>,
    /// When a row last sent a creation. Removed when an answer or the user says that it is not under way.
    departed: BTreeMap<u64, u64>,
}

impl Ledger {
    pub(super) fn new(settle: u64) -> Self {
        Self {
            invariants: Invariants::new(date),
            act: None,
            acknowledged: BTreeSet::new(),
            settle,
            has_lag: false,
            skew: 0,
            doings: HashMap::new(),
            departed: BTreeMap::new(),
        }
    }

    pub(super) fn lists(&mut self, process: usize, event: u64) {
        let begun = self.invariants.list_begins();
        self.doings.entry(process).or_default().scan = Some((begun, event));
    }

    pub(super) fn listed(&mut self, process: usize) {
        if let Some((begun, event)) = self.doings.entry(process).or_default().scan.take() {
            self.invariants.listed(0, begun, event);
        }
    }

    pub(super) fn reads(&mut self, process: usize, id: &str, versions: usize) {
        let reads = &mut self.doings.entry(process).or_default().reads;
        reads.insert(id.to_owned(), versions);
    }

    /// The rows that the user knows.
    pub(super) fn known(&self) -> Vec<&Row> {
        let ids = self.acknowledged.iter();
        ids.filter_map(|id| self.invariants.rows.get(&(0, *id)))
            .collect()
    }

    /// Records that a row was written while the replica listed these records.
    pub(super) fn written(
        &mut self,
        process: usize,
        row: &Row,
        copy: BTreeSet<String>,
        service: &Service,
    ) {
        let id = row.id;
        let last = row.history.last();
        let last = last.map_or("", |last| last.event.as_str());
        if self.invariants.rows.get(&(0, id)) == Some(row) {
            return;
        }
        note(|| format!("{process} writes {last}: {row:?}"));
        assert!(!self.invariants.pruned.contains(&id), "{row:?} was pruned");
        let is_act = matches!(last, "wished" | "decided");
        let mut act = self.act.take_if(|_| is_act);
        if let Some(RowEvent::Requested { intent, base, .. }) = &mut act
            && let (Intent::Delete, Some(base)) = (intent, base)
        {
            // The user saw what the local copy showed.
            base.updated_at = row.seen_at.clone().unwrap_or_default();
        }
        if act.is_some() {
            self.departed.remove(&id);
        }
        let doings = self.doings.entry(process).or_default();
        let read = row.record.as_ref().and_then(|id| doings.reads.get(id));
        let commit = Commit {
            store: 0,
            row,
            act: act.as_ref(),
            copy,
            read: read.copied().unwrap_or(0),
        };
        if let Some(flight) = self.invariants.committed(service, &commit) {
            let is_agreed = |limit: &Limit| row.agreed.late.contains(&limit.at.to_string());
            let limit = row.not_after.clone().filter(|limit| !is_agreed(limit));
            doings.mark = Some((flight, limit));
        }
    }

    /// The records of all rows except this one.
    pub(super) fn records_of_others(&self, row: u64) -> Vec<String> {
        let own = self.invariants.rows[&(0, row)].record.as_ref();
        let others = self
            .invariants
            .rows
            .values()
            .filter(|other| other.id != row);
        let records = others.filter_map(|other| other.record.clone());
        records.filter(|record| own != Some(record)).collect()
    }

    /// Records that the service did not carry out a change, and that its program knows.
    pub(super) fn turned_down(&mut self, row: u64) {
        self.departed.remove(&row);
    }

    /// Checks a change that is sent now.
    pub(super) fn sends(
        &mut self,
        process: usize,
        now: SystemTime,
        operation: &str,
        variables: &Value,
        service: &Service,
    ) -> Flight {
        let doings = self.doings.entry(process).or_default();
        doings.reads.clear();
        let mark = doings.mark.take();
        let (flight, limit) = mark.unwrap_or_else(|| panic!("{operation} is sent without a mark"));
        let row = flight.row;
        let request = &flight.request;
        let until = limit.map(|limit| UNIX_EPOCH + Duration::from_secs(limit.at));
        let is_in_time = until.is_none_or(|until| now <= until);
        assert!(is_in_time, "row {row} is sent after its limit");
        let is_marked = match request {
            ChangeRequest::Delete(id) => {
                operation == "DeleteConsignment" && variables["id"] == **id
            }
            request => {
                let mut sent = flight.body.clone().unwrap_or_default();
                if let Some(id) = request.record() {
                    sent["id"] = id.into();
                }
                operation == "CreateOrSaveConsignment" && variables["input"] == sent
            }
        };
        assert!(
            is_marked,
            "row {row} sends {operation} {variables}: {request:?}"
        );
        if request.record().is_none() {
            let sent = self.departed.insert(row, service.now);
            // Clocks that are far apart void this check.
            let is_settled = |sent: u64| service.now + self.skew >= sent + self.settle;
            assert!(
                self.skew > 1_800 || sent.is_none_or(is_settled),
                "row {row} was sent at {sent:?} and is again at {}",
                service.now
            );
        }
        flight
    }
}
