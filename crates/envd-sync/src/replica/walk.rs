//! Walks over the list, page by page, each page in one write: what a page means for the copy, and when it is written.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::TimeDelta;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::value::RawValue;

use super::change::ChangeKind;
use super::commit::Draft;
use super::difference::differs_from_summary;
use super::local_record::utc;
use super::local_record::{Depth, LocalRecord};
use super::next_walk::Refutation;
use super::round::{READS_AT_ONCE, Round};
use super::sync_report::{SyncMode, WalkProgress};
use super::sync_state::{Shown, Walk};
use super::{RecordRead, is_answer};
use crate::error::{Error, Result};
use crate::store::StoreError;
use crate::store::rows::Row;
use envd_sdk::AsReceived;
use envd_sdk::model::{ConsignmentSummary, PathSegment, Position};
use envd_sdk::profile::ComparedDate;
use envd_sdk::{Page, Pager};

/// The records that were read once more; `None` for one that the service does not show.
type Reads = HashMap<String, Option<Box<RawValue>>>;

impl Round<'_> {
    /// Takes a walk to its end; `None`: it has to begin again, or another process has gone on with it.
    pub(super) async fn walk(&mut self, walk: Walk) -> Result<Option<Walk>> {
        let mut pager = self.pager_of(&walk);
        let walked = self.walk_pages(walk, &mut pager).await;
        self.requested(pager.requests());
        walked
    }

    async fn walk_pages(
        &mut self,
        mut walk: Walk,
        pager: &mut Pager<AsReceived<ConsignmentSummary>>,
    ) -> Result<Option<Walk>> {
        // What an incremental walk has listed without a write, for there was nothing new.
        let mut unmarked = HashSet::new();
        loop {
            let page = match next_page(pager).await {
                Ok(page) => page,
                Err(error) => {
                    let is_first = walk.position == Position::start();
                    if is_first || !error.is_answer() || self.report.restarts > 0 {
                        return Err(error);
                    }
                    self.report.restarts += 1;
                    let problem = format!("the walk started anew: {error}");
                    self.report.add_problem(problem);
                    self.change_state(|state| state.walk = None).await?;
                    return Ok(None);
                }
            };
            let Some(next) = self.take(walk, &page, &mut unmarked).await? else {
                return Ok(None);
            };
            walk = next;
            if let Some(report) = &self.replica.on_progress {
                report(&WalkProgress {
                    mode: walk.plan.mode(),
                    pages: walk.pages,
                    records: walk.seen,
                    estimate: walk.total.and_then(|total| total.try_into().ok()),
                });
            }
            if page.next.is_none() {
                return Ok(Some(walk));
            }
        }
    }

    /// Writes what a page changes, unless it is nothing; `None`: another process wrote meanwhile.
    async fn take(
        &mut self,
        mut walk: Walk,
        page: &ListedPage,
        unmarked: &mut HashSet<String>,
    ) -> Result<Option<Walk>> {
        let mut held = self.held(page).await?;
        let reads = self.read_changed(page, &walk, &held).await?;
        let refuted = self.refuted_by(page, &walk, &held);
        let base = &self.base.value;
        let mut draft = Draft::over(base);
        page.apply(&mut draft, &mut walk, &mut held, &reads, unmarked);
        let state = &mut draft.state;
        state.walks = state.walks.max(walk.number);
        state.refuted = state.refuted.take().or_else(|| refuted.clone());
        let is_last = page.next.is_none();
        if is_last {
            walk.end(&base.gaps);
            state.end(&walk);
        } else {
            state.walk = Some(walk.clone());
        }
        let is_idle = walk.plan.full.is_none()
            && base.walk.is_none()
            && draft.batch.rows.is_empty()
            && (!is_last || draft.state.says_the_same(base));
        if is_idle {
            unmarked.extend(page.records().map(|listed| listed.id.clone()));
        } else {
            if let Some((_, seen)) = &mut draft.batch.seen {
                seen.extend(unmarked.drain());
            }
            if !self.commit(draft).await? {
                return Ok(None);
            }
        }
        self.report.pages += 1;
        self.report.seen += page.records().count() as u64;
        let refuted = refuted.map(|refuted| refuted.to_string());
        for problem in page.problems.iter().cloned().chain(refuted) {
            self.report.add_problem(problem);
        }
        Ok(Some(walk))
    }

    /// The record of a page that shows that the profile does not hold, if one does.
    fn refuted_by(&self, page: &ListedPage, walk: &Walk, held: &Held) -> Option<Refutation> {
        let (state, replica) = (&self.base.value, self.replica);
        let is_believed = replica.compared.value == Some(ComparedDate::LastChange);
        let mut dated = page
            .records()
            .filter(|_| is_believed && state.refuted.is_none());
        dated.find_map(|listed| {
            let updated = listed.updated.as_ref()?;
            let row = held.get(&listed.id).map(|(row, _)| row);
            let before = row.and_then(|row| row.keys.updated_at.as_deref());
            let has_missed = state.has_missed(&walk.plan, replica.overlap, updated, before);
            has_missed.then(|| Refutation {
                entry: replica.compared.clone(),
                record: listed.id.clone(),
                changed: updated.text.clone(),
            })
        })
    }

    /// What the copy holds of the records of a page.
    async fn held(&self, page: &ListedPage) -> Result<Held, StoreError> {
        let ids: Vec<String> = page.records().map(|one| one.id.clone()).collect();
        let rows = self.replica.store.rows(&ids).await?.into_iter();
        let decoded = rows.map(|row| {
            let record = LocalRecord::from_payload(&row.id, &row.payload)?;
            Ok((row.id.clone(), (row, record)))
        });
        decoded.collect()
    }

    /// Reads the new and changed records of a page once more, if all fields are copied.
    async fn read_changed(&mut self, page: &ListedPage, walk: &Walk, held: &Held) -> Result<Reads> {
        let mode = walk.plan.mode();
        let unread = page.records().filter(|listed| {
            let before = held.get(&listed.id).map(|(_, record)| record);
            self.replica.depth == Depth::Full && needs_read(listed, before, mode)
        });
        let ids: BTreeSet<String> = unread.map(|listed| listed.id.clone()).collect();
        let this = &*self;
        let reads = stream::iter(ids).map(|id| this.read_whole(id));
        let reads: Reads = reads.buffer_unordered(READS_AT_ONCE).try_collect().await?;
        for (id, _) in reads.iter().filter(|(_, read)| read.is_none()) {
            self.report.add_problem(format!(
                "the service lists the record {id} and does not show it with all fields"
            ));
        }
        Ok(reads)
    }

    async fn read_whole(&self, id: String) -> Result<(String, Option<Box<RawValue>>)> {
        match self.read_record(&id).await {
            RecordRead::Found(read) | RecordRead::Gone(Some(read)) => Ok((id, Some(read.json))),
            RecordRead::Unclear(error) if !is_answer(&error) => Err(error.into()),
            RecordRead::Gone(None) | RecordRead::Unclear(_) => Ok((id, None)),
        }
    }
}

