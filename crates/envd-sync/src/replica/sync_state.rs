//! The stored state of the scans of an account. Each write of a sync expects the version of this document. It decides which scan
//! comes next: whether to trust the profile, and the reason for a full scan.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, SystemTime};

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::local_record::{instant_key, utc};
use super::sync_report::SyncMode;
use crate::account_store::{AccountStore, VersionedDocument, check_format};
use crate::error::Result;
use envd_sdk::model::{Position, Timestamp};
use envd_sdk::profile::{ComparedDate, Sourced};

/// The name of the document. Its version guards everything that depends on the number of the last change.
pub(super) const STATE: &str = "replica";

/// The format of the document. A newer version of this crate may write another format.
pub(super) const FORMAT: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SyncState {
    pub(super) format: u32,
    /// The number of the next change. The first change has number 1; before it, this is 0.
    pub(super) next_sequence: u64,
    /// The number of the last scan that has written anything. Full and incremental scans share the numbers.
    #[serde(rename = "scans")]
    pub(super) scans: u64,
    /// The number of the last scan that ended.
    pub(super) ended: u64,
    /// The time when the last completed full scan began, on our clock.
    #[serde(rename = "fullWalkAt")]
    pub(super) full_scan_at: Option<Timestamp>,
    /// The last full scan, if it was clean.
    pub(super) clean: Option<CleanScan>,
    /// The full scan before that, if both were clean, until the records that both did not list have been read.
    pub(super) absent: Option<CleanScan>,
    /// Every change up to this instant is in the copy.
    pub(super) watermark: Option<Shown>,
    /// The watermark after the last full scan.
    pub(super) full_watermark: Option<Shown>,
    /// The latest date of a last change that any list has shown.
    pub(super) latest: Option<Shown>,
    /// The gaps of the last full scan and of later incremental scans.
    pub(super) gaps: BTreeSet<String>,
    /// The evidence that the profile is wrong.
    pub(super) refuted: Option<Refutation>,
    /// The scan in progress.
    #[serde(rename = "walk")]
    pub(super) scan: Option<ListScan>,
}

/// A clean full scan. `since`: it listed only the records that changed at this instant or later; `None`: all records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CleanScan {
    pub(super) number: u64,
    pub(super) since: Option<Shown>,
}

/// The date of a last change as shown by the service, converted to UTC so that it sorts as text. The time zone of the original is
/// irrelevant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Shown(pub(super) String);

impl Shown {
    /// `None` if the text is not an instant; `None` sorts before all instants.
    pub(super) fn new(text: &Timestamp) -> Option<Self> {
        instant_key(text).map(Self)
    }

    pub(super) fn at(&self) -> Timestamp {
        format!("{}Z", self.0).into()
    }
}

/// A scan over the list of an account: its progress and its faults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ListScan {
    pub(super) number: u64,
    pub(super) plan: ScanPlan,
    /// When it began, on our clock.
    pub(super) begun: Timestamp,
    /// The start of the next page.
    pub(super) position: Position,
    /// The latest date known before the scan or shown on its first page. It becomes the watermark if the scan misses nothing.
    pub(super) candidate: Option<Shown>,
    /// The latest date on all its pages.
    pub(super) greatest: Option<Shown>,
    /// The total of the last page that states one.
    pub(super) total: Option<i64>,
    pub(super) pages: u64,
    /// The number of listed records.
    pub(super) seen: u64,
    pub(super) faults: Faults,
    /// The gaps met so far; at most [`GAPS`].
    pub(super) gaps: BTreeSet<String>,
    /// The records listed with a server error in one of their fields; at most [`GAPS`]. None of them is missing.
    pub(super) incomplete: BTreeSet<String>,
    /// The last record before the next page, and the number of gaps after it.
    last: Option<String>,
    open: usize,
}

/// Reasons why a scan is not clean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Faults {
    pub(super) total_grew: bool,
    pub(super) total_fell: bool,
    pub(super) repeated: u64,
    /// Gaps that earlier scans did not have in the same place, counted at the end of the scan, and server errors that name no
    /// place.
    pub(super) unknown_gaps: u64,
}

/// The maximum number of gaps that are remembered.
const GAPS: usize = 100;

impl ListScan {
    pub(super) fn is_clean(&self) -> bool {
        self.faults == Faults::default()
    }

    /// Whether the scan listed every record that existed when it began, except for known gaps. New records push others to a later
    /// page, where they are listed again. A removed record pulls others to a page that was already read, so they are missed.
    pub(super) fn missed_nothing(&self) -> bool {
        let faults = &self.faults;
        let has_slid = faults.total_fell || faults.repeated > 0 && !faults.total_grew;
        !has_slid && faults.unknown_gaps == 0
    }

