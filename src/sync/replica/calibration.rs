//! Which date `fromDate` compares: what each reading predicts, and what the service answers.

use std::collections::HashSet;
use std::fmt;

use chrono::{DateTime, Days, SubsecRound, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::local_record::LocalRecord;
use super::sync_state::Witness;
use crate::auth::StoreError;
use crate::model::Timestamp;
use crate::sync::store::Row;

/// What is known of `fromDate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Calibration {
    verdict: Verdict,
    why: String,
    /// The `fromDate` of the question.
    from: Option<Timestamp>,
    /// When it was asked, on our clock.
    at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Verdict {
    /// Nothing told the readings apart so far.
    #[default]
    Open,
    /// It compares the time of the last change.
    Confirmed,
    Refuted,
}

impl Calibration {
    pub(super) fn is_confirmed(&self) -> bool {
        self.verdict == Verdict::Confirmed
    }

    pub(super) fn refute_by_witness(&mut self, missing: &[Witness]) {
        self.verdict = Verdict::Refuted;
        let ids: Vec<&str> = missing.iter().map(|witness| witness.id.as_str()).collect();
        self.why = format!("did not list {}, saved before", ids.join(", "));
    }

    /// The answer to a question.
    pub(super) fn answered(question: &Question, answer: Result<(), String>, at: Timestamp) -> Self {
        let (verdict, why) = match answer {
            Ok(()) => (Verdict::Confirmed, question.evidence.clone()),
            Err(why) => (Verdict::Refuted, why),
        };
        Self {
            verdict,
            why,
            from: Some(question.from.clone()),
            at: Some(at),
        }
    }

    /// Nothing is known any more.
    pub(super) fn open(why: String) -> Self {
        Self {
            why,
            ..Self::default()
        }
    }

    /// Notes why a question was not asked or answered. What was confirmed before stays.
    pub(super) fn stay_open(&mut self, why: String) {
        if !self.is_confirmed() {
            (self.verdict, self.why) = (Verdict::Open, why);
        }
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.verdict {
            Verdict::Open => "which date fromDate compares is not known",
            Verdict::Confirmed => "fromDate compares the time of the last change",
            Verdict::Refuted => "fromDate is not relied on",
        })?;
        if let Some(from) = &self.from {
            write!(f, "; asked with {from}")?;
        }
        if self.why.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.why)
    }
}

/// A `fromDate` for which "changed since" and the other readings predict different lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) from: Timestamp,
    /// The records that "changed since" has to list.
    pub(super) expected: HashSet<String>,
    /// Records that "changed since" does not list and "moved since" does; none is needed where an expected one was created
    /// and moves before.
    pub(super) moving: Vec<String>,
    /// Records that it does not list and a service that ignores `fromDate` does.
    older: Vec<String>,
    /// An expected record that was there before.
    created_before: String,
    needs_moving: bool,
    evidence: String,
}

/// What the copy knows of the dates of a record. Rows are given with the latest change first.
#[derive(Clone, Debug)]
pub(super) struct Dates {
    pub(super) id: String,
    updated: DateTime<Utc>,
    /// It was created then or earlier.
    first_updated: DateTime<Utc>,
    movement_day: Option<String>,
}

impl Dates {
    /// `None` for a record without a time of its last change.
    pub(super) fn of(row: &Row) -> Result<Option<Self>, StoreError> {
        let record = LocalRecord::from_payload(&row.id, &row.payload)?;
        let updated = record.updated_at().and_then(|at| at.utc());
        let first = record.first_updated().and_then(Timestamp::utc);
        Ok(updated.zip(first).map(|(updated, first_updated)| Self {
            id: row.id.clone(),
            updated,
            first_updated,
            movement_day: row.keys.movement_day.clone(),
        }))
    }

    /// The `fromDate` for which this record is the last of the list.
    fn from(&self) -> DateTime<Utc> {
        self.updated.trunc_subsecs(0) - SECOND
    }

    /// So that "changed since" surely does not list it.
    pub(super) fn is_older_than(&self, from: &Timestamp) -> bool {
        from.utc().is_some_and(|from| self.updated <= from - SECOND)
    }

    fn is_surely_created_before(&self, from: DateTime<Utc>) -> bool {
        self.first_updated <= from - SECOND
    }

