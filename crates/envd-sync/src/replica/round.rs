//! One sync: which walks it takes, and when it is done.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::sync_report::{SyncMode, SyncReport};
use super::sync_state::{Shown, SyncState, Walk};
use super::{RecordRead, Replica, commit};
use crate::account_store::VersionedDocument;
use crate::error::Result;
use envd_sdk::AsReceived;
use envd_sdk::Pager;
use envd_sdk::model::{ConsignmentSummary, Timestamp};
use envd_sdk::ops::ConsignmentFilter;

/// One sync. Everything that it decides is decided by the state in the store, so another process may go on at any point.
pub(super) struct Round<'a> {
    pub(super) replica: &'a Replica,
    /// The state as it was read or written last.
    pub(super) base: VersionedDocument<SyncState>,
    pub(super) report: SyncReport,
    requests: AtomicU64,
}

impl<'a> Round<'a> {
    pub(super) async fn new(replica: &'a Replica) -> Result<Self> {
        Ok(Self {
            replica,
            base: commit::load(&replica.store).await?,
            report: SyncReport::default(),
            requests: AtomicU64::default(),
        })
    }

    /// `wants_full`: a full walk has to end, whatever the state says.
    pub(super) async fn run(mut self, mut wants_full: bool) -> Result<SyncReport> {
        if self.base.value.walk.is_none() {
            self.confirm_absent().await?;
        }
        // A walk with a greater number begins after this call, so it lists everything that was there before.
        let known = self.base.value.walks;
        let mut has_walked = false;
        loop {
            let walk = self.walk_to_take(wants_full);
            if !has_walked || walk.mode == SyncMode::Full {
                self.report.mode = walk.mode;
                self.report.why.clone_from(&walk.why);
            }
            has_walked = true;
            let ended = self.walk(walk).await?;
            let state = &self.base.value;
            let Some(walk) = ended else {
                // Another process went on with the walk, and perhaps ended it.
                if state.walk.is_none() && state.ended > known && !wants_full {
                    let clean = state.clean.as_ref();
                    self.report.clean = clean.is_some_and(|clean| clean.number == state.ended);
                    break;
                }
                continue;
            };
            self.report.clean = walk.is_clean();
            self.note_what_is_not_listed(&walk);
            if walk.mode == SyncMode::Full {
                wants_full = false;
                self.confirm_absent().await?;
                self.prune().await?;
                if self.base.value.calibration.is_open(self.replica.compared) {
                    self.calibrate(&walk).await?;
                }
            }
            // One that began before this call has missed what changed behind it since.
            let is_late = walk.number <= known;
            let is_another_due = match walk.mode {
                SyncMode::Full => is_late && self.reason_for_full(false).is_none(),
                SyncMode::Incremental => is_late || wants_full || self.reliance().is_err(),
            };
            if !is_another_due {
                break;
            }
        }
        Ok(self.finished())
    }

    /// The walk in progress, or a new one.
    fn walk_to_take(&mut self, wants_full: bool) -> Walk {
        let state = &self.base.value;
        let is_wanted = |walk: &&Walk| !wants_full || walk.mode == SyncMode::Full;
        if let Some(walk) = state.walk.as_ref().filter(is_wanted) {
            self.report.resumed = true;
            return walk.clone();
        }
        let horizon = self.back_from_latest(self.replica.listed_back());
        let (mode, from, why) = match (self.reason_for_full(wants_full), self.reliance()) {
            (None, Ok(why)) => (SyncMode::Incremental, self.start_date(), why),
            (Some(why), Ok(_)) => {
                let from = horizon.as_ref().map(|shown| shown.text.clone());
                (SyncMode::Full, from, why)
            }
            (why, Err(unknown)) => (SyncMode::Full, None, why.unwrap_or(unknown)),
        };
        Walk {
            from,
            horizon,
            ..state.begin(mode, why, self.replica.now())
        }
    }

    /// Why an incremental walk is not enough, if it is not.
    fn reason_for_full(&self, wants_full: bool) -> Option<String> {
        let Some(before) = &self.base.value.full_walk_at else {
            return Some("first sync".to_owned());
        };
        if wants_full {
            return Some("a full walk was requested".to_owned());
        }
        if let Err(why) = self.reliance() {
            return Some(why);
        }
        if self.start_date().is_none() {
            let why = "no full walk so far was complete and had a date of a last change near that of this machine";
            return Some(why.to_owned());
        }
        let (now, before) = (self.replica.clock.now(), before.to_time());
        // After the clock was set back, the time of the last full walk may be in the future.
        let age = before.and_then(|before| now.duration_since(before).ok());
        let is_due = age.is_none_or(|age| age >= self.replica.full_walk_every);
        is_due.then(|| "the last full walk is too long ago".to_owned())
    }

    fn reliance(&self) -> Result<String, String> {
        self.base.value.calibration.reliance(self.replica.compared)
    }

    /// The watermark minus the overlap.
    fn start_date(&self) -> Option<Timestamp> {
        let watermark = self.base.value.watermark.as_ref()?.text.to_time()?;
        Some(watermark.checked_sub(self.replica.overlap)?.into())
    }

    /// The instant so long before the latest change that the service has shown. Our clock, which may be wrong, is taken if it is
    /// earlier.
    pub(super) fn back_from_latest(&self, time: Option<Duration>) -> Option<Shown> {
        let now = self.replica.clock.now();
        let latest = self.base.value.latest.as_ref();
        let latest = latest.and_then(|shown| shown.text.to_time()).unwrap_or(now);
        Shown::new(&latest.min(now).checked_sub(time?)?.into())
    }

    /// Notes that an incremental walk lists nothing, not even the change of the watermark, which is after the date it asks for.
    fn note_what_is_not_listed(&mut self, walk: &Walk) {
        let watermark = self.base.value.watermark.as_ref();
        let (Some(from), Some(watermark)) = (&walk.from, watermark) else {
            return;
        };
        if walk.mode == SyncMode::Incremental && walk.seen == 0 && walk.is_clean() {
            let latest = &watermark.text;
            self.report.add_problem(format!(
                "nothing is listed from {from} on, not even the change at {latest} that was shown before: its record is gone, or the \
                 service has an earlier state, as a fake that was started again; a full walk finds out"
            ));
        }
    }

    fn finished(mut self) -> SyncReport {
        let state = &self.base.value;
        let next = match self.reason_for_full(false) {
            Some(_) => None,
            None => state.full_walk_at.as_ref().and_then(Timestamp::to_time),
        };
        let next = next.and_then(|at| at.checked_add(self.replica.full_walk_every));
        self.report.next_full_walk = next.map(Timestamp::from);
        self.report.requests = self.requests.load(Ordering::Relaxed);
        self.report.watermark = state.watermark.as_ref().map(|shown| shown.text.clone());
        self.report.calibration = self.reliance().unwrap_or_else(|why| why);
        self.report
    }

    /// Counts requests.
    pub(super) fn requested(&self, requests: u64) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
    }

    /// Reads a record.
    pub(super) async fn read_record(&self, id: &str) -> RecordRead {
        self.requested(1);
        let read = self.replica.account().consignment(id);
        RecordRead::of(read.received().optional().await)
    }

    /// Lists the account, from a date on.
    pub(super) fn pager(&self, from: Option<&Timestamp>) -> Pager<AsReceived<ConsignmentSummary>> {
        let mut filter = ConsignmentFilter::default().page_size(self.replica.page_size);
        if let Some(from) = from {
            filter = filter.from(from.clone());
        }
        self.replica.account().consignments(&filter).received()
    }
}
