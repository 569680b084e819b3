//! One sync: which walks it takes, and when it is done.

use std::time::Duration;

use super::next_walk::{FULL_WALK_EVERY, FullReason};
use super::sync_report::SyncReport;
use super::sync_state::{Shown, SyncState, Walk};
use super::{RecordRead, Replica};
use crate::account_store::VersionedDocument;
use crate::error::Result;
use envd_sdk::AsReceived;
use envd_sdk::Pager;
use envd_sdk::model::{ConsignmentSummary, Timestamp};
use envd_sdk::ops::ConsignmentFilter;

/// How many records are read at the same time.
pub(super) const READS_AT_ONCE: usize = 4;

/// One sync. Everything that it decides is decided by the state in the store, so another process may go on at any point.
pub(super) struct Round<'a> {
    pub(super) replica: &'a Replica,
    /// The state as it was read or written last.
    pub(super) base: VersionedDocument<SyncState>,
    pub(super) report: SyncReport,
}

impl<'a> Round<'a> {
    pub(super) async fn new(replica: &'a Replica) -> Result<Self> {
        Ok(Self {
            replica,
            base: replica.load().await?,
            report: SyncReport::default(),
        })
    }

    /// `wanted`: why a full walk has to end, whatever the state says.
    pub(super) async fn run(mut self, mut wanted: Option<FullReason>) -> Result<SyncReport> {
        if self.base.value.walk.is_none() {
            self.confirm_absent().await?;
        }
        // Walks numbered above this one begin after this call, so they list every record that existed at the call.
        let known = self.base.value.walks;
        let mut has_walked = false;
        loop {
            let walk = self.walk_to_take(wanted.clone());
            if !has_walked || walk.plan.full.is_some() {
                self.report.mode = walk.plan.mode();
                self.report.why = walk.plan.why();
            }
            has_walked = true;
            let ended = self.walk(walk).await?;
            let state = &self.base.value;
            let Some(walk) = ended else {
                // Another process may have ended it.
                if state.walk.is_none() && state.ended > known && wanted.is_none() {
                    let clean = state.clean.as_ref();
                    self.report.clean = clean.is_some_and(|clean| clean.number == state.ended);
                    break;
                }
                continue;
            };
            self.report.clean = walk.is_clean();
            self.report.gaps = walk.gaps.iter().cloned().collect();
            let is_full = walk.plan.full.is_some();
            if is_full {
                wanted = None;
                self.confirm_absent().await?;
                self.prune().await?;
            } else if let Some(shown) = walk.unlisted() {
                wanted = Some(FullReason::Unlisted(shown.clone()));
            }
            // A walk that began before this call has missed what changed behind it since.
            let is_late = walk.number <= known;
            let is_full_next = self.full_reason(wanted.clone()).is_some();
            if !is_late && (is_full || !is_full_next) || is_full && is_full_next {
                break;
            }
        }
        Ok(self.finished())
    }

    fn full_reason(&self, wanted: Option<FullReason>) -> Option<FullReason> {
        let (replica, state) = (self.replica, &self.base.value);
        state.full_reason(
            &replica.compared,
            replica.overlap,
            replica.clock.now(),
            wanted,
        )
    }

    /// The walk in progress, or a new one.
    fn walk_to_take(&mut self, wanted: Option<FullReason>) -> Walk {
        let state = &self.base.value;
        let is_wanted = |walk: &&Walk| wanted.is_none() || walk.plan.full.is_some();
        if let Some(walk) = state.walk.as_ref().filter(is_wanted) {
            self.report.resumed = true;
            return walk.clone();
        }
        let horizon = self.back_from_latest(self.replica.listed_back());
        let plan = state.plan(self.full_reason(wanted), self.replica.overlap, horizon);
        state.begin(plan, self.replica.clock.now().into())
    }

    /// The instant so long before the latest change that the service has shown. Our clock, which may be wrong, is taken if it is
    /// earlier.
    pub(super) fn back_from_latest(&self, time: Option<Duration>) -> Option<Shown> {
        let now = self.replica.clock.now();
        let latest = self.base.value.latest.as_ref();
        let latest = latest.and_then(|shown| shown.text.to_time()).unwrap_or(now);
        Shown::new(&latest.min(now).checked_sub(time?)?.into())
    }

    fn finished(mut self) -> SyncReport {
        let state = &self.base.value;
        let walked = state.full_walk_at.as_ref().and_then(Timestamp::to_time);
        let walked = walked.filter(|_| self.full_reason(None).is_none());
        let next = walked.and_then(|at| at.checked_add(FULL_WALK_EVERY));
        self.report.next_full_walk = next.map(Timestamp::from);
        self.report.watermark = state.watermark.as_ref().map(|shown| shown.text.clone());
        self.report
    }

    /// Reads a record; the caller counts the request.
    pub(super) async fn read_record(&self, id: &str) -> RecordRead {
        let read = self.replica.account().consignment(id);
        RecordRead::of(read.received().optional().await)
    }

    /// Lists the account from the position of a walk on.
    pub(super) fn pager_of(&self, walk: &Walk) -> Pager<AsReceived<ConsignmentSummary>> {
        let mut filter = ConsignmentFilter::default().page_size(self.replica.page_size);
        if let Some(from) = &walk.plan.from {
            filter = filter.from(from.clone());
        }
        let pager = self.replica.account().consignments(&filter).received();
        pager.look_ahead(1).start_at(walk.position.clone())
    }
}
