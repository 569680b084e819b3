//! One sync: chooses the scans, removes absent and old rows, and decides when it is done. Each commit is atomic and expects the
//! state that it was computed from.

use std::time::Duration;

use futures_util::{StreamExt, stream};

use super::changes::{ChangeKind, needless_up_to};
use super::local_record::LocalRecord;
use super::sync_report::SyncReport;
use super::sync_state::{FULL_SCAN_EVERY, FullReason, ListScan, STATE, Shown, SyncState};
use super::{RecordRead, Replica, is_answer};
use crate::account_store::{VersionedDocument, json};
use crate::error::Result;
use crate::store::Order;
use crate::store::rows::{Batch, ChangeRow, LocalPosition, Query, RecordRow};
use envd_sdk::model::{ConsignmentStatus, ConsignmentSummary, Timestamp};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{AsReceived, Pager};

/// The number of concurrent reads.
pub(super) const READS_AT_ONCE: usize = 4;

/// The number of absent rows in memory at a time.
const CHUNK: usize = 50;

/// The number of rows removed in one commit.
const PRUNED: usize = 200;

/// One sync. All decisions depend on the stored state only, so another process may continue at any point.
pub(super) struct SyncRun<'a> {
    pub(super) replica: &'a Replica,
    /// The state as last read or written.
    pub(super) base: VersionedDocument<SyncState>,
    pub(super) report: SyncReport,
}

impl<'a> SyncRun<'a> {
    pub(super) async fn new(replica: &'a Replica) -> Result<Self> {
        Ok(Self {
            replica,
            base: replica.load().await?,
            report: SyncReport::default(),
        })
    }

    /// `wanted`: a reason to do a full scan in addition to those of the state.
    pub(super) async fn run(mut self, mut wanted: Option<FullReason>) -> Result<SyncReport> {
        if self.base.value.scan.is_none() {
            self.confirm_absent().await?;
        }
        // Scans numbered above this one begin after this call, so they list every record that existed at the call.
        let known = self.base.value.scans;
        let mut has_scanned = false;
        loop {
            let scan = self.scan_to_take(wanted.clone());
            if !has_scanned || scan.plan.full.is_some() {
                self.report.mode = scan.plan.mode();
                self.report.why = scan.plan.why();
            }
            has_scanned = true;
            let ended = self.scan(scan).await?;
            let state = &self.base.value;
            let Some(scan) = ended else {
                // Another process may have finished the scan.
                if state.scan.is_none() && state.ended > known && wanted.is_none() {
                    let clean = state.clean.as_ref();
                    self.report.clean = clean.is_some_and(|clean| clean.number == state.ended);
                    break;
                }
                continue;
            };
            self.report.clean = scan.is_clean();
            let gaps = scan.gaps.iter().chain(&scan.incomplete);
            self.report.gaps = gaps.cloned().collect();
            let is_full = scan.plan.full.is_some();
            if is_full {
                wanted = None;
                self.confirm_absent().await?;
                self.prune().await?;
            } else if let Some(shown) = scan.unlisted() {
                wanted = Some(FullReason::Unlisted(shown.clone()));
            }
            // A scan that began before this call has missed the changes that happened behind it since.
            let is_late = scan.number <= known;
            let is_full_next = self.full_reason(wanted.clone()).is_some();
            let is_done = if is_late {
                is_full && is_full_next
            } else {
                is_full || !is_full_next
            };
            if is_done {
                break;
            }
        }
        Ok(self.finished())
    }

    fn full_reason(&self, wanted: Option<FullReason>) -> Option<FullReason> {
        let replica = self.replica;
        let state = &self.base.value;
        state.full_reason(
            &replica.compared,
            replica.overlap,
            replica.clock.now(),
            wanted,
        )
    }

    /// The scan in progress, or a new one.
    fn scan_to_take(&mut self, wanted: Option<FullReason>) -> ListScan {
        let state = &self.base.value;
        let is_wanted = |scan: &&ListScan| wanted.is_none() || scan.plan.full.is_some();
        if let Some(scan) = state.scan.as_ref().filter(is_wanted) {
            self.report.resumed = true;
            return scan.clone();
        }
        let horizon = self.back_from_latest(self.replica.listed_back());
        let plan = state.plan(self.full_reason(wanted), self.replica.overlap, horizon);
        state.begin(plan, self.replica.clock.now().into())
    }

    /// Subtracts a time from the latest change that the service has shown, or from our clock if that is earlier: our clock may be
    /// wrong.
    pub(super) fn back_from_latest(&self, time: Option<Duration>) -> Option<Shown> {
        let now = self.replica.clock.now();
        let latest = self.base.value.latest.as_ref();
        let latest = latest.and_then(|shown| shown.at().to_time()).unwrap_or(now);
        Shown::new(&latest.min(now).checked_sub(time?)?.into())
    }

