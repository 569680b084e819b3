//! What a process waits for.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::account_outbox::Outbox;
use super::stored::Stored;

/// The wait after a first failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// The longest wait after failures.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// How old the list may be when a creation is sent. Whatever appeared since could be taken for it if its reply is lost.
const FRESH: Duration = Duration::from_secs(60);

/// What only this process knows: what it waits for. It is not stored, since it is over when the process is.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) pause: Option<Pause>,
    /// Entries for which the service gave no usable answer: how often in a row before, and the wait for the next try.
    pub(super) entries: HashMap<u64, (u32, Wait)>,
    pub(super) failures: u32,
    /// The lease that this process took last.
    pub(super) lease: u64,
    /// When the last complete list was begun.
    pub(super) listed_at: Option<SystemTime>,
    pub(super) strays_looked_at: Option<SystemTime>,
}

/// Why nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    Login,
    Until(Wait),
}

/// A wait on the clock of the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// When it was set: a clock that was set back since is before it.
    pub(super) since: SystemTime,
    pub(super) until: SystemTime,
}

impl Wait {
    pub(super) fn holds(self, now: SystemTime) -> bool {
        (self.since..self.until).contains(&now)
    }
}

/// Counts requests.
#[derive(Debug, Default)]
pub(super) struct Requests(AtomicU64);

impl Requests {
    pub(super) fn add(&self, requests: u64) {
        self.0.fetch_add(requests, Ordering::Relaxed);
    }

    pub(super) fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Outbox {
    /// The next pass tries everything, whatever failed before.
    pub(super) fn forget_waits(&self) {
        self.with_waits(|waits| {
            (waits.pause, waits.failures) = (None, 0);
            waits.entries.clear();
        });
    }

    pub(super) fn with_waits<T>(&self, with: impl FnOnce(&mut Waits) -> T) -> T {
        let mut waits = self
            .shared
            .waits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        with(&mut waits)
    }

    /// Whether a complete list that was begun after the entry was written is recent, and no request failed since.
    pub(super) fn has_list_for(&self, entry: &Stored) -> bool {
        let (now, listed_at) = (self.now(), self.with_waits(|waits| waits.listed_at));
        let age = listed_at.and_then(|at| now.duration_since(at).ok());
        let is_later = listed_at >= entry.created_at.to_time();
        is_later && age.is_some_and(|age| age < FRESH)
    }
}

/// The wait after a number of failures in a row before this one.
pub(super) fn wait_after(failures: u32) -> Duration {
    let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures));
    wait.min(LONGEST_WAIT)
}