    /// The latest known change, if the service should have listed it but listed neither it nor a later one.
    ///
    /// Only for incremental scans of one page: several pages do not show the list at one moment.
    pub(super) fn unlisted(&self) -> Option<&Shown> {
        let is_moment = self.plan.full.is_none() && self.pages == 1 && self.missed_nothing();
        let candidate = self.candidate.as_ref().filter(|_| is_moment);
        candidate.filter(|shown| self.greatest.as_ref() < Some(shown))
    }

    /// Whether the last change of a record is before the horizon.
    pub(super) fn leaves_out(&self, updated: Option<&Shown>) -> bool {
        updated.is_some() && updated < self.plan.horizon.as_ref()
    }

    /// Adds a place without a readable record. `id`: the id of the record, if it is readable.
    pub(super) fn add_gap(&mut self, id: Option<&str>) {
        match id {
            Some(id) => self.name_gap(format!("the record {id}")),
            None => self.open += 1,
        }
    }

    /// Adds a record that was listed with a server error in one of its fields.
    pub(super) fn add_incomplete(&mut self, id: &str) {
        if self.incomplete.len() < GAPS {
            self.incomplete
                .insert(format!("a field of the record {id}"));
        }
    }

    /// Names the gaps since the last record by their two neighbours; `None`: the end of the list.
    pub(super) fn close_gaps(&mut self, next: Option<&str>) {
        for number in 1..=std::mem::take(&mut self.open) {
            let last = self.last.as_deref().unwrap_or("the beginning");
            let next = next.unwrap_or("the end");
            self.name_gap(format!("place {number} between {last} and {next}"));
        }
        self.last = next.map(str::to_owned);
    }

    fn name_gap(&mut self, place: String) {
        if self.gaps.len() < GAPS {
            self.gaps.insert(place);
        } else {
            self.faults.unknown_gaps += 1;
        }
    }

    /// Ends the list. Gaps that earlier scans met are not faults.
    pub(super) fn end(&mut self, known: &BTreeSet<String>) {
        self.close_gaps(None);
        self.faults.unknown_gaps += self.gaps.difference(known).count() as u64;
    }
}

impl SyncState {
    /// Reads the document of an account.
    pub(super) async fn load(store: &AccountStore) -> Result<VersionedDocument<Self>> {
        let Some(stored) = store.load::<Self>(STATE).await? else {
            let mut state = VersionedDocument::<Self>::default();
            state.value.format = FORMAT;
            return Ok(state);
        };
        check_format("the copy of the account", stored.value.format, FORMAT)?;
        Ok(stored)
    }

    /// The number of the last change; 0 before the first.
    pub(super) fn last_sequence(&self) -> u64 {
        self.next_sequence.saturating_sub(1)
    }

    /// Whether the states are equal except for the numbers of scans, which are irrelevant after a scan that found nothing new.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let mut numbered = self.clone();
        (numbered.scans, numbered.ended) = (other.scans, other.ended);
        numbered == *other
    }

    /// A scan that begins now.
    pub(super) fn begin(&self, plan: ScanPlan, begun: Timestamp) -> ListScan {
        ListScan {
            number: self.scans + 1,
            plan,
            begun,
            // Dates shown before the first page was requested.
            candidate: self.latest.clone().max(self.watermark.clone()),
            ..ListScan::default()
        }
    }

    /// Ends a scan.
    pub(super) fn end(&mut self, scan: &ListScan) {
        self.scan = None;
        self.ended = scan.number;
        if scan.plan.full.is_none() {
            if self.gaps.len() < GAPS {
                self.gaps.extend(scan.gaps.iter().cloned());
            }
            if scan.missed_nothing() && scan.unlisted().is_none() {
                self.watermark = self.watermark.take().max(scan.candidate.clone());
            }
            return;
        }
        self.gaps.clone_from(&scan.gaps);
        self.full_scan_at = Some(scan.begun.clone());
        let number = scan.number;
        let since = scan.plan.horizon.clone();
        let clean = scan.is_clean().then_some(CleanScan { number, since });
        let before = clean.as_ref().and(self.clean.take());
        self.absent = before.map(|before| CleanScan {
            since: before.since.max(scan.plan.horizon.clone()),
            ..before
        });
        self.clean = clean;
        // If records moved across a page boundary, keep the watermark; the next scan finds them.
        if scan.missed_nothing() {
            // The record with the date `candidate` may be gone, so use no date later than this scan listed. And never a date from a
            // later page: a change behind the scan may be earlier.
            let dates = scan.candidate.clone().zip(scan.greatest.clone());
            self.watermark = dates.map(|(candidate, greatest)| candidate.min(greatest));
            self.full_watermark.clone_from(&self.watermark);
            self.latest.clone_from(&scan.greatest);
        }
    }
}