    fn finished(mut self) -> SyncReport {
        let state = &self.base.value;
        let scanned = state.full_scan_at.as_ref().and_then(Timestamp::to_time);
        let scanned = scanned.filter(|_| self.full_reason(None).is_none());
        let next = scanned.and_then(|at| at.checked_add(FULL_SCAN_EVERY));
        self.report.next_full_scan = next.map(Timestamp::from);
        self.report.watermark = state.watermark.as_ref().map(Shown::at);
        self.report
    }

    /// A pager over the list of the account, starting at the position of a scan.
    pub(super) fn pager_of(&self, scan: &ListScan) -> Pager<AsReceived<ConsignmentSummary>> {
        let mut filter = ConsignmentFilter::default().page_size(self.replica.page_size);
        if let Some(from) = &scan.plan.from {
            filter = filter.from(from.clone());
        }
        let pager = self.replica.account().consignments(&filter).received();
        pager.look_ahead(1).start_at(scan.position.clone())
    }

    /// Reads a record; the caller counts the request.
    pub(super) async fn read_record(&self, id: &str) -> RecordRead {
        let read = self.replica.account().consignment(id);
        RecordRead::of(read.received().optional().await)
    }

    /// Reads the records that two consecutive clean full scans did not list, and removes the rows of those that the service does
    /// not find.
    ///
    /// A failed read is not an error of the sync: the next full scan repeats it. The same holds if another process writes in the
    /// meantime, since it may have listed these records.
    async fn confirm_absent(&mut self) -> Result<()> {
        let Some(absent) = self.base.value.absent.clone() else {
            return Ok(());
        };
        let mut query = Query {
            before_generation: Some(absent.number),
            updated_from: absent.since.map(|shown| shown.0),
            // The order of the table: a database scans all rows for this condition anyway.
            order: Order::Sequence,
            limit: CHUNK,
            ..Query::default()
        };
        let mut is_complete = true;
        while is_complete {
            let rows = self.replica.store.query(&query).await?;
            query.after = rows.last().map(LocalPosition::from);
            if rows.is_empty() {
                break;
            }
            let mut reads = self.read_absent(rows).await;
            if reads
                .iter()
                .any(|(_, read)| matches!(read, RecordRead::Gone(None)))
                && !self.shows_a_present_record(absent.number).await
            {
                reads.retain(|(_, read)| !matches!(read, RecordRead::Gone(None)));
            }
            let mut draft = self.draft();
            for (row, read) in reads {
                let last_seen = LocalRecord::of(&row)?;
                match read {
                    RecordRead::Gone(None) => {
                        draft.remove(row, Some(ChangeKind::Gone { last_seen }));
                    }
                    RecordRead::Found(found) | RecordRead::Gone(Some(found)) => {
                        if !found.is_as(&last_seen) {
                            let after = last_seen.as_read(&found.json);
                            // Mark the row as listed by the last scan, so that it takes two more clean full scans before it counts
                            // as absent again.
                            draft.write(
                                &row.id,
                                Some((&row, &last_seen)),
                                &after,
                                self.base.value.scans,
                            );
                        }
                    }
                    // The read failed for another reason: the next scan decides again.
                    RecordRead::Failed(error) => is_complete &= is_answer(&error),
                }
            }
            if draft.has_rows() && !self.commit(draft).await? {
                return Ok(());
            }
        }
        if !is_complete {
            let problem =
                "not all records that the list omits could be read; the next full scan tries again";
            self.report.add_problem(problem.to_owned());
        }
        let mut draft = self.draft();
        draft.state.absent = None;
        self.commit(draft).await.map(drop)
    }

    /// Reads the record of each row, except rows with the status DELETED: a list that hides deleted records never shows them, so
    /// they would be read again and again.
    async fn read_absent(&mut self, mut rows: Vec<RecordRow>) -> Vec<(RecordRow, RecordRead)> {
        let deleted = ConsignmentStatus::Deleted.as_str();
        rows.retain(|row| row.keys.status.as_deref() != Some(deleted));
        self.report.requests += rows.len() as u64;
        let this = &*self;
        let reads = stream::iter(rows).map(|row| async {
            let read = this.read_record(&row.id).await;
            (row, read.unlisted())
        });
        reads.buffered(READS_AT_ONCE).collect().await
    }

    /// Whether the service returns a record that it lists.
    ///
    /// "Not found" has the same text as any failure. Without this check, a service that fails every read would make all absent
    /// records gone.
    async fn shows_a_present_record(&mut self, before: u64) -> bool {
        let Ok(rows) = self.replica.store.query(&latest_first(None, CHUNK)).await else {
            return false;
        };
        let Some(present) = rows.iter().find(|row| row.generation > before) else {
            return true;
        };
        self.report.requests += 1;
        self.read_record(&present.id).await.is_there()
    }

