//! The report of a sync, and the progress of a scan.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{counted, instant};
use envd_sdk::model::Timestamp;

/// How the list of an account is read.
///
/// See [`SyncReport::mode`] for an example, and [`guide::sync`](mod@crate::guide::sync) for when each mode is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SyncMode {
    /// The entire list.
    #[default]
    Full,
    /// Only the records that the service lists with a `fromDate`.
    Incremental,
}

impl fmt::Display for SyncMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Full => "full",
            Self::Incremental => "incremental",
        })
    }
}

/// The report of one [`sync`](super::Replica::sync); `Display` writes it as a sentence.
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # let replica = Replica::new(&account, envd_sync::store::MemorySync::new());
/// use envd_sync::replica::SyncMode;
/// # use envd_sync::Replica;
///
/// let first = replica.sync().await?;
/// assert_eq!(first.mode, SyncMode::Full);
/// let second = replica.sync().await?;
/// println!("{second}");
/// assert_eq!((second.appeared, second.changed, second.gone), (0, 0, 0));
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SyncReport {
    /// Full if any scan of the sync was full.
    pub mode: SyncMode,
    /// The reason for this mode.
    pub why: String,
    /// Whether it continued a scan that was interrupted or that another process had begun. Unless the account is read
    /// incrementally, changes that happened behind that scan before this sync are found only by the next sync.
    pub resumed: bool,
    /// The number of requests; retries of a request are not counted.
    pub requests: u64,
    /// The number of pages read.
    pub pages: u64,
    /// The number of records on the pages.
    pub seen: u64,
    /// The number of records new to the copy.
    pub appeared: u64,
    /// The number of records with changed content.
    pub changed: u64,
    /// The number of records found to be gone and removed from the copy.
    pub gone: u64,
    /// The number of records removed because they are older than the retention.
    pub pruned: u64,
    /// The number of scans that started again because the service refused their position.
    pub restarts: u64,
    /// Every change up to this instant is in the copy, as far as clean scans can show. It is a time of the service.
    pub watermark: Option<Timestamp>,
    /// Whether the last scan ended, with a constant total, no repeated records and no new gaps: missing or unreadable records are
    /// allowed only where the previous scans met them too.
    pub clean: bool,
    /// The places without a readable record that the last scan met, and the records that it listed with a server error in one of
    /// their fields. The latter are in the copy, so they do not make the scan unclean.
    pub gaps: Vec<String>,
    /// Problems of the sync; at most 20.
    pub problems: Vec<String>,
    /// When the next full scan is due, on the clock of this machine; `None`: the next sync is full.
    pub next_full_scan: Option<Timestamp>,
}

/// The maximum number of problems in a report.
const PROBLEMS: usize = 20;

impl SyncReport {
    pub(super) fn add_problem(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(problem);
        }
    }
}

impl fmt::Display for SyncReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resumed = if self.resumed { ", resumed" } else { "" };
        let requests = counted(self.requests, "request");
        let listed = counted(self.seen, "record");
        write!(
            f,
            "{} sync{resumed} ({}): {requests}, {listed} listed",
            self.mode, self.why
        )?;
        let appeared = self.appeared;
        let changed = self.changed;
        let gone = self.gone;
        write!(f, "; {appeared} appeared, {changed} changed, {gone} gone")?;
        if !self.clean {
            f.write_str("; the list was not clean")?;
        }
        if self.pruned > 0 {
            write!(f, "; {} too old to keep", self.pruned)?;
        }
        if self.restarts > 0 {
            write!(f, "; restarted {}", counted(self.restarts, "time"))?;
        }
        if !self.gaps.is_empty() {
            write!(f, "; no readable record at: {}", self.gaps.join(", "))?;
        }
        for problem in &self.problems {
            write!(f, "; {problem}")?;
        }
        match &self.watermark {
            Some(watermark) => write!(f, "; complete up to {}", instant(watermark))?,
            None => f.write_str("; not known to be complete")?,
        }
        match &self.next_full_scan {
            Some(at) => write!(f, "; next full scan at {}", instant(at)),
            None => f.write_str("; the next sync is full"),
        }
    }
}

/// How far a scan has come, for a progress bar.
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sync::Replica;
/// use envd_sync::store::MemorySync;
///
/// let replica = Replica::new(&account, MemorySync::new()).on_progress(|scan| match scan.estimate {
///     Some(estimate) => println!("{} of about {estimate}", scan.records),
///     None => println!("{} records", scan.records),
/// });
/// replica.sync().await?;
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanProgress {
    /// The mode of the scan.
    pub mode: SyncMode,
    /// The number of pages read.
    pub pages: u64,
    /// The number of records on them.
    pub records: u64,
    /// The total that the service states, if it states one.
    pub estimate: Option<u64>,
}
