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
        match self.full {
            Some(_) => SyncMode::Full,
            None => SyncMode::Incremental,
        }
    }

    pub(super) fn why(&self) -> String {
        match &self.full {
            Some(reason) => reason.to_string(),
            None => "by the profile, fromDate compares the time of the last change".to_owned(),
        }
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
        match (entry.value, &self.refuted) {
            (Some(ComparedDate::LastChange), None) => {}
            (Some(ComparedDate::LastChange), Some(refuted)) => {
                return Some(FullReason::Refuted(refuted.clone()));
            }
            (Some(_), _) => return Some(FullReason::AnotherDate),
            (None, _) => return Some(FullReason::DateUnknown),
        }
        let Some(walked) = &self.full_walk_at else {
            return Some(FullReason::First);
        };
        if wanted.is_some() || self.start_date(overlap).is_none() {
            return wanted.or(Some(FullReason::NoWatermark));
        }
        // After the clock was set back, the time of the last full walk may be in the future.
        let age = walked.to_time().and_then(|at| now.duration_since(at).ok());
        let is_due = age.is_none_or(|age| age >= FULL_WALK_EVERY);
        is_due.then_some(FullReason::Due)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(minute: u8) -> Shown {
        Shown::new(&format!("2026-11-20T10:{minute:02}:00Z").as_str().into()).unwrap()
    }

    const OVERLAP: Duration = Duration::from_secs(10 * 60);

    #[test]
    fn a_walk_is_incremental_only_if_the_profile_is_believed_and_a_full_one_ended_within_a_day() {
        use FullReason::{AnotherDate, DateUnknown, Due, First, NoWatermark, Requested};
        let last_change = Some(ComparedDate::LastChange);
        let refutation = Refutation {
            entry: Sourced::seen(last_change),
            record: "7".to_owned(),
            changed: shown(1).text,
        };
        let refuted = FullReason::Refuted(refutation.clone());
        let day = 24 * 60 * 60;
        // The date of the profile, whether it is refuted, seconds since the last full walk, whether it left a watermark, what is
        // wanted.
        for (date, is_refuted, age, has_watermark, wanted, expected) in [
            (last_change, false, Some(day - 1), true, None, None),
            (last_change, false, Some(day), true, None, Some(Due)),
            (last_change, false, Some(-1), true, None, Some(Due)),
            (last_change, false, Some(0), false, None, Some(NoWatermark)),
            (
                last_change,
                false,
                Some(0),
                true,
                Some(Requested),
                Some(Requested),
            ),
            (
                last_change,
                false,
                None,
                false,
                Some(Requested),
                Some(First),
            ),
            (
                last_change,
                true,
                Some(0),
                true,
                Some(Requested),
                Some(refuted),
            ),
            (None, true, Some(0), true, None, Some(DateUnknown)),
            (None, false, None, false, None, Some(DateUnknown)),
            (
                Some(ComparedDate::Creation),
                false,
                Some(0),
                true,
                None,
                Some(AnotherDate),
            ),
            (
                Some(ComparedDate::Movement),
                true,
                None,
                true,
                None,
                Some(AnotherDate),
            ),
        ] {
            let now: SystemTime = shown(30).text.to_time().unwrap();
            let walked = age.map(|age: i64| match u64::try_from(age) {
                Ok(age) => now - Duration::from_secs(age),
                Err(_) => now + Duration::from_secs(1),
            });
            let state = SyncState {
                full_walk_at: walked.map(Timestamp::from),
                watermark: has_watermark.then(|| shown(20)),
                refuted: is_refuted.then(|| refutation.clone()),
                ..SyncState::default()
            };
            let reason = state.full_reason(&Sourced::seen(date), OVERLAP, now, wanted);
            assert_eq!(reason, expected, "{date:?} {age:?}");
            let plan = state.plan(reason, OVERLAP, Some(shown(2)));
            let from = plan.from.as_ref().map(Timestamp::as_str);
            let start = match plan.full {
                None => Some("2026-11-20T10:10:00Z"),
                Some(First | NoWatermark | Due | Requested) => Some("2026-11-20T10:02:00Z"),
                Some(_) => None,
            };
            assert_eq!(from, start, "{:?}", plan.full);
        }
    }

    /// The last full walk left 10:10, and incremental ones have come to 10:40, so the next one begins at 10:30.
    #[test]
    fn a_change_is_missed_if_incremental_walks_had_to_list_it_and_no_later_one_will() {
        let state = SyncState {
            watermark: Some(shown(40)),
            full_watermark: Some(shown(10)),
            ..SyncState::default()
        };
        let (due, unlisted) = (FullReason::Due, FullReason::Unlisted(shown(40)));
        for (changed, held, reason, is_missed) in [
            (20, None, &due, true),
            (20, Some(10), &due, true),
            (20, Some(20), &due, false),
            // The service has an earlier state.
            (20, Some(25), &due, false),
            (10, None, &due, false),
            (5, None, &due, false),
            (29, None, &due, true),
            (30, None, &due, false),
            (40, Some(40), &due, false),
            (40, Some(40), &unlisted, true),
            (41, None, &unlisted, false),
        ] {
            let plan = state.plan(Some(reason.clone()), OVERLAP, None);
            let held = held.map(|minute| shown(minute).key);
            let missed = state.has_missed(&plan, OVERLAP, &shown(changed), held.as_deref());
            assert_eq!(missed, is_missed, "{changed} {held:?}");
        }
    }
}