/// The interval between full scans when incremental scans are in use.
pub(super) const FULL_SCAN_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// The profile's entry for the date that `fromDate` compares.
pub(super) type DateEntry = Sourced<Option<ComparedDate>>;

/// How a scan reads the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ScanPlan {
    /// The reason for a full scan; `None`: incremental.
    pub(super) full: Option<FullReason>,
    /// The `fromDate`; `None`: all pages are read.
    pub(super) from: Option<Timestamp>,
    /// New records that changed before this are not copied.
    pub(super) horizon: Option<Shown>,
}

/// A record that proves the profile wrong for this account.
// profile: lists.comparedDate
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Refutation {
    /// The refuted entry of the profile. A different entry is trusted again.
    pub(super) entry: DateEntry,
    pub(super) record: String,
    pub(super) changed: Timestamp,
}

/// The reason for a full scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FullReason {
    /// The profile names no date.
    // profile: lists.comparedDate
    DateUnknown,
    /// The profile names a date other than that of the last change.
    AnotherDate,
    Refuted(Refutation),
    First,
    Requested,
    /// The previous incremental scan did not list this change.
    Unlisted(Shown),
    NoWatermark,
    Due,
}

impl fmt::Display for FullReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DateUnknown => {
                "it is not known which date fromDate compares: find it out with the application first_contact, and set lists.comparedDate of the profile"
            }
            Self::AnotherDate => {
                "by the profile, fromDate compares another date than that of the last change"
            }
            Self::Refuted(Refutation { record, changed, .. }) => {
                return write!(
                    f,
                    "lists.comparedDate of the profile does not hold: {record} changed at {changed}, and no incremental scan listed that"
                );
            }
            Self::First => "first sync",
            Self::Requested => "a full scan was requested",
            Self::Unlisted(shown) => {
                return write!(
                    f,
                    "an incremental scan listed neither the change at {} nor a later one",
                    shown.at()
                );
            }
            Self::NoWatermark => {
                "no full scan so far was complete and showed a plausible date of a last change"
            }
            Self::Due => "the daily full scan is due",
        })
    }
}

impl ScanPlan {
    pub(super) fn mode(&self) -> SyncMode {
        if self.full.is_some() {
            SyncMode::Full
        } else {
            SyncMode::Incremental
        }
    }

    pub(super) fn why(&self) -> String {
        let believed = "by the profile, fromDate compares the time of the last change";
        let why = self.full.as_ref().map(FullReason::to_string);
        why.unwrap_or_else(|| believed.to_owned())
    }
}

impl SyncState {
    /// The reason for the next scan to be full; `None`: it is incremental. `wanted`: a reason that is not in the state.
    pub(super) fn full_reason(
        &self,
        entry: &DateEntry,
        overlap: Duration,
        now: SystemTime,
        wanted: Option<FullReason>,
    ) -> Option<FullReason> {
        // profile: lists.comparedDate
        match (entry.value, &self.refuted) {
            (Some(ComparedDate::LastChange), None) => {}
            (Some(ComparedDate::LastChange), Some(refuted)) => {
                return Some(FullReason::Refuted(refuted.clone()));
            }
            (Some(_), _) => return Some(FullReason::AnotherDate),
            (None, _) => return Some(FullReason::DateUnknown),
        }
        let Some(scanned) = &self.full_scan_at else {
            return Some(FullReason::First);
        };
        if wanted.is_some() || self.start_date(overlap).is_none() {
            return wanted.or(Some(FullReason::NoWatermark));
        }
        // If the clock was set back, the time of the last full scan may be in the future.
        let age = scanned.to_time().and_then(|at| now.duration_since(at).ok());
        let is_due = age.is_none_or(|age| age >= FULL_SCAN_EVERY);
        is_due.then_some(FullReason::Due)
    }

    /// Plans a scan for this reason, back to a horizon.
    pub(super) fn plan(
        &self,
        full: Option<FullReason>,
        overlap: Duration,
        horizon: Option<Shown>,
    ) -> ScanPlan {
        use FullReason::{AnotherDate, DateUnknown, Refuted, Unlisted};
        let from = match &full {
            None => self.start_date(overlap),
            // The meaning of `fromDate` is uncertain.
            Some(DateUnknown | AnotherDate | Refuted(_) | Unlisted(_)) => None,
            Some(_) => horizon.as_ref().map(Shown::at),
        };
        ScanPlan {
            full,
            from,
            horizon,
        }
    }

    /// The watermark minus the overlap.
    fn start_date(&self, overlap: Duration) -> Option<Timestamp> {
        let watermark = utc(&self.watermark.as_ref()?.at())?;
        let overlap = TimeDelta::from_std(overlap).ok()?;
        Some(watermark.checked_sub_signed(overlap)?.into())
    }

