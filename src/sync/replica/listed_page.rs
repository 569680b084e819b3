//! One page of a walk, and what it means for the copy.

use std::collections::{HashMap, HashSet};

use chrono::TimeDelta;
use serde_json::value::RawValue;

use super::change::ChangeKind;
use super::commit::Draft;
use super::difference::differs_from_summary;
use super::local_record::{Depth, LocalRecord};
use super::sync_report::SyncMode;
use super::sync_state::{Shown, SyncState, Walk};
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
    missing: usize,
    errors: usize,
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

/// What a page changes.
#[derive(Debug)]
pub(super) struct Applied {
    pub(super) state: SyncState,
    pub(super) walk: Walk,
    pub(super) draft: Draft,
    pub(super) appeared: u64,
    pub(super) changed: u64,
}

impl ListedPage {
    pub(super) fn new(page: Page<Box<RawValue>>) -> Self {
        let errors = page.problems.len();
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
            missing: page.missing,
            errors,
            total: page.total,
            next: page.next,
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

/// What a page changes in the copy. `rows` are the rows of its records, `reads` the records that were read once more,
/// `unmarked` what the walk has listed without a write.
pub(super) fn apply(
    base: &SyncState,
    walk: &Walk,
    page: &ListedPage,
    rows: &mut HashMap<String, Row>,
    reads: &HashMap<String, Option<Box<RawValue>>>,
    unmarked: &HashSet<String>,
) -> Result<Applied, StoreError> {
    let (mut state, mut walk) = (base.clone(), walk.clone());
    count(&mut walk, page);
    let mut draft = Draft {
        walk: walk.number,
        ..Draft::default()
    };
    let (mut appeared, mut changed) = (0, 0);
    let mut on_page = HashSet::new();
    for listed in &page.records {
        let before = rows.get(&listed.id);
        let came_before = before.is_some_and(|row| row.generation == walk.number)
            || unmarked.contains(&listed.id)
            || !on_page.insert(listed.id.as_str());
        if came_before {
            walk.faults.repeated += 1;
        }
        if before.is_none() && walk.leaves_out(listed.updated.as_ref()) {
            continue;
        }
        let (previous, before) = match before {
            Some(row) => (
                row.sequence,
                Some(LocalRecord::from_payload(&row.id, &row.payload)?),
            ),
            None => (0, None),
        };
        let after = received(listed, before.as_ref(), reads.get(&listed.id));
        let kind = ChangeKind::between(before.as_ref(), Some(&after));
        if let Some(kind) = &kind {
            draft.change(&mut state, &listed.id, previous, kind);
            match kind {
                ChangeKind::Appeared { .. } => appeared += 1,
                _ => changed += 1,
            }
        } else if before.as_ref() == Some(&after) {
            draft.seen.push(listed.id.clone());
            continue;
        }
        let row = Row {
            id: listed.id.clone(),
            sequence: kind.map_or(previous, |_| state.last_sequence()),
            generation: walk.number,
            keys: after.keys(),
            payload: after.to_payload(),
        };
        rows.insert(listed.id.clone(), row.clone());
        draft.rows.push(row);
    }
    state.latest = Shown::latest(state.latest.take(), walk.greatest.clone());
    Ok(Applied {
        state,
        walk,
        draft,
        appeared,
        changed,
    })
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

/// Counts a page in its walk.
fn count(walk: &mut Walk, page: &ListedPage) {
    let plausible = walk.begun.utc().map(|begun| begun + AHEAD);
    let greatest = page.records.iter().filter_map(|one| one.updated.clone());
    let greatest = greatest.filter(|shown| shown.text.utc() <= plausible);
    let greatest = greatest.max_by(|one, other| one.key.cmp(&other.key));
    if walk.pages == 0 {
        walk.candidate = Shown::latest(walk.candidate.take(), greatest.clone());
    }
    walk.greatest = Shown::latest(walk.greatest.take(), greatest);
    walk.pages += 1;
    walk.seen += page.records.len() as u64;
    walk.undated += page
        .records
        .iter()
        .filter(|one| one.updated.is_none())
        .count() as u64;
    walk.faults.unreadable += page.unreadable.len() as u64;
    walk.faults.missing += page.missing as u64;
    walk.faults.errors += page.errors as u64;
    if let Some(total) = page.total {
        let before = walk.total.replace(total).unwrap_or(total);
        walk.faults.total_grew |= total > before;
        walk.faults.total_fell |= total < before;
    }
    let is_listed = |id: &str| page.records.iter().any(|listed| listed.id == id);
    walk.outstanding.retain(|witness| !is_listed(&witness.id));
    if let Some(next) = &page.next {
        walk.position = next.clone();
    }
}
