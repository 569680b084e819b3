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
use super::round::Round;
use super::sync_report::{SyncMode, WalkProgress};
use super::sync_state::{Shown, Walk};
use super::{RecordRead, is_answer};
use crate::error::{Error, Result};
use crate::store::StoreError;
use crate::store::rows::Row;
use envd_sdk::AsReceived;
use envd_sdk::model::{ConsignmentSummary, Position};
use envd_sdk::{Page, Pager};

/// The records that were read once more; `None` for one that the service does not show.
type Reads = HashMap<String, Option<Box<RawValue>>>;

impl Round<'_> {
    /// Takes a walk to its end; `None` when another process has gone on with it.
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
        let mut restarted = false;
        loop {
            let page = match next_page(pager).await {
                Ok(page) => page,
                Err(error)
                    if !restarted && walk.position != Position::start() && error.is_answer() =>
                {
                    self.report.restarts += 1;
                    let problem = format!("the walk started anew: {error}");
                    self.report.add_problem(problem);
                    let begun = self.replica.now();
                    walk = Walk {
                        from: walk.from,
                        horizon: walk.horizon,
                        ..self.base.value.begin(walk.mode, walk.why, begun)
                    };
                    unmarked.clear();
                    restarted = true;
                    self.requested(pager.requests());
                    *pager = self.pager_of(&walk);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(next) = self.take(&walk, &page, &mut unmarked).await? else {
                return Ok(None);
            };
            walk = next;
            if let Some(report) = &self.replica.on_progress {
                report(&WalkProgress {
                    mode: walk.mode,
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

    fn pager_of(&self, walk: &Walk) -> Pager<AsReceived<ConsignmentSummary>> {
        let pager = self.pager(walk.from.as_ref());
        pager.look_ahead(1).start_at(walk.position.clone())
    }

    /// Writes what a page changes, unless it is nothing; `None`: another process has gone on with the walk.
    async fn take(
        &mut self,
        walk: &Walk,
        page: &ListedPage,
        unmarked: &mut HashSet<String>,
    ) -> Result<Option<Walk>> {
        let mut reads = Reads::new();
        loop {
            let mut held = self.held(page).await?;
            self.read_changed(page, walk.mode, &held, &mut reads)
                .await?;
            let (base, mut walk) = (self.base.value.clone(), walk.clone());
            let mut draft = Draft::over(&base);
            page.apply(&mut draft, &mut walk, &mut held, &reads, unmarked);
            let state = &mut draft.state;
            state.walks = state.walks.max(walk.number);
            let is_last = page.next.is_none();
            if is_last {
                state.end(&walk);
            } else {
                state.walk = Some(walk.clone());
            }
            let is_idle = walk.mode == SyncMode::Incremental
                && base.walk.is_none()
                && draft.batch.rows.is_empty()
                && (!is_last || draft.state.says_the_same(&base));
            if is_idle {
                unmarked.extend(page.records.iter().map(|listed| listed.id.clone()));
                self.count(page);
                return Ok(Some(walk));
            }
            if let Some((_, seen)) = &mut draft.batch.seen {
                seen.extend(unmarked.iter().cloned());
            }
            if self.commit(draft).await? {
                unmarked.clear();
                self.count(page);
                return Ok(Some(walk));
            }
            // Perhaps something else was written, such as a witness or the name of a consumer.
            if !self.base.value.is_at_the_same_page(&base) {
                return Ok(None);
            }
        }
    }

    /// What the copy holds of the records of a page.
    async fn held(&self, page: &ListedPage) -> Result<Held, StoreError> {
        let ids: Vec<String> = page.records.iter().map(|one| one.id.clone()).collect();
        let rows = self.replica.store.rows(&ids).await?.into_iter();
        let decoded = rows.map(|row| {
            let record = LocalRecord::from_payload(&row.id, &row.payload)?;
            Ok((row.id.clone(), (row, record)))
        });
        decoded.collect()
    }

    /// Reads the new and changed records of a page once more, if all fields are copied.
    async fn read_changed(
        &mut self,
        page: &ListedPage,
        mode: SyncMode,
        held: &Held,
        reads: &mut Reads,
    ) -> Result<()> {
        if self.replica.depth != Depth::Full {
            return Ok(());
        }
        let unread = page.records.iter().filter(|listed| {
            let before = held.get(&listed.id).map(|(_, record)| record);
            !reads.contains_key(&listed.id) && needs_read(listed, before, mode)
        });
        let ids: BTreeSet<String> = unread.map(|listed| listed.id.clone()).collect();
        let this = &*self;
        let results = stream::iter(ids).map(|id| this.read_whole(id));
        let at_once = self.replica.reads_at_once;
        let results: Vec<_> = results.buffer_unordered(at_once).try_collect().await?;
        for (id, record) in results {
            if record.is_none() {
                let problem = format!(
                    "the service lists the record {id} and does not show it with all fields"
                );
                self.report.add_problem(problem);
            }
            reads.insert(id, record);
        }
        Ok(())
    }

    async fn read_whole(&self, id: String) -> Result<(String, Option<Box<RawValue>>)> {
        match self.read_record(&id).await {
            RecordRead::Found(read) | RecordRead::Gone(Some(read)) => Ok((id, Some(read.json))),
            RecordRead::Unclear(error) if !is_answer(&error) => Err(error.into()),
            RecordRead::Gone(None) | RecordRead::Unclear(_) => Ok((id, None)),
        }
    }

    fn count(&mut self, page: &ListedPage) {
        self.report.pages += 1;
        self.report.seen += page.records.len() as u64;
        for reason in &page.unreadable {
            self.report.add_problem(reason.clone());
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

/// By id, what the copy holds of the records of a page.
type Held = HashMap<String, (Row, LocalRecord)>;

impl ListedPage {
    pub(super) fn new(page: Page<AsReceived<ConsignmentSummary>>) -> Self {
        let missing = page.missing + page.problems.len();
        let (mut records, mut unreadable) = (Vec::with_capacity(page.records.len()), Vec::new());
        for error in page.unreadable {
            unreadable.push(format!("page {}: {error}", page.number));
        }
        for received in page.records {
            match ListedRecord::new(received) {
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
        held: &mut Held,
        reads: &Reads,
        unmarked: &HashSet<String>,
    ) {
        self.count(walk);
        let (mut on_page, mut seen) = (HashSet::new(), Vec::new());
        for listed in &self.records {
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
        let dates = self.records.iter().map(|one| one.updated.as_ref());
        walk.undated += dates.clone().filter(Option::is_none).count() as u64;
        let dates = dates.flatten();
        let plausible = dates.filter(|shown| utc(&shown.text) <= plausible);
        let greatest = plausible.max().cloned();
        if walk.pages == 0 {
            walk.candidate = walk.candidate.take().max(greatest.clone());
        }
        walk.greatest = walk.greatest.take().max(greatest);
        walk.pages += 1;
        walk.seen += self.records.len() as u64;
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
    fn new(received: AsReceived<ConsignmentSummary>) -> Result<Self, &'static str> {
        let (record, json) = received.into_parts();
        // A number is no substitute: a draft may have none, and get one later.
        let id = record.id.filter(|id| !id.as_str().is_empty());
        let id = id.ok_or("a record has no id")?.as_str().to_owned();
        let updated = record.updated_at.as_ref().and_then(Shown::new);
        // OK because it was received as JSON.
        let json = RawValue::from_string(json).unwrap_or_default();
        Ok(Self { id, json, updated })
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
