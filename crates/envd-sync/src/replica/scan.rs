//! Scans the list page by page. Each page is compared with the copy, and its differences are written in one commit.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::TimeDelta;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::value::RawValue;

use super::local_record::{Depth, LocalRecord, differs_from_summary, utc};
use super::sync_report::ScanProgress;
use super::sync_run::{Commit, READS_AT_ONCE, SyncRun};
use super::sync_state::{FullReason, ListScan, Refutation, Shown};
use super::{RecordRead, Replica, is_answer};
use crate::error::{Error, Result};
use crate::store::StoreError;
use crate::store::rows::RecordRow;
use envd_sdk::AsReceived;
use envd_sdk::model::{ConsignmentSummary, Position};
use envd_sdk::profile::ComparedDate;
use envd_sdk::{Page, Pager};

/// One page of the list, with the JSON of each record.
type ReceivedPage = Page<AsReceived<ConsignmentSummary>>;

/// The rows of the copy for the records of a page, by id.
type HeldRecords = HashMap<String, (RecordRow, LocalRecord)>;

/// The records of a page that were read with all fields, by id; `None` if the service did not show the record.
type Reads = HashMap<String, Option<LocalRecord>>;

impl SyncRun<'_> {
    /// Reads the remaining pages of a scan. `None`: the scan has to start again, or another process has continued it.
    pub(super) async fn scan(&mut self, scan: ListScan) -> Result<Option<ListScan>> {
        let mut pager = self.pager_of(&scan);
        let scanned = self.scan_pages(scan, &mut pager).await;
        self.report.requests += pager.requests();
        scanned
    }

    async fn scan_pages(
        &mut self,
        mut scan: ListScan,
        pager: &mut Pager<AsReceived<ConsignmentSummary>>,
    ) -> Result<Option<ListScan>> {
        // Records that this scan listed and whose rows do not have its number yet. They are marked with the next write, so an
        // incremental scan that finds nothing new writes nothing.
        let mut unmarked = HashSet::new();
        loop {
            let page = match next_page(pager).await {
                Ok(page) => page,
                Err(error) => {
                    let is_first = scan.position == Position::start();
                    if is_first || !error.is_answer() || self.report.restarts > 0 {
                        return Err(error);
                    }
                    self.report.restarts += 1;
                    let problem = format!(
                        "the service refused the position of the scan, which started again: {error}"
                    );
                    self.report.add_problem(problem);
                    let mut draft = self.draft();
                    draft.state.scan = None;
                    self.commit(draft).await?;
                    return Ok(None);
                }
            };
            let is_last = page.next.is_none();
            let Some(next) = self.take(scan, page, &mut unmarked).await? else {
                return Ok(None);
            };
            scan = next;
            if let Some(report) = &self.replica.on_progress {
                report(&ScanProgress {
                    mode: scan.plan.mode(),
                    pages: scan.pages,
                    records: scan.seen,
                    estimate: scan.total.and_then(|total| total.try_into().ok()),
                });
            }
            if is_last {
                return Ok(Some(scan));
            }
        }
    }

    /// Writes the changes of a page, if there are any. `None`: another process has written in the meantime.
    async fn take(
        &mut self,
        mut scan: ListScan,
        page: ReceivedPage,
        unmarked: &mut HashSet<String>,
    ) -> Result<Option<ListScan>> {
        let is_last = page.next.is_none();
        for error in &page.unreadable {
            let problem = format!("page {}: {error}", page.number);
            self.report.add_problem(problem);
        }
        let listed = scan.count(page);
        let mut held = self.held(&listed).await?;
        let reads = self.read_changed(&listed, &scan, &held).await?;
        let mut draft = self.draft();
        draft.refute(self.replica, &listed, &scan, &held);
        draft.list(&listed, &mut scan, &mut held, &reads, unmarked);
        let base = &self.base.value;
        draft.report.pages += 1;
        draft.report.seen += listed.len() as u64;
        draft.state.scans = draft.state.scans.max(scan.number);
        if is_last {
            scan.end(&base.gaps);
            draft.state.end(&scan);
        } else {
            draft.state.scan = Some(scan.clone());
        }
        let is_idle = scan.plan.full.is_none()
            && base.scan.is_none()
            && draft.batch.rows.is_empty()
            && (!is_last || draft.state.says_the_same(base));
        if is_idle {
            self.report = draft.report;
            return Ok(Some(scan));
        }
        draft.batch.seen = Some((scan.number, unmarked.drain().collect()));
        Ok(self.commit(draft).await?.then_some(scan))
    }

    /// The rows of the copy for the records of a page.
    async fn held(&self, listed: &[ListedRecord]) -> Result<HeldRecords, StoreError> {
        let ids: Vec<String> = listed.iter().map(|listed| listed.id.clone()).collect();
        let rows = self.replica.store.rows(&ids).await?.into_iter();
        let held = rows.map(|row| {
            let record = LocalRecord::of(&row)?;
            Ok((row.id.clone(), (row, record)))
        });
        held.collect()
    }

    /// At full depth, reads the new and changed records of a page with all fields. A record that the service refused to show is
    /// tried again by the next full scan.
    async fn read_changed(
        &mut self,
        listed: &[ListedRecord],
        scan: &ListScan,
        held: &HeldRecords,
    ) -> Result<Reads> {
        if self.replica.depth != Depth::Full {
            return Ok(Reads::new());
        }
        let is_full = scan.plan.full.is_some();
        let is_known = |listed: &ListedRecord| {
            held.get(&listed.id).is_some_and(|(_, record)| {
                let is_whole = record.depth() == Depth::Full;
                (is_whole || !is_full) && listed.is_as(record)
            })
        };
        let unread = listed.iter().filter(|listed| !is_known(listed));
        let ids: BTreeSet<String> = unread.map(|listed| listed.id.clone()).collect();
        self.report.requests += ids.len() as u64;
        let this = &*self;
        let reads = stream::iter(ids).map(|id| this.read_whole(id));
        let reads: Reads = reads.buffer_unordered(READS_AT_ONCE).try_collect().await?;
        for (id, _) in reads.iter().filter(|(_, read)| read.is_none()) {
            self.report.add_problem(format!(
                "the service lists the record {id} but does not return it with all fields"
            ));
        }
        Ok(reads)
    }

    async fn read_whole(&self, id: String) -> Result<(String, Option<LocalRecord>)> {
        let read = match self.read_record(&id).await {
            RecordRead::Found(read) | RecordRead::Gone(Some(read)) => Some(read.json),
            RecordRead::Failed(error) if !is_answer(&error) => return Err(error.into()),
            RecordRead::Gone(None) | RecordRead::Failed(_) => None,
        };
        Ok((id, read.map(|json| LocalRecord::new(&json, Depth::Full))))
    }
}

