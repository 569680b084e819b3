//! When something is due again.

use std::collections::HashSet;
use std::time::SystemTime;

use super::entry::EntryState;
use super::journal::Snapshot;
use super::lane::{Next, next};
use super::pass::{Pass, STRAY_LOOK_EVERY};
use crate::model::Timestamp;

/// How often an entry is tried within one [`send`](Outbox::send) when the service gives no usable answer about it.
pub(super) const TRIES: u32 = 3;

/// When the next pass has something to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// A look, or the end of another process's lease: time alone brings it.
    pub(super) settles_at: Option<SystemTime>,
    /// Another try to reach the service.
    pub(super) retries_at: Option<SystemTime>,
}

impl Due {
    pub(super) fn settle(&mut self, at: SystemTime) {
        self.settles_at = Some(self.settles_at.map_or(at, |before| before.min(at)));
    }

    pub(super) fn retry(&mut self, at: SystemTime) {
        self.retries_at = Some(self.retries_at.map_or(at, |before| before.min(at)));
    }

    pub(super) fn at(self) -> Option<SystemTime> {
        self.settles_at.into_iter().chain(self.retries_at).min()
    }
}

impl Pass<'_> {
    /// What is left, and when.
    pub(super) fn count(&mut self, snapshot: &Snapshot, mut due: Due) -> Due {
        self.report.requests = self.requests.total();
        for entry in snapshot.live.values() {
            match entry.state {
                EntryState::Refused => self.report.refused += 1,
                EntryState::NeedsAttention => self.report.needs_attention += 1,
                _ => self.report.waiting += 1,
            }
        }
        // A pass that was stopped, by a failure or by another process, leaves what was due already; until it can go on, that
        // is not due.
        let (stopped, goes_on) = (due.retries_at.is_some(), due.at());
        let from = |at: SystemTime| goes_on.map_or(at, |goes_on| at.max(goes_on));
        let first: HashSet<u64> = next(&snapshot.live)
            .into_iter()
            .map(|(Next::Send(id) | Next::Settle(id))| id)
            .collect();
        let now = self.outbox.now();
        self.outbox.with_waits(|waits| {
            waits.entries.retain(|id, _| snapshot.live.contains_key(id));
            // What waits for an earlier entry is due when that one is at its end.
            for entry in first.iter().filter_map(|id| snapshot.live.get(id)) {
                let at = entry.next_at.as_ref().and_then(Timestamp::to_time);
                match (waits.entries.get(&entry.id), at) {
                    (Some((failures, wait)), _) if wait.holds(now) => {
                        if *failures < TRIES && !stopped {
                            due.settle(from(wait.until));
                        } else {
                            due.retry(from(wait.until));
                        }
                    }
                    _ if stopped => {}
                    // Sent again without success.
                    (_, Some(at)) if entry.state == EntryState::Queued => due.retry(from(at)),
                    (_, Some(at)) => due.settle(from(at)),
                    (_, None) => {}
                }
            }
        });
        if let (false, Some(at)) = (
            snapshot.head.watches.is_empty(),
            now.checked_add(STRAY_LOOK_EVERY),
        ) {
            due.retry(at);
        }
        self.report.next_at = due.at().map(Timestamp::from);
        due
    }
}