async fn next_page(pager: &mut Pager<AsReceived<ConsignmentSummary>>) -> Result<ListedPage> {
    let page = pager.next_page().await?;
    // OK because a list without records has one page, and none is requested after the last one.
    let page = page.ok_or_else(|| Error::Reply("the list of consignments has no page"))?;
    if page.next.is_none() {
        // Whether the list ends here or cannot be read further; without a request.
        pager.next_page().await?;
    }
    Ok(ListedPage::new(page))
}

/// One page as it was received.
#[derive(Debug)]
struct ListedPage {
    elements: Vec<Element>,
    /// Why elements cannot be read.
    problems: Vec<String>,
    /// How many errors of the server name no element.
    unplaced: u64,
    total: Option<i64>,
    /// Where the next page starts; `None`: this is the last one.
    next: Option<Position>,
}

/// A record, or a gap with its id, if that can be read: null, an unreadable record, an error of the server.
type Element = Result<ListedRecord, Option<String>>;

/// One record as a list shows it.
#[derive(Debug)]
struct ListedRecord {
    id: String,
    json: Box<RawValue>,
    updated: Option<Shown>,
}

/// By id, what the copy holds of the records of a page.
type Held = HashMap<String, (Row, LocalRecord)>;

impl ListedPage {
    fn new(page: Page<AsReceived<ConsignmentSummary>>) -> Self {
        let id_of = |error: &envd_sdk::Error| {
            let id = error.raw_data()?.pointer("/node/id")?;
            id.as_str().map(str::to_owned)
        };
        let gaps: Vec<_> = page
            .gaps()
            .map(|(at, error)| (at, error.and_then(id_of)))
            .collect();
        let (mut gaps, mut elements) = (gaps.into_iter().peekable(), Vec::new());
        for (index, received) in page.records.into_iter().enumerate() {
            while let Some((_, id)) = gaps.next_if(|(before, _)| *before <= index) {
                elements.push(Err(id));
            }
            elements.push(ListedRecord::new(received).ok_or(None));
        }
        elements.extend(gaps.map(|(_, id)| Err(id)));
        let (mut unplaced, mut incomplete) = (0, Vec::new());
        for error in &page.problems {
            let index = error.path().iter().find_map(|segment| match segment {
                PathSegment::Index(index) => usize::try_from(*index).ok(),
                _ => None,
            });
            match index.and_then(|index| elements.get(index)) {
                Some(Ok(record)) => incomplete.push(Err(Some(record.id.clone()))),
                Some(Err(_)) => {}
                None => unplaced += 1,
            }
        }
        elements.extend(incomplete);
        let errors = page.unreadable.iter();
        Self {
            elements,
            problems: errors
                .map(|error| format!("page {}: {error}", page.number))
                .collect(),
            unplaced,
            total: page.total,
            next: page.next,
        }
    }

