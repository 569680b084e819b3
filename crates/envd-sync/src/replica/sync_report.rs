//! What a sync did.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{counted, instant};
use envd_sdk::model::Timestamp;

/// How the list of an account is read.
///
/// In [`SyncReport::mode`], whose page has an example. See [`guide::sync`](mod@crate::guide::sync) for when which is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SyncMode {
    /// All of it.
    #[default]
    Full,
    /// What the service lists with a `fromDate`.
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

/// What one [`sync`](super::Replica::sync) did. `Display` tells it in words.
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
    /// Full if any walk of the sync was.
    pub mode: SyncMode,
    /// Why it was this mode.
    pub why: String,
    /// Whether it continued a walk that stopped earlier, or that another process had begun. Unless the account is read
    /// incrementally, what changed behind that walk before this sync comes with the next one.
    pub resumed: bool,
    /// How many requests were made; one that is retried counts once.
    pub requests: u64,
    /// How many pages were read.
    pub pages: u64,
    /// How many records the pages listed.
    pub seen: u64,
    /// How many records are new in the copy.
    pub appeared: u64,
    /// How many records have another content.
    pub changed: u64,
    /// How many records were removed from the copy.
    pub gone: u64,
    /// How many records were removed from the copy because they are too old to keep.
    pub pruned: u64,
    /// How many walks started anew because the service refused their position.
    pub restarts: u64,
    /// Everything that changed up to this instant is in the copy, as far as clean walks show; as the service showed it.
    pub watermark: Option<Timestamp>,
    /// Whether the last walk ended, with one total throughout, without repeated records, and without missing or unreadable ones but
    /// for those that the walks before have met in the same place.
    pub clean: bool,
    /// The places of the list without a readable record that the last walk has met, and the records that it listed with an error of
    /// the server in one of their fields. The latter are there, so they do not keep the walk from being clean.
    pub gaps: Vec<String>,
    /// What was wrong, at most 20 texts.
    pub problems: Vec<String>,
    /// When the next full walk is due, on the clock of this machine; `None`: with the next sync.
    pub next_full_walk: Option<Timestamp>,
}

/// How many problems a report names.
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
            write!(f, "; started anew {}", counted(self.restarts, "time"))?;
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
    /// How many records there are according to the service, if it says so.
    pub estimate: Option<u64>,
}
