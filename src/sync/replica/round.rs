//! One sync: which walks it takes, and when it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::sync_report::{SyncMode, SyncReport};
use super::sync_state::{Shown, SyncState, Walk};
use super::{Depth, RecordRead, Replica};
use crate::error::Result;
use crate::model::Timestamp;

/// One sync. Everything that it decides is decided by the state in the store, so another process may go on at any point.
pub(super) struct Round<'a> {
    pub(super) replica: &'a Replica,
    pub(super) report: SyncReport,
    pub(super) requests: Arc<AtomicU64>,
    /// A full walk is still to end, whatever the state says.
    wants_full: bool,
    /// Whether a walk of this sync is in the report.
    has_walked: bool,
}

impl<'a> Round<'a> {
    pub(super) fn new(replica: &'a Replica, wants_full: bool) -> Self {
        Self {
            replica,
            report: SyncReport::default(),
            requests: Arc::default(),
            wants_full,
            has_walked: false,
        }
    }

    pub(super) async fn run(mut self) -> Result<SyncReport> {
        let mut base = self.replica.load().await?;
        if base.state.walk.is_none() {
            base = self.confirm_absent(base).await?;
        }
        // A walk with a greater number begins after this call, so it lists everything that was there before.
        let known = base.state.walks;
        loop {
            let walk = self.walk_to_take(&base.state);
            let (ended, after) = self.walk(base, walk).await?;
            base = after;
            let Some(walk) = ended else {
                // Another process went on with the walk, and perhaps ended it.
                if base.state.walk.is_none() && base.state.ended > known && !self.wants_full {
                    let ended = Some(base.state.ended);
                    self.report.clean = base.state.clean.as_ref().map(|walk| walk.number) == ended;
                    break;
                }
                continue;
            };
            self.report.clean = walk.is_clean();
            if walk.mode == SyncMode::Full {
                self.wants_full = false;
                base = self.confirm_absent(base).await?;
                base = self.prune(base).await?;
                if base
                    .state
                    .calibration
                    .is_open(self.replica.settings.compared)
                {
                    base = self.calibrate(base, &walk).await?;
                }
            }
            if !self.is_another_due(&base.state, &walk, known) {
                break;
            }
        }
        Ok(self.finished(&base.state))
    }

    /// The walk in progress, or a new one.
    fn walk_to_take(&mut self, state: &SyncState) -> Walk {
        let in_progress = state.walk.clone();
        let walk = match in_progress.filter(|walk| !self.wants_full || walk.mode == SyncMode::Full)
        {
            Some(walk) => {
                self.report.resumed = true;
                walk
            }
            None => self.new_walk(state),
        };
        if !self.has_walked || walk.mode == SyncMode::Full {
            self.report.mode = walk.mode;
            self.report.why.clone_from(&walk.why);
        }
        self.has_walked = true;
        walk
    }

    fn new_walk(&self, state: &SyncState) -> Walk {
        let horizon = self.back_from_latest(state, self.replica.settings.horizon());
        let (mode, from, why) = match (self.reason_for_full(state), self.reliance(state)) {
            (None, Ok(why)) => (SyncMode::Incremental, self.start_date(state), why),
            (Some(why), Ok(_)) => (
                SyncMode::Full,
                horizon.as_ref().map(|shown| shown.text.clone()),
                why,
            ),
            (why, Err(unknown)) => (SyncMode::Full, None, why.unwrap_or(unknown)),
        };
        Walk {
            from,
            horizon,
            ..state.begin(mode, why, self.replica.now())
        }
    }

    /// The instant so long before the latest change that the service has shown. Our clock, which may be wrong, is taken if it is
    /// earlier.
    pub(super) fn back_from_latest(
        &self,
        state: &SyncState,
        time: Option<Duration>,
    ) -> Option<Shown> {
        let now = self.replica.settings.clock.now();
        let latest = state.latest.as_ref().and_then(|shown| shown.text.to_time());
        let at = latest
            .map_or(now, |latest| latest.min(now))
            .checked_sub(time?)?;
        Shown::new(&at.into())
    }

    fn reliance(&self, state: &SyncState) -> Result<String, String> {
        state.calibration.reliance(self.replica.settings.compared)
    }

    /// Why an incremental walk is not enough, if it is not.
    fn reason_for_full(&self, state: &SyncState) -> Option<String> {
        let Some(before) = &state.full_walk_at else {
            return Some("nothing was listed completely before".to_owned());
        };
        if self.wants_full {
            return Some("a full walk was requested".to_owned());
        }
        if let Err(why) = self.reliance(state) {
            return Some(why);
        }
        if self.start_date(state).is_none() {
            let why = "no full walk so far was complete and had a date of a last change near that of this machine";
            return Some(why.to_owned());
        }
        let (now, before) = (self.replica.settings.clock.now(), before.to_time());
        // After the clock was set back, the time of the last full walk may be in the future.
        let age = before.and_then(|before| now.duration_since(before).ok());
        let is_due = age.is_none_or(|age| age >= self.replica.settings.full_walk_every);
        is_due.then(|| "the last full walk is too long ago".to_owned())
    }

    /// The watermark minus the overlap.
    fn start_date(&self, state: &SyncState) -> Option<Timestamp> {
        let watermark = state.watermark.as_ref()?.text.to_time()?;
        let from = watermark.checked_sub(self.replica.settings.overlap)?;
        Some(from.into())
    }

    fn is_another_due(&self, state: &SyncState, ended: &Walk, known: u64) -> bool {
        let is_full_due = self.reason_for_full(state).is_some();
        match ended.mode {
            // One that began before this call has missed what changed behind it since.
            SyncMode::Full => ended.number <= known && !is_full_due,
            SyncMode::Incremental => {
                self.wants_full || ended.number <= known || self.reliance(state).is_err()
            }
        }
    }

    fn finished(mut self, state: &SyncState) -> SyncReport {
        let every = self.replica.settings.full_walk_every;
        self.report.requests = self.requests.load(Ordering::Relaxed);
        self.report.watermark = state.watermark.as_ref().map(|shown| shown.text.clone());
        self.report.calibration = self.reliance(state).unwrap_or_else(|why| why);
        self.report.next_full_walk = match self.reason_for_full(state) {
            Some(_) => None,
            None => (state.full_walk_at.as_ref())
                .and_then(Timestamp::to_time)
                .and_then(|at| at.checked_add(every))
                .map(Timestamp::from),
        };
        self.report
    }

    /// Reads a record.
    pub(super) async fn read_record(&self, id: &str) -> RecordRead {
        self.requests.fetch_add(1, Ordering::Relaxed);
        RecordRead::of(self.replica.account().received_consignment(id).await)
    }

    pub(super) fn copies_all_fields(&self) -> bool {
        self.replica.settings.depth == Depth::Full
    }
}