    fn records(&self) -> impl Iterator<Item = &ListedRecord> {
        self.elements.iter().flatten()
    }

    /// What the page changes in the copy. `held` is what the copy holds of its records, `reads` the records that were read once
    /// more, `unmarked` what the walk has listed without a write.
    fn apply(
        &self,
        draft: &mut Draft,
        walk: &mut Walk,
        held: &mut Held,
        reads: &Reads,
        unmarked: &HashSet<String>,
    ) {
        self.count(walk);
        let (mut on_page, mut seen) = (HashSet::new(), Vec::new());
        for listed in self.records() {
            let before = held.get(&listed.id);
            let came_before = before.is_some_and(|(row, _)| row.generation == walk.number)
                || unmarked.contains(&listed.id)
                || !on_page.insert(listed.id.as_str());
            walk.faults.repeated += u64::from(came_before);
            if before.is_none() && walk.leaves_out(listed.updated.as_ref()) {
                continue;
            }
            let (row, before) = before.map(|(row, record)| (row, record)).unzip();
            let after = received(listed, before, reads.get(&listed.id));
            let kind = ChangeKind::between(before, &after);
            if kind.is_none() && before == Some(&after) {
                seen.push(listed.id.clone());
                continue;
            }
            let numbers = (row.map_or(0, |row| row.sequence), walk.number);
            let row = draft.write(&listed.id, numbers, &after, kind.as_ref());
            held.insert(listed.id.clone(), (row, after));
        }
        draft.batch.seen = Some((walk.number, seen));
        let latest = draft.state.latest.take();
        draft.state.latest = latest.max(walk.greatest.clone());
    }

    /// Counts the page in its walk.
    fn count(&self, walk: &mut Walk) {
        let plausible = utc(&walk.begun).map(|begun| begun + AHEAD);
        let dates = self.records().filter_map(|one| one.updated.as_ref());
        let plausible = dates.filter(|shown| utc(&shown.text) <= plausible);
        let greatest = plausible.max().cloned();
        if walk.pages == 0 {
            walk.candidate = walk.candidate.take().max(greatest.clone());
        }
        walk.greatest = walk.greatest.take().max(greatest);
        walk.pages += 1;
        walk.seen += self.records().count() as u64;
        walk.faults.unknown_gaps += self.unplaced;
        if let Some(total) = self.total {
            let before = walk.total.replace(total).unwrap_or(total);
            walk.faults.total_grew |= total > before;
            walk.faults.total_fell |= total < before;
        }
        for element in &self.elements {
            match element {
                Ok(record) => walk.close_gaps(Some(&record.id)),
                Err(id) => walk.add_gap(id.as_deref()),
            }
        }
        if let Some(next) = &self.next {
            walk.position = next.clone();
        }
    }
}

impl ListedRecord {
    /// `None`: it has no id. A number is no substitute: a draft may have none, and get one later.
    fn new(received: AsReceived<ConsignmentSummary>) -> Option<Self> {
        let (record, json) = received.into_parts();
        let id = record.id.filter(|id| !id.as_str().is_empty())?;
        let id = id.as_str().to_owned();
        let updated = record.updated_at.as_ref().and_then(Shown::new);
        // OK because it was received as JSON.
        let json = RawValue::from_string(json).unwrap_or_default();
        Some(Self { id, json, updated })
    }
}

/// Whether the record has to be read once more, for a copy with all fields. If the service refused to show it, a full walk tries
/// again.
fn needs_read(listed: &ListedRecord, before: Option<&LocalRecord>, mode: SyncMode) -> bool {
    before.is_none_or(|before| {
        let is_summary = before.depth() == Depth::Summary;
        is_summary && mode == SyncMode::Full || !is_as_listed(listed, before)
    })
}

/// Whether the copy, which may have more fields, agrees with the list, the date of the last change included.
fn is_as_listed(listed: &ListedRecord, before: &LocalRecord) -> bool {
    let shown = serde_json::from_str(listed.json.get()).unwrap_or_default();
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
        (Some(Some(read)), _) => LocalRecord::new(read, Depth::Full),
        // All fields that a copy has more are still those of this state.
        (None, Some(before)) if before.depth() == Depth::Full && is_as_listed(listed, before) => {
            before.clone()
        }
        _ => LocalRecord::new(&listed.json, Depth::Summary),
    }
}

/// A time further ahead of our clock than this is none of a change that was made: as a watermark it would hide all changes until
/// that day. Clocks may be some days apart.
const AHEAD: TimeDelta = TimeDelta::days(7);
