//! What is known of the walks of an account: the document whose version each write of a sync expects.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::local_record::instant_key;
use super::next_walk::{Refutation, WalkPlan};
use crate::account_store::{AccountStore, VersionedDocument, unreadable};
use crate::error::Result;
use envd_sdk::model::{Position, Timestamp};

/// The name of the document; its version fences all that depends on the last number.
pub(super) const STATE: &str = "replica";

/// The form of the document. A newer version of this crate may write another one.
pub(super) const FORMAT: u32 = 2;

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
    /// The watermark that the last full walk left.
    pub(super) full_watermark: Option<Shown>,
    /// The greatest instant that any list has shown.
    pub(super) latest: Option<Shown>,
    /// The gaps that the last full walk and the incremental ones since have met.
    pub(super) gaps: BTreeSet<String>,
    /// Why the profile is not believed.
    pub(super) refuted: Option<Refutation>,
    /// The walk in progress.
    pub(super) walk: Option<Walk>,
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

/// A walk over the list of an account: how far it has come, and what was wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Walk {
    pub(super) number: u64,
    pub(super) plan: WalkPlan,
    /// When it began, on our clock.
    pub(super) begun: Timestamp,
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
    pub(super) faults: Faults,
    /// The gaps that it has met; at most [`GAPS`].
    pub(super) gaps: BTreeSet<String>,
    /// The last record before the next page, and how many gaps follow it.
    last: Option<String>,
    open: usize,
}

/// What keeps a walk from being clean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Faults {
    pub(super) total_grew: bool,
    pub(super) total_fell: bool,
    pub(super) repeated: u64,
    /// Gaps that the walk before has not met in the same place, as its end shows, and errors of the server that name no place.
    pub(super) unknown_gaps: u64,
}

/// How many gaps of a list are known.
const GAPS: usize = 100;

impl Walk {
    pub(super) fn is_clean(&self) -> bool {
        self.faults == Faults::default()
    }

    /// Whether it listed everything that was there when it began, but for known gaps. Records that arrive push others to a later
    /// page, where they come again; one that leaves pulls others to a page that was read.
    pub(super) fn missed_nothing(&self) -> bool {
        let faults = &self.faults;
        let has_slid = faults.total_fell || faults.repeated > 0 && !faults.total_grew;
        !has_slid && faults.unknown_gaps == 0
    }

    /// The change that a service that compares the last change had to list: it was shown before, and neither it nor a later one was
    /// listed. Only one page shows the list as it was at one moment.
    pub(super) fn unlisted(&self) -> Option<&Shown> {
        let is_moment = self.plan.full.is_none() && self.pages == 1 && self.missed_nothing();
        let candidate = self.candidate.as_ref().filter(|_| is_moment);
        candidate.filter(|shown| self.greatest.as_ref() < Some(shown))
    }

    /// Whether a record changed last before the horizon.
    pub(super) fn leaves_out(&self, updated: Option<&Shown>) -> bool {
        updated.is_some() && updated < self.plan.horizon.as_ref()
    }

    /// A place of the list without a readable record; its id, if that is readable.
    pub(super) fn add_gap(&mut self, id: Option<&str>) {
        match id {
            Some(id) => self.name_gap(format!("the record {id}")),
            None => self.open += 1,
        }
    }

    /// Names the gaps since the last record by both neighbours; `None`: the list ends.
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

    /// The end of the list: gaps that were met before are known.
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
        let problem = match stored.value.format.cmp(&FORMAT) {
            Ordering::Equal => return Ok(stored),
            Ordering::Greater => "a newer version of this crate wrote it: update this program",
            Ordering::Less => {
                "a version before the first release wrote it: begin with a new file, or with new tables"
            }
        };
        Err(unreadable(format!("the copy of the account cannot be read: {problem}")).into())
    }

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

    /// A walk that begins now.
    pub(super) fn begin(&self, plan: WalkPlan, begun: Timestamp) -> Walk {
        Walk {
            number: self.walks + 1,
            plan,
            begun,
            // Shown before the first page is requested.
            candidate: self.latest.clone().max(self.watermark.clone()),
            ..Walk::default()
        }
    }

    /// Ends a walk.
    pub(super) fn end(&mut self, walk: &Walk) {
        self.walk = None;
        self.ended = walk.number;
        if walk.plan.full.is_none() {
            if self.gaps.len() < GAPS {
                self.gaps.extend(walk.gaps.iter().cloned());
            }
            if walk.missed_nothing() && walk.unlisted().is_none() {
                self.watermark = self.watermark.take().max(walk.candidate.clone());
            }
            return;
        }
        self.gaps.clone_from(&walk.gaps);
        self.full_walk_at = Some(walk.begun.clone());
        let (number, since) = (walk.number, walk.plan.horizon.clone());
        let clean = walk.is_clean().then_some(CleanWalk { number, since });
        let before = clean.as_ref().and(self.clean.take());
        self.absent = before.map(|before| CleanWalk {
            since: before.since.max(walk.plan.horizon.clone()),
            ..before
        });
        self.clean = clean;
        // What slid over the edge of a page is for the next walk.
        if walk.missed_nothing() {
            // The record with the greatest instant may be gone, so it is that of this walk, and still none of a later page.
            let dates = walk.candidate.clone().zip(walk.greatest.clone());
            self.watermark = dates.map(|(candidate, greatest)| candidate.min(greatest));
            self.full_watermark.clone_from(&self.watermark);
            self.latest.clone_from(&walk.greatest);
        }
    }
}
