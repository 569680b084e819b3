//! One page of a walk, and what it means for the copy.

use std::collections::{HashMap, HashSet};

use chrono::TimeDelta;
use serde_json::value::RawValue;

use super::change::ChangeKind;
use super::commit::Draft;
use super::difference::differs_from_summary;
use super::local_record::{Depth, LocalRecord};
use super::sync_report::SyncMode;
use super::sync_state::{Shown, Walk};
use crate::error::json_fault;
use crate::model::{ConsignmentSummary, Position, reply_memory};
use crate::send::pages::Page;
use crate::sync::store::{Row, StoreError};

/// One page as it was received.
#[derive(Debug)]
pub(super) struct ListedPage {
    pub(super) records: Vec<ListedRecord>,
    /// Why other records of the page are left out.
    pub(super) unreadable: Vec<String>,
    /// How many places have no record, and how many errors of the server are beside the records.
    missing: usize,
    pub(super) total: Option<i64>,
    /// Where the next page starts; `None`: this is the last one.
    pub(super) next: Option<Position>,
}

/// One record as a list shows it.
#[derive(Debug)]
pub(super) struct ListedRecord {
    pub(super) id: String,
    pub(super) json: Box<RawValue>,
    pub(super) updated: Option<Shown>,
}

/// What the copy holds of a record.
#[derive(Debug)]
pub(super) struct HeldRecord {
    row: Row,
    pub(super) record: LocalRecord,
}

impl HeldRecord {
    pub(super) fn new(row: Row) -> Result<Self, StoreError> {
        let record = LocalRecord::from_payload(&row.id, &row.payload)?;
        Ok(Self { row, record })
    }
}

impl ListedPage {
    pub(super) fn new(page: Page<Box<RawValue>>) -> Self {
        let missing = page.missing + page.problems.len();
        let (mut records, mut unreadable) = (Vec::with_capacity(page.records.len()), Vec::new());
        for error in page.unreadable {
            unreadable.push(format!("page {}: {error}", page.number));
        }
        for json in page.records {
            match ListedRecord::new(json) {
                Ok(record) => records.push(record),
                Err(reason) => unreadable.push(format!("page {}: {reason}", page.number)),
            }
        }
        Self {
            records,
            unreadable,
            missing,
            total: page.total,
            next: page.next,
        }
    }

    /// What the page changes in the copy. `held` is what the copy holds of its records, `reads` the records that were read once
    /// more, `unmarked` what the walk has listed without a write.
    pub(super) fn apply(
        &self,
        draft: &mut Draft,
        walk: &mut Walk,
        held: &mut HashMap<String, HeldRecord>,
        reads: &HashMap<String, Option<Box<RawValue>>>,
        unmarked: &HashSet<String>,
    ) {
        self.count(walk);
        let (mut on_page, mut seen) = (HashSet::new(), Vec::new());
        for listed in &self.records {
            let before = held.get(&listed.id);
            let came_before = before.is_some_and(|held| held.row.generation == walk.number)
                || unmarked.contains(&listed.id)
                || !on_page.insert(listed.id.as_str());
            walk.faults.repeated += u64::from(came_before);
            if before.is_none() && walk.leaves_out(listed.updated.as_ref()) {
                continue;
            }
            let (row, before) = before.map(|held| (&held.row, &held.record)).unzip();
            let after = received(listed, before, reads.get(&listed.id));
            let kind = ChangeKind::between(before, &after);
            if kind.is_none() && before == Some(&after) {
                seen.push(listed.id.clone());
                continue;
            }
            let numbers = (row.map_or(0, |row| row.sequence), walk.number);
            let row = draft.write(&listed.id, numbers, &after, kind.as_ref());
            held.insert(listed.id.clone(), HeldRecord { row, record: after });
        }
        draft.batch.seen = Some((walk.number, seen));
        let latest = draft.state.latest.take();
        draft.state.latest = Shown::latest(latest, walk.greatest.clone());
    }

    /// Counts the page in its walk.
    fn count(&self, walk: &mut Walk) {
        let plausible = walk.begun.utc().map(|begun| begun + AHEAD);
        let updated = self.records.iter().map(|one| one.updated.as_ref());
        let undated = updated.clone().filter(Option::is_none).count();
        let greatest = updated
            .flatten()
            .filter(|shown| shown.text.utc() <= plausible);
        let greatest = greatest
            .max_by(|one, other| one.key.cmp(&other.key))
            .cloned();
        if walk.pages == 0 {
            walk.candidate = Shown::latest(walk.candidate.take(), greatest.clone());
        }
        walk.greatest = Shown::latest(walk.greatest.take(), greatest);
        walk.pages += 1;
        walk.seen += self.records.len() as u64;
        walk.undated += undated as u64;
        walk.faults.unreadable += self.unreadable.len() as u64;
        walk.faults.missing += self.missing as u64;
        if let Some(total) = self.total {
            let before = walk.total.replace(total).unwrap_or(total);
            walk.faults.total_grew |= total > before;
            walk.faults.total_fell |= total < before;
        }
        let is_listed = |id: &str| self.records.iter().any(|listed| listed.id == id);
        walk.outstanding.retain(|witness| !is_listed(&witness.id));
        if let Some(next) = &self.next {
            walk.position = next.clone();
        }
    }
}

impl ListedRecord {
    fn new(json: Box<RawValue>) -> Result<Self, String> {
        let record: ConsignmentSummary = reply_memory::from_str(json.get())
            .map_err(|error| format!("a record cannot be read: {}", json_fault(&error)))?;
        // A number is no substitute: a draft may have none, and get one later.
        let id = record.id.filter(|id| !id.as_str().is_empty());
        let id = id.ok_or("a record has no id")?.as_str().to_owned();
        let updated = record.updated_at.as_ref().and_then(Shown::new);
        Ok(Self { id, json, updated })
    }
}

/// Whether the record has to be read once more, for a copy with all fields.
pub(super) fn needs_read(
    listed: &ListedRecord,
    before: Option<&LocalRecord>,
    mode: SyncMode,
) -> bool {
    let Some(before) = before else {
        return true;
    };
    let is_same = is_as_listed(listed, before);
    match before.depth() {
        // The service refused to show it then. A full walk tries again.
        Depth::Summary => !is_same || mode == SyncMode::Full,
        Depth::Full => !is_same,
    }
}

/// Whether the copy, which may have more fields, agrees with the list, the date of the last change included.
fn is_as_listed(listed: &ListedRecord, before: &LocalRecord) -> bool {
    let shown = reply_memory::from_str(listed.json.get()).unwrap_or_default();
    let updated = before.updated_at().as_ref().and_then(Shown::new);
    updated == listed.updated && !differs_from_summary(&before.value(), &shown)
}

/// The record as the copy is to hold it.
fn received(
    listed: &ListedRecord,
    before: Option<&LocalRecord>,
    read: Option<&Option<Box<RawValue>>>,
) -> LocalRecord {
    match (read, before) {
        (Some(Some(read)), _) => LocalRecord::new(read, Depth::Full, before),
        // All fields that a copy has more are still those of this state.
        (None, Some(before)) if before.depth() == Depth::Full && is_as_listed(listed, before) => {
            before.clone()
        }
        _ => LocalRecord::new(&listed.json, Depth::Summary, before),
    }
}

/// A time further ahead of our clock than this is none of a change that was made: as a watermark it would hide all changes until
/// that day. Clocks may be some days apart.
const AHEAD: TimeDelta = TimeDelta::days(7);