    /// Whether a listed record proves the profile wrong. `before`: the date of the record in the copy.
    ///
    /// It does if incremental scans should have listed the change and no later one will list it: the change is after the watermark
    /// of the last full scan, and more than the overlap before the current watermark. It also does if the previous incremental scan
    /// did not list it, which is why this scan is full.
    // profile: lists.comparedDate
    pub(super) fn has_missed(
        &self,
        plan: &ScanPlan,
        overlap: Duration,
        changed: &Shown,
        before: Option<&str>,
    ) -> bool {
        let key = Some(&*changed.0);
        let start = self.start_date(overlap).and_then(|at| instant_key(&at));
        let from = self.full_watermark.as_ref().map(|shown| &*shown.0);
        let is_unlisted =
            matches!(&plan.full, Some(FullReason::Unlisted(shown)) if shown == changed);
        is_unlisted || from.is_some() && from < key && key < start.as_deref() && before < key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::script::rows;

    fn shown(minute: u8) -> Shown {
        Shown::new(&format!("2026-11-20T10:{minute:02}:00Z").as_str().into()).unwrap()
    }

    const OVERLAP: Duration = Duration::from_secs(10 * 60);

    #[test]
    fn a_change_that_is_listed_in_another_zone_is_listed() {
        let at = |text: &str| Shown::new(&text.into());
        let [sydney, darwin] = [
            "2026-11-20T21:00:00.50+11:00",
            "2026-11-20T19:30:00.5+09:30",
        ];
        let mut scan = ListScan {
            pages: 1,
            candidate: at(sydney),
            greatest: at(darwin),
            ..ListScan::default()
        };
        assert_eq!(scan.unlisted(), None);
        scan.greatest = at("2026-11-20T20:59:59+11:00");
        assert_eq!(scan.unlisted(), at(darwin).as_ref());
    }

    /// The variant with this stored name; `-`: none.
    fn named<T: serde::de::DeserializeOwned>(name: &str) -> Option<T> {
        let is_some = name != "-";
        is_some.then(|| serde_json::from_value(name.into()).unwrap())
    }

    fn name(reason: Option<FullReason>) -> String {
        let stored = serde_json::to_value(reason).unwrap();
        let name = match &stored {
            serde_json::Value::Object(fields) => fields.keys().next().map(String::as_str),
            stored => stored.as_str(),
        };
        name.unwrap_or("-").to_owned()
    }

    #[test]
    fn a_scan_is_incremental_only_if_the_profile_is_believed_and_a_full_one_ended_within_a_day() {
        let refutation = Refutation {
            entry: Sourced::seen(Some(ComparedDate::LastChange)),
            record: "7".to_owned(),
            changed: shown(1).at(),
        };
        for line in rows(include_str!("tests/full_reason.txt")) {
            let [date, refuted, age, watermark, wanted, expected, from] = line[..] else {
                panic!("{line:?}")
            };
            let now: SystemTime = shown(30).at().to_time().unwrap();
            let scanned = age.parse::<i64>().ok().map(|age| match u64::try_from(age) {
                Ok(age) => now - Duration::from_secs(age),
                Err(_) => now + Duration::from_secs(1),
            });
            let state = SyncState {
                full_scan_at: scanned.map(Timestamp::from),
                watermark: (watermark == "yes").then(|| shown(20)),
                refuted: (refuted == "yes").then(|| refutation.clone()),
                ..SyncState::default()
            };
            let date = named::<ComparedDate>(date);
            let reason = state.full_reason(&Sourced::seen(date), OVERLAP, now, named(wanted));
            let plan = state.plan(reason.clone(), OVERLAP, Some(shown(2)));
            let begins = plan.from.as_ref().map_or("-", |at| &at.as_str()[11..16]);
            assert_eq!(
                (name(reason), begins),
                (expected.to_owned(), from),
                "{line:?}"
            );
        }
    }

    #[test]
    fn a_change_is_missed_if_incremental_scans_had_to_list_it_and_no_later_one_will() {
        let state = SyncState {
            watermark: Some(shown(40)),
            full_watermark: Some(shown(10)),
            ..SyncState::default()
        };
        for line in rows(include_str!("tests/missed.txt")) {
            let reason = match line[2] {
                "unlisted" => Some(FullReason::Unlisted(shown(40))),
                due => named(due),
            };
            let plan = state.plan(reason, OVERLAP, None);
            let [changed, held] = [line[0], line[1]].map(|minute| minute.parse().ok().map(shown));
            let held = held.map(|held| held.0);
            let missed = state.has_missed(&plan, OVERLAP, &changed.unwrap(), held.as_deref());
            assert_eq!(missed.to_string(), line[3], "{line:?}");
        }
    }
}