    /// In every zone, and at every time of the day.
    fn surely_moves_before(&self, from: DateTime<Utc>) -> bool {
        let latest = day(from, Days::new(2), false);
        let moves = self.movement_day.as_ref().zip(latest);
        moves.is_some_and(|(day, latest)| *day <= latest)
    }
}

/// How precisely a service may compare instants.
const SECOND: TimeDelta = TimeDelta::seconds(1);

fn day(from: DateTime<Utc>, distance: Days, later: bool) -> Option<String> {
    let day = if later {
        from.checked_add_days(distance)
    } else {
        from.checked_sub_days(distance)
    };
    day.map(|day| day.format("%Y-%m-%d").to_string())
}

/// The first day on which a movement is surely after this instant.
pub(super) fn first_day_after(from: &Timestamp) -> Option<String> {
    day(from.utc()?, Days::new(2), true)
}

/// The questions that may be asked, the one with the shortest answer first; each with the index of its last record.
///
/// Each has an expected record that was created before: "created since" does not list it.
pub(super) fn questions(latest_first: &[Dates]) -> impl Iterator<Item = (usize, Question)> {
    latest_first.iter().enumerate().filter_map(|(last, dates)| {
        let from = dates.from();
        let (listed, older) = latest_first.split_at(last + 1);
        let mut created_before = listed
            .iter()
            .filter(|dates| dates.is_surely_created_before(from))
            .peekable();
        let first = created_before.peek()?.id.clone();
        let is_apart = created_before.any(|dates| dates.surely_moves_before(from));
        let older = older.iter().filter(|dates| dates.updated <= from - SECOND);
        let older: Vec<String> = older.take(20).map(|dates| dates.id.clone()).collect();
        let expected: HashSet<String> = listed.iter().map(|dates| dates.id.clone()).collect();
        let question = Question {
            evidence: match expected.len() {
                1 => format!("it listed the one record changed since, {first}, created before"),
                count => format!(
                    "it listed the {count} records changed since, among them {first}, created before"
                ),
            },
            from: Timestamp::from_utc(from),
            expected,
            moving: Vec::new(),
            older,
            created_before: first,
            needs_moving: !is_apart,
        };
        (!question.older.is_empty()).then_some((last, question))
    })
}

impl Question {
    /// Whether "moved since" predicts another list.
    pub(super) fn tells_movement_apart(&self) -> bool {
        !self.needs_moving || !self.moving.is_empty()
    }

    /// Compares the list with the prediction. `Ok(None)`: what told the readings apart has changed meanwhile.
    ///
    /// A record that changed since the walk is listed with a later time, which agrees with the prediction.
    pub(super) fn judge(
        &self,
        listed: &Listed,
        gone: &HashSet<String>,
    ) -> Option<Result<(), String>> {
        if let Some(id) = &listed.older {
            return Some(Err(format!("it listed {id}, changed before")));
        }
        let missing = self
            .expected
            .iter()
            .find(|id| !listed.ids.contains(*id) && !gone.contains(*id));
        if let Some(id) = missing {
            return Some(Err(format!("it did not list {id}, changed since")));
        }
        let is_told_apart =
            listed.ids.contains(&self.created_before) && self.left_out(listed).next().is_some();
        is_told_apart.then_some(Ok(()))
    }

    /// The records that were not listed, and would have been by another reading; each must still be there to show it.
    pub(super) fn left_out<'a>(&'a self, listed: &'a Listed) -> impl Iterator<Item = &'a String> {
        let telling = if self.needs_moving {
            &self.moving
        } else {
            &self.older
        };
        telling.iter().filter(|id| !listed.ids.contains(*id))
    }
}

/// What the service listed.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) ids: HashSet<String>,
    /// A record that changed last before the `fromDate`.
    pub(super) older: Option<String>,
}

impl Listed {
    pub(super) fn add(&mut self, id: String, updated: Option<&Timestamp>, from: &Timestamp) {
        let updated = updated.and_then(Timestamp::utc);
        let is_older = updated
            .zip(from.utc())
            .is_none_or(|(updated, from)| updated <= from - SECOND);
        if is_older {
            self.older.get_or_insert_with(|| id.clone());
        }
        self.ids.insert(id);
    }
}