async fn next_page(pager: &mut Pager<AsReceived<ConsignmentSummary>>) -> Result<ReceivedPage> {
    let page = pager.next_page().await?;
    // OK because a list without records has one page, and none is requested after the last one.
    let page = page.ok_or_else(|| Error::Reply("the list of consignments has no page"))?;
    if page.next.is_none() {
        // An error here means that the list goes further but cannot be read. No request is sent.
        pager.next_page().await?;
    }
    Ok(page)
}

/// One record as a list shows it.
#[derive(Debug)]
struct ListedRecord {
    id: String,
    record: LocalRecord,
    updated: Option<Shown>,
}

impl ListedRecord {
    /// `None`: the record has no id. The number cannot replace it: a draft may get its number later.
    fn new(received: AsReceived<ConsignmentSummary>) -> Option<Self> {
        let (record, json) = received.into_parts();
        let id = record.id.filter(|id| !id.as_str().is_empty())?;
        // OK because it was received as JSON.
        let json = RawValue::from_string(json).unwrap_or_default();
        Some(Self {
            id: id.into(),
            record: LocalRecord::new(&json, Depth::Summary),
            updated: record.updated_at.as_ref().and_then(Shown::new),
        })
    }

    /// Whether the listed fields and the date of the last change equal those of the copy, which may have more fields.
    fn is_as(&self, copy: &LocalRecord) -> bool {
        let is_dated_as = copy.updated_at() == self.record.updated_at();
        is_dated_as && !differs_from_summary(&copy.value(), &self.record.value())
    }

    /// The record to store.
    fn received(&self, copy: Option<&LocalRecord>, reads: &Reads) -> LocalRecord {
        // The listed fields are unchanged, so the additional fields of a full copy are still current.
        let copy = copy.filter(|copy| copy.depth() == Depth::Full && self.is_as(copy));
        let read = reads.get(&self.id).and_then(Option::as_ref);
        read.or(copy).unwrap_or(&self.record).clone()
    }
}

