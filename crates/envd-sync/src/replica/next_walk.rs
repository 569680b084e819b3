//! Which walk comes next: whether the profile of the service is believed, and why a walk is full.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::sync_report::SyncMode;
use super::sync_state::{Shown, SyncState};
use envd_sdk::model::Timestamp;
use envd_sdk::profile::{ComparedDate, Sourced};

/// How long incremental walks may replace a full one.
pub(super) const FULL_WALK_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// The entry of the profile that says which date `fromDate` compares.
pub(super) type DateEntry = Sourced<Option<ComparedDate>>;

/// How a walk reads the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WalkPlan {
    /// Why it is full; `None`: it is incremental.
    pub(super) full: Option<FullReason>,
    /// The `fromDate`, unless all pages are read.
    pub(super) from: Option<Timestamp>,
    /// A record that changed last before is not copied.
    pub(super) horizon: Option<Shown>,
}

/// The record that shows that the profile does not hold for the account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Refutation {
    /// What the profile says. Another entry is believed again.
    pub(super) entry: DateEntry,
    pub(super) record: String,
    pub(super) changed: Timestamp,
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "lists.comparedDate of the profile does not hold: {} changed at {}, and no incremental walk listed that",
            self.record, self.changed
        )
    }
}

/// Why a walk is full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FullReason {
    /// The profile names no date.
    DateUnknown,
    /// It names another date than that of the last change.
    AnotherDate,
    Refuted(Refutation),
    First,
    Requested,
    /// The incremental walk before did not list this change.
    Unlisted(Shown),
    NoWatermark,
    Due,
}

impl fmt::Display for FullReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DateUnknown => {
                "it is not known which date fromDate compares: set lists.comparedDate of the profile; the application first_contact finds it out"
            }
            Self::AnotherDate => {
                "by the profile, fromDate compares another date than that of the last change"
            }
            Self::Refuted(refutation) => return refutation.fmt(f),
            Self::First => "first sync",
            Self::Requested => "a full walk was requested",
            Self::Unlisted(shown) => {
                return write!(
                    f,
                    "an incremental walk listed neither the change at {} nor a later one",
                    shown.text
                );
            }
            Self::NoWatermark => {
                "no full walk so far was complete and had a date of a last change near that of this machine"
            }
            Self::Due => "the last full walk is too long ago",
        })
    }
}

impl WalkPlan {
    pub(super) fn mode(&self) -> SyncMode {
        self.full
            .as_ref()
            .map_or(SyncMode::Incremental, |_| SyncMode::Full)
    }

    pub(super) fn why(&self) -> String {
        let by_profile = "by the profile, fromDate compares the time of the last change";
        self.full
            .as_ref()
            .map_or(by_profile.to_owned(), FullReason::to_string)
    }
}

impl SyncState {
    /// Why the next walk is full; `None`: it is incremental. `wanted` is a reason beside the state.
    pub(super) fn full_reason(
        &self,
        entry: &DateEntry,
        overlap: Duration,
        now: SystemTime,
        wanted: Option<FullReason>,
    ) -> Option<FullReason> {
        let is_recent = |walked: &Timestamp| {
            // After the clock was set back, the time of the last full walk may be in the future.
            let age = walked.to_time().and_then(|at| now.duration_since(at).ok());
            age.is_some_and(|age| age < FULL_WALK_EVERY)
        };
        match (entry.value, &self.refuted, &self.full_walk_at) {
            (None, ..) => Some(FullReason::DateUnknown),
            (Some(ComparedDate::LastChange), Some(refuted), _) => {
                Some(FullReason::Refuted(refuted.clone()))
            }
            (Some(ComparedDate::LastChange), None, None) => Some(FullReason::First),
            (Some(ComparedDate::LastChange), None, Some(walked)) => wanted.or_else(|| {
                let no_watermark = self.start_date(overlap).is_none();
                let due = (!is_recent(walked)).then_some(FullReason::Due);
                no_watermark.then_some(FullReason::NoWatermark).or(due)
            }),
            (Some(_), ..) => Some(FullReason::AnotherDate),
        }
    }

    /// A walk for this reason, back to a horizon.
    pub(super) fn plan(
        &self,
        full: Option<FullReason>,
        overlap: Duration,
        horizon: Option<Shown>,
    ) -> WalkPlan {
        use FullReason::{AnotherDate, DateUnknown, Refuted, Unlisted};
        let from = match &full {
            None => self.start_date(overlap),
            // What the date means is not certain.
            Some(DateUnknown | AnotherDate | Refuted(_) | Unlisted(_)) => None,
            Some(_) => horizon.as_ref().map(|shown| shown.text.clone()),
        };
        WalkPlan {
            full,
            from,
            horizon,
        }
    }

    /// The watermark minus the overlap.
    fn start_date(&self, overlap: Duration) -> Option<Timestamp> {
        let watermark = self.watermark.as_ref()?.text.to_time()?;
        Some(watermark.checked_sub(overlap)?.into())
    }

    /// Whether a listed record shows that the profile does not hold. `before` is the date by which the copy holds it.
    ///
    /// It does if incremental walks had to list that change, and no later one would: it came after the watermark of the last full
    /// walk, and longer than the overlap before the watermark of now. Or the incremental walk before did not list it, which is why
    /// this one is full.
    pub(super) fn has_missed(
        &self,
        plan: &WalkPlan,
        overlap: Duration,
        changed: &Shown,
        before: Option<&str>,
    ) -> bool {
        let key = Some(changed.key.as_str());
        let start = self.start_date(overlap).and_then(|at| Shown::new(&at));
        let [from, start] = [&self.full_watermark, &start]
            .map(|shown| shown.as_ref().map(|shown| shown.key.as_str()));
        let is_unlisted =
            matches!(&plan.full, Some(FullReason::Unlisted(shown)) if shown.key == changed.key);
        is_unlisted || from.is_some() && from < key && key < start && before < key
    }
}
