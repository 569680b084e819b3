//! The result of a sync, and the progress of a walk.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{counted, instant};
use envd_sdk::model::Timestamp;

/// How the list of an account is read.
///
/// In [`SyncReport::mode`], where there is an example. [`guide::sync`](mod@crate::guide::sync) says when each mode is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SyncMode {
    /// The complete list.
    #[default]
    Full,
    /// Only records that the service lists with a `fromDate`.
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

/// The result of one [`sync`](super::Replica::sync). `Display` puts it in words.
///
/// ```
/// # equipment::example(async {
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
    /// Full if any walk of the sync was full.
    pub mode: SyncMode,
    /// The reason for this mode.
    pub why: String,
    /// Whether it continued a walk that was interrupted or that another process had begun. Unless the account is read
    /// incrementally, changes on pages that the walk had read before this sync come with the next one.
    pub resumed: bool,
    /// How many requests were made, not counting retries.
    pub requests: u64,
    /// How many pages were read.
    pub pages: u64,
    /// How many records the pages listed.
    pub seen: u64,
    /// How many records are new in the copy.
    pub appeared: u64,
    /// How many records changed in content.
    pub changed: u64,
    /// How many records were removed from the copy.
    pub gone: u64,
    /// How many records were removed from the copy because they are too old to keep.
    pub pruned: u64,
    /// How many walks restarted because the service refused their position.
    pub restarts: u64,
    /// All changes up to this instant are in the copy, as far as clean walks can show. A time of the service.
    pub watermark: Option<Timestamp>,
    /// Whether the last walk was clean: it ended, the total stayed the same, no record came twice, and every position held
    /// a readable record, except for gaps that earlier walks had in the same place.
    pub clean: bool,
    /// Gaps of the last walk: list positions without a readable record, and listed records with a server error in one of
    /// their fields. The latter are not missing, so the walk may still be clean.
    pub gaps: Vec<String>,
    /// Problems in words, at most 20.
    pub problems: Vec<String>,
    /// When the next full walk is due, on the clock of this machine; `None`: at the next sync.
    pub next_full_walk: Option<Timestamp>,
}

/// How many problems a report holds.
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
        let (requests, listed) = (
            counted(self.requests, "request"),
            counted(self.seen, "record"),
        );
        write!(
            f,
            "{} sync{resumed} ({}): {requests}, {listed} listed",
            self.mode, self.why
        )?;
        let (appeared, changed, gone) = (self.appeared, self.changed, self.gone);
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
        match &self.next_full_walk {
            Some(at) => write!(f, "; next full walk at {}", instant(at)),
            None => f.write_str("; the next sync is full"),
        }
    }
}

/// How far a walk has come, for a progress bar.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sync::Replica;
/// use envd_sync::store::MemorySync;
///
/// let replica = Replica::new(&account, MemorySync::new()).on_progress(|walk| match walk.estimate {
///     Some(estimate) => println!("{} of about {estimate}", walk.records),
///     None => println!("{} records", walk.records),
/// });
/// replica.sync().await?;
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkProgress {
    /// The mode of the walk.
    pub mode: SyncMode,
    /// How many pages were read.
    pub pages: u64,
    /// How many records they listed.
    pub records: u64,
    /// The total number of records according to the service, if it states one.
    pub estimate: Option<u64>,
}