impl Commit {
    /// Records the first change on a page that proves the profile wrong.
    // profile: lists.comparedDate
    fn refute(
        &mut self,
        replica: &Replica,
        page: &[ListedRecord],
        scan: &ListScan,
        held: &HeldRecords,
    ) {
        let entry = &replica.compared;
        let overlap = replica.overlap;
        let is_believed =
            entry.value == Some(ComparedDate::LastChange) && self.state.refuted.is_none();
        for listed in page.iter().filter(|_| is_believed) {
            let before = held
                .get(&listed.id)
                .and_then(|(row, _)| row.keys.updated_at.as_deref());
            let updated = listed.updated.as_ref();
            if let Some(updated) =
                updated.filter(|it| self.state.has_missed(&scan.plan, overlap, it, before))
            {
                let refutation = Refutation {
                    entry: entry.clone(),
                    record: listed.id.clone(),
                    changed: updated.at(),
                };
                self.report
                    .add_problem(FullReason::Refuted(refutation.clone()).to_string());
                self.state.refuted = Some(refutation);
                return;
            }
        }
    }

    /// Adds the changes of a page. `unmarked`: records that the scan has listed and not written.
    fn list(
        &mut self,
        page: &[ListedRecord],
        scan: &mut ListScan,
        held: &mut HeldRecords,
        reads: &Reads,
        unmarked: &mut HashSet<String>,
    ) {
        for listed in page {
            let before = held.get(&listed.id).map(|(row, record)| (row, record));
            let came_before = before.is_some_and(|(row, _)| row.generation == scan.number);
            let is_repeated = !unmarked.insert(listed.id.clone()) || came_before;
            scan.faults.repeated += u64::from(is_repeated);
            if before.is_none() && scan.leaves_out(listed.updated.as_ref()) {
                continue;
            }
            let after = listed.received(before.map(|(_, record)| record), reads);
            if let Some(row) = self.write(&listed.id, before, &after, scan.number) {
                held.insert(listed.id.clone(), (row, after));
            }
        }
        let latest = self.state.latest.take();
        self.state.latest = latest.max(scan.greatest.clone());
    }
}

impl ListScan {
    /// Counts a page, and returns its records.
    fn count(&mut self, page: ReceivedPage) -> Vec<ListedRecord> {
        let id_of = |error: &envd_sdk::Error| {
            let id = error.raw_data()?.pointer("/node/id")?;
            id.as_str().map(str::to_owned)
        };
        let gaps = page.gaps();
        let gaps: Vec<_> = gaps
            .map(|(at, error)| (at, error.and_then(id_of)))
            .collect();
        // The id at each place of the page; `None` if it cannot be read.
        let mut gaps = gaps.into_iter().peekable();
        let mut places = Vec::new();
        let mut listed = Vec::new();
        for (index, received) in page.records.into_iter().enumerate() {
            while let Some((_, id)) = gaps.next_if(|(before, _)| *before <= index) {
                self.add_gap(id.as_deref());
                places.push(None);
            }
            let record = ListedRecord::new(received);
            places.push(record.as_ref().map(|record| record.id.clone()));
            match &record {
                Some(record) => self.close_gaps(Some(&record.id)),
                None => self.add_gap(None),
            }
            listed.extend(record);
        }
        for (_, id) in gaps {
            self.add_gap(id.as_deref());
            places.push(None);
        }
        for error in &page.problems {
            let index = error.path().iter().find_map(|part| part.parse().ok());
            match index.and_then(|index: usize| places.get(index)) {
                Some(Some(incomplete)) => self.add_incomplete(incomplete),
                Some(None) => {}
                None => self.faults.unknown_gaps += 1,
            }
        }
        let plausible = utc(&self.begun).map(|begun| begun + AHEAD);
        let dates = listed.iter().filter_map(|one| one.updated.as_ref());
        let greatest = dates
            .filter(|shown| utc(&shown.at()) <= plausible)
            .max()
            .cloned();
        if self.pages == 0 {
            self.candidate = self.candidate.take().max(greatest.clone());
        }
        self.greatest = self.greatest.take().max(greatest);
        self.pages += 1;
        self.seen += listed.len() as u64;
        if let Some(total) = page.total {
            let before = self.total.replace(total).unwrap_or(total);
            self.faults.total_grew |= total > before;
            self.faults.total_fell |= total < before;
        }
        if let Some(next) = page.next {
            self.position = next;
        }
        listed
    }
}

/// Dates further ahead of our clock than this are ignored. As a watermark, such a date would hide all changes until that day. The
/// clocks may differ by some days.
const AHEAD: TimeDelta = TimeDelta::days(7);