    /// Removes the rows that are older than the retention.
    async fn prune(&mut self) -> Result<()> {
        let Some(oldest) = self.back_from_latest(self.replica.kept_back()) else {
            return Ok(());
        };
        let query = latest_first(Some(oldest.0), PRUNED);
        loop {
            let mut draft = self.draft();
            let rows = self.replica.store.query(&query).await?.into_iter();
            // Rows without a date come last, and stay.
            for row in rows.filter(|row| row.keys.updated_at.is_some()) {
                let last_seen = LocalRecord::of(&row)?;
                let kind = ChangeKind::Pruned { last_seen };
                draft.remove(row, Some(kind).filter(|_| self.replica.reports_pruned));
            }
            if !draft.has_rows() {
                return Ok(());
            }
            self.commit(draft).await?;
        }
    }

    pub(super) fn draft(&self) -> Commit {
        Commit {
            state: self.base.value.clone(),
            batch: Batch::default(),
            report: self.report.clone(),
        }
    }

    /// Commits if the stored state is still the one that was loaded last; `false` if another process was faster, and its state is
    /// then loaded.
    pub(super) async fn commit(&mut self, draft: Commit) -> Result<bool> {
        let store = &self.replica.store;
        let Commit {
            state,
            mut batch,
            report,
        } = draft;
        if !batch.changes.is_empty() {
            let needless = needless_up_to(store, self.base.value.last_sequence()).await?;
            batch.forget_changes = (needless > 0).then_some(needless);
        }
        batch.seen = batch.seen.filter(|(_, ids)| !ids.is_empty());
        batch.expected = vec![(STATE.to_owned(), self.base.version)];
        batch.documents = vec![(STATE.to_owned(), Some(json(&state)))];
        let is_written = store.commit(&batch).await?;
        if is_written {
            let version = self.base.version + 1;
            self.base = VersionedDocument {
                value: state,
                version,
            };
            self.report = report;
        } else {
            self.base = self.replica.load().await?;
        }
        Ok(is_written)
    }
}

/// Rows with the latest change first; with `before`, only rows that changed earlier.
fn latest_first(before: Option<String>, limit: usize) -> Query {
    Query {
        order: Order::LastUpdated,
        after: before.map(|before| LocalPosition {
            updated_at: Some(before),
            ..LocalPosition::default()
        }),
        limit,
        ..Query::default()
    }
}

/// A commit in preparation: the new state, the changes of the copy, and the report as it will be after the commit.
pub(super) struct Commit {
    pub(super) state: SyncState,
    pub(super) batch: Batch,
    pub(super) report: SyncReport,
}

impl Commit {
    /// Whether any row is written or removed.
    fn has_rows(&self) -> bool {
        !self.batch.rows.is_empty() || !self.batch.removed.is_empty()
    }

    /// Adds the record from a scan or a read; `None` if the copy already has exactly this.
    pub(super) fn write(
        &mut self,
        id: &str,
        before: Option<(&RecordRow, &LocalRecord)>,
        after: &LocalRecord,
        generation: u64,
    ) -> Option<RecordRow> {
        let (row, record) = before.unzip();
        let kind = ChangeKind::between(record, after);
        if kind.is_none() && record == Some(after) {
            return None;
        }
        let sequence = row.map_or(0, |row| row.sequence);
        let row = RecordRow {
            id: id.to_owned(),
            sequence: kind.map_or(sequence, |kind| self.change(id, sequence, &kind)),
            generation,
            keys: after.keys(),
            payload: json(after),
        };
        self.batch.rows.push(row.clone());
        Some(row)
    }

    /// Removes a row, with a change for the consumers or silently.
    fn remove(&mut self, row: RecordRow, kind: Option<ChangeKind>) {
        match kind {
            Some(kind) => drop(self.change(&row.id, row.sequence, &kind)),
            None => self.report.pruned += 1,
        }
        self.batch.removed.push(row.id);
    }

    /// Adds a change, numbered after the last one.
    fn change(&mut self, id: &str, previous: u64, kind: &ChangeKind) -> u64 {
        let sequence = self.state.next_sequence.max(1);
        self.state.next_sequence = sequence + 1;
        self.batch.changes.push(ChangeRow {
            sequence,
            previous,
            id: id.to_owned(),
            payload: json(kind),
        });
        *match kind {
            ChangeKind::Appeared { .. } => &mut self.report.appeared,
            ChangeKind::Changed { .. } => &mut self.report.changed,
            ChangeKind::Gone { .. } => &mut self.report.gone,
            ChangeKind::Pruned { .. } => &mut self.report.pruned,
        } += 1;
        sequence
    }
}
