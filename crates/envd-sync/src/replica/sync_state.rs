//! What is known of the walks of an account: the document whose version each write of a sync expects.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::local_record::instant_key;
use super::sync_report::SyncMode;
use envd_sdk::model::{Position, Timestamp};

/// The form of the document. A newer version of this crate may write another one.
pub(super) const FORMAT: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SyncState {
    pub(super) format: u32,
    /// The number of the next change; 0 before the first one, which is 1.
    pub(super) next_sequence: u64,
    /// The number of the last walk of which anything was written. Full and incremental walks share the numbers.
    pub(super) walks: u64,
    /// The number of the last walk that ended.
    pub(super) ended: u64,
    /// When the last full walk that ended began, on our clock.
    pub(super) full_walk_at: Option<Timestamp>,
    /// The last full walk, if it was clean.
    pub(super) clean: Option<CleanWalk>,
    /// The one before, if both were clean, until what both did not list is read.
    pub(super) absent: Option<CleanWalk>,
    /// Everything that changed up to this instant is in the copy.
    pub(super) watermark: Option<Shown>,
    /// The greatest instant that any list has shown.
    pub(super) latest: Option<Shown>,
    /// The walk in progress.
    pub(super) walk: Option<Walk>,
    pub(super) calibration: Calibration,
    /// The records that were saved by this program and not listed since.
    pub(super) witnesses: Vec<Witness>,
}

/// A full walk that listed all records that changed last at an instant or later, or all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CleanWalk {
    pub(super) number: u64,
    pub(super) since: Option<Shown>,
}

/// A time of a last change that the server has shown, ordered by time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shown {
    /// In a form whose order as text is the order in time.
    pub(super) key: String,
    /// As it was shown.
    pub(super) text: Timestamp,
}

impl Shown {
    /// `None` when the text is no instant, which is before all that are.
    pub(super) fn new(text: &Timestamp) -> Option<Self> {
        let key = instant_key(text)?;
        let text = text.clone();
        Some(Self { key, text })
    }
}

impl Ord for Shown {
    fn cmp(&self, other: &Self) -> Ordering {
        let texts = self.text.as_str().cmp(other.text.as_str());
        self.key.cmp(&other.key).then(texts)
    }
}

impl PartialOrd for Shown {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A record that this program saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Witness {
    pub(super) id: String,
    /// On our clock.
    pub(super) at: Timestamp,
}

/// A walk over the list of an account: how far it has come, and what was wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Walk {
    pub(super) number: u64,
    pub(super) mode: SyncMode,
    pub(super) why: String,
    /// When it began, on our clock.
    pub(super) begun: Timestamp,
    /// The `fromDate`, unless all pages are read.
    pub(super) from: Option<Timestamp>,
    /// A record that changed last before is not copied.
    pub(super) horizon: Option<Shown>,
    /// Where the next page starts.
    pub(super) position: Position,
    /// The watermark, if the walk turns out to have missed nothing.
    pub(super) candidate: Option<Shown>,
    /// The greatest instant on all its pages.
    pub(super) greatest: Option<Shown>,
    /// The total of the last page that states one.
    pub(super) total: Option<i64>,
    pub(super) pages: u64,
    /// How many records it listed.
    pub(super) seen: u64,
    /// How many of them have no time of their last change that can be read.
    pub(super) undated: u64,
    pub(super) faults: Faults,
    /// The witnesses when it began.
    pub(super) witnesses: Vec<Witness>,
    /// Those of them that it has not listed yet, as an incremental walk has to.
    pub(super) outstanding: Vec<Witness>,
}

/// What keeps a walk from being clean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Faults {
    pub(super) total_grew: bool,
    pub(super) total_fell: bool,
    pub(super) repeated: u64,
    /// Records without an id, and those that cannot be read.
    pub(super) unreadable: u64,
    /// Places of the list without a record, and errors of the server beside records.
    pub(super) missing: u64,
}

impl Walk {
    pub(super) fn is_clean(&self) -> bool {
        self.faults == Faults::default()
    }

    /// Whether it listed everything that was there when it began. Records that arrive push others to a later page, where they
    /// come again; one that leaves pulls others to a page that was read.
    pub(super) fn missed_nothing(&self) -> bool {
        let faults = &self.faults;
        let is_readable = faults.unreadable + faults.missing == 0;
        is_readable && !faults.total_fell && (faults.repeated == 0 || faults.total_grew)
    }

    /// Whether a record changed last before the horizon.
    pub(super) fn leaves_out(&self, updated: Option<&Shown>) -> bool {
        updated.is_some() && updated < self.horizon.as_ref()
    }
}

impl SyncState {
    /// The number of the last change; 0 before the first.
    pub(super) fn last_sequence(&self) -> u64 {
        self.next_sequence.saturating_sub(1)
    }

    /// Whether nothing differs but the numbers of walks, which do not matter after a walk that found nothing new.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let mut numbered = self.clone();
        (numbered.walks, numbered.ended) = (other.walks, other.ended);
        numbered == *other
    }

    /// Whether no walk has begun, gone on or ended between the two.
    pub(super) fn is_at_the_same_page(&self, other: &Self) -> bool {
        (self.walks, self.ended, &self.walk) == (other.walks, other.ended, &other.walk)
    }

    /// A walk that begins now.
    pub(super) fn begin(&self, mode: SyncMode, why: String, begun: Timestamp) -> Walk {
        Walk {
            number: self.walks + 1,
            mode,
            why,
            begun,
            // Shown before the first page is requested.
            candidate: self.latest.clone().max(self.watermark.clone()),
            witnesses: self.witnesses.clone(),
            outstanding: self.witnesses.clone(),
            ..Walk::default()
        }
    }

    /// Ends a walk.
    pub(super) fn end(&mut self, walk: &Walk) {
        self.walk = None;
        self.ended = walk.number;
        // What slid over the edge of a page is for the next walk.
        let has_slid = !walk.missed_nothing();
        self.witnesses.retain(|witness| {
            !walk.witnesses.contains(witness) || has_slid && walk.outstanding.contains(witness)
        });
        if walk.mode == SyncMode::Full {
            self.full_walk_at = Some(walk.begun.clone());
            let (number, since) = (walk.number, walk.horizon.clone());
            let clean = walk.is_clean().then_some(CleanWalk { number, since });
            let before = clean.as_ref().and(self.clean.take());
            self.absent = before.map(|before| CleanWalk {
                since: before.since.max(walk.horizon.clone()),
                ..before
            });
            self.clean = clean;
        }
        match walk.mode {
            _ if has_slid => {}
            SyncMode::Full => {
                // The record with the greatest instant may be gone, so it is that of this walk, and still none of a later page.
                let dates = walk.candidate.clone().zip(walk.greatest.clone());
                self.watermark = dates.map(|(candidate, greatest)| candidate.min(greatest));
                self.latest.clone_from(&walk.greatest);
            }
            SyncMode::Incremental => {
                self.watermark = self.watermark.take().max(walk.candidate.clone());
                if !walk.outstanding.is_empty() {
                    self.calibration.refute_by_witness(&walk.outstanding);
                }
            }
        }
    }
}
