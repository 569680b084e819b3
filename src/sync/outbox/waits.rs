//! What a process waits for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::look::Synced;

/// What only this process knows: what it waits for. It is not stored, since it is over when the process is.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) pause: Option<Pause>,
    /// Entries for which the service gave no usable answer, how often in a row, and when they are tried again.
    pub(super) entries: HashMap<u64, (u32, SystemTime)>,
    pub(super) failures: u32,
    /// The lease that this process took last.
    pub(super) lease: u64,
    pub(super) synced: Option<(SystemTime, Synced)>,
    pub(super) strays_looked_at: Option<SystemTime>,
}

/// Why nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    Login,
    Until(SystemTime),
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
