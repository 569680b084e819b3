//! Which date `fromDate` compares: what each reading predicts, and what the service answers.

use std::fmt;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::local_record::LocalRecord;
use super::sync_state::Witness;
use crate::auth::StoreError;
use crate::model::Timestamp;
use crate::sync::store::Row;

/// Which date of a consignment the argument `fromDate` of lists is compared with. assumed: no source says.
///
/// See [`Replica::from_date_compares`](super::Replica::from_date_compares) for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ComparedDate {
    /// The time of the last change.
    LastChange,
    /// The time of the creation.
    Creation,
    /// The date of the movement.
    Movement,
}

/// What is known of `fromDate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Calibration {
    verdict: Verdict,
    why: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Verdict {
    /// Nothing told the readings apart so far.
    #[default]
    Open,
    /// It compares the time of the last change.
    Confirmed,
    Refuted,
}

impl Calibration {
    pub(super) fn new(verdict: Verdict, why: String) -> Self {
        Self { verdict, why }
    }

    /// What is known after an answer: one that shows nothing leaves what was known before.
    pub(super) fn or(self, before: &Self) -> Self {
        if self.verdict == Verdict::Open && before.verdict != Verdict::Open {
            return before.clone();
        }
        self
    }

    /// Why `fromDate` may be relied on, or why not, where the settings name the date or leave it open.
    pub(super) fn reliance(&self, named: Option<ComparedDate>) -> Result<String, String> {
        let named_last_change = "by the settings, fromDate compares the time of the last change";
        let named_another =
            "by the settings, fromDate compares another date than that of the last change";
        match (named, self.verdict) {
            (Some(ComparedDate::Creation | ComparedDate::Movement), _) => {
                Err(named_another.to_owned())
            }
            (Some(ComparedDate::LastChange), Verdict::Open) => Ok(named_last_change.to_owned()),
            (_, Verdict::Confirmed) => Ok(self.to_string()),
            _ => Err(self.to_string()),
        }
    }

    /// Whether the service is to be asked: what the settings say holds until a save of our own was not listed.
    pub(super) fn is_open(&self, named: Option<ComparedDate>) -> bool {
        let is_refuted = self.verdict == Verdict::Refuted;
        named.is_none_or(|named| named == ComparedDate::LastChange && is_refuted)
    }

    pub(super) fn refute_by_witness(&mut self, missing: &[Witness]) {
        let ids: Vec<&str> = missing.iter().map(|witness| witness.id.as_str()).collect();
        let why = format!("did not list {}, saved before", ids.join(", "));
        *self = Self::new(Verdict::Refuted, why);
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.verdict {
            Verdict::Open => "which date fromDate compares is not known",
            Verdict::Confirmed => "fromDate compares the time of the last change",
            Verdict::Refuted => "fromDate is not relied on",
        })?;
        match &*self.why {
            "" => Ok(()),
            why => write!(f, ": {why}"),
        }
    }
}

/// How precisely a service may compare instants.
const SECOND: TimeDelta = TimeDelta::seconds(1);

/// How far the days of a movement reach in UTC: a day ends everywhere 12 hours after its end in UTC, and begins nowhere earlier
/// than 14 hours before its beginning in UTC.
const ENDED: TimeDelta = TimeDelta::hours(24 + 12);
const BEGINS: TimeDelta = TimeDelta::hours(14 + 24);

/// What the copy knows of the dates of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dates {
    pub(super) id: String,
    pub(super) updated: DateTime<Utc>,
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

    /// The `fromDate` for which "changed since" lists this record, and few others.
    pub(super) fn from_date(&self) -> DateTime<Utc> {
        just_before(self.updated)
    }

    pub(super) fn is_surely_created_before(&self, from: DateTime<Utc>) -> bool {
        self.first_updated <= from - SECOND
    }

    /// In every zone, and at every time of the day.
    pub(super) fn surely_moves_before(&self, from: DateTime<Utc>) -> bool {
        let latest = (from - ENDED).format("%Y-%m-%d").to_string();
        self.movement_day.as_ref().is_some_and(|day| *day <= latest)
    }
}

pub(super) fn just_before(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(0) - SECOND
}

/// Whether "changed since" surely does not list a record that changed then.
pub(super) fn is_older(updated: Option<DateTime<Utc>>, from: DateTime<Utc>) -> bool {
    updated.is_none_or(|updated| updated <= from - SECOND)
}

/// The first day on which a movement is surely after this instant.
pub(super) fn first_day_after(from: DateTime<Utc>) -> String {
    (from + BEGINS).format("%Y-%m-%d").to_string()
}

/// A `fromDate` for which "changed since" and the other readings predict different lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) from: DateTime<Utc>,
    /// A record that "changed since" has to list, and "created since" does not; `None` if the answer may show one.
    pub(super) changed: Option<Dates>,
    /// Records that "changed since" does not list and a service that ignores `fromDate` does.
    pub(super) older: Vec<String>,
    /// Those of them that "moved since" lists.
    pub(super) moving: Vec<String>,
}

/// What an answer says, before the service is asked for single records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Refuted(String),
    /// Refuted if this record is still there and was not changed again, which may have moved it over the edge of a page.
    Missing(Dates),
    /// Confirmed by this if one of these records, which were not listed, is still there.
    Shown(String, Vec<String>),
    Open,
}

impl Question {
    /// Compares the answer with what each reading predicts. `known` is what the copy knows of the listed records.
    ///
    /// What changed since the walk is listed with a later date, which agrees with "changed since".
    pub(super) fn judge(
        &self,
        listed: &[(String, Option<DateTime<Utc>>)],
        known: &[Dates],
    ) -> Judgement {
        let older = listed.iter().find(|(_, at)| is_older(*at, self.from));
        if let Some((id, _)) = older {
            return Judgement::Refuted(format!("it listed {id}, changed before"));
        }
        let is_listed = |id: &String| listed.iter().any(|(listed, _)| listed == id);
        if let Some(dates) = self.changed.as_ref().filter(|dates| !is_listed(&dates.id)) {
            return Judgement::Missing(dates.clone());
        }
        let created_before = || {
            let known = known.iter();
            known.filter(|dates| dates.is_surely_created_before(self.from))
        };
        let is_apart = |dates: &&Dates| dates.surely_moves_before(self.from);
        let (shown, left_out) = match created_before().find(is_apart) {
            Some(shown) => (Some(shown), &self.older),
            None => (created_before().next(), &self.moving),
        };
        let mut left_out = left_out.clone();
        left_out.retain(|id| !is_listed(id));
        let (Some(shown), Some(first)) = (shown, left_out.first()) else {
            return Judgement::Open;
        };
        let id = &shown.id;
        let evidence = format!("it listed {id}, changed since and created before, and not {first}");
        Judgement::Shown(evidence, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn dates(id: &str, first: &str, moves: &str) -> Dates {
        Dates {
            id: id.to_owned(),
            updated: at("2026-11-20T12:00:00Z"),
            first_updated: at(first),
            movement_day: Some(moves.to_owned()),
        }
    }

    #[test]
    fn only_changed_since_explains_a_record_that_was_created_and_moves_before() {
        let question = Question {
            from: at("2026-11-20T11:59:59Z"),
            changed: Some(dates("r", "2026-11-01T00:00:00Z", "2026-11-18")),
            older: vec!["o".to_owned(), "m".to_owned()],
            moving: vec!["m".to_owned()],
        };
        let listed = |ids: &[(&str, &str)]| -> Vec<_> {
            let listed = ids.iter();
            listed
                .map(|(id, updated)| ((*id).to_owned(), Some(at(updated))))
                .collect()
        };
        let (now, before) = ("2026-11-20T12:00:00Z", "2026-11-20T11:59:58Z");
        let (long_ago, just_now) = ("2026-11-01T00:00:00Z", now);
        let shown = |left_out: &str| Some(left_out.to_owned());
        for (listed, known, expected) in [
            (
                listed(&[("r", now)]),
                dates("r", long_ago, "2026-11-18"),
                shown("o"),
            ),
            (
                listed(&[("n", now), ("r", now)]),
                dates("r", long_ago, "2026-11-18"),
                shown("o"),
            ),
            // "Moved since" lists it as well, and m.
            (
                listed(&[("r", now)]),
                dates("r", long_ago, "2026-11-20"),
                shown("m"),
            ),
            (
                listed(&[("r", now), ("m", now)]),
                dates("r", long_ago, "2026-11-20"),
                None,
            ),
            // "Created since" lists it as well.
            (
                listed(&[("r", now)]),
                dates("r", just_now, "2026-11-18"),
                None,
            ),
            // "Ignored" lists them.
            (
                listed(&[("r", now), ("o", now), ("m", now)]),
                dates("r", long_ago, "2026-11-18"),
                None,
            ),
        ] {
            let judgement = question.judge(&listed, &[known]);
            let left_out = match &judgement {
                Judgement::Shown(_, left_out) => left_out.first().cloned(),
                other => {
                    assert_eq!(*other, Judgement::Open, "{listed:?}");
                    None
                }
            };
            assert_eq!(left_out, expected, "{listed:?}");
        }
        let judgement = question.judge(&listed(&[("r", now), ("o", before)]), &[]);
        assert!(matches!(judgement, Judgement::Refuted(_)));
        let judgement = question.judge(&listed(&[("n", now)]), &[]);
        assert!(matches!(judgement, Judgement::Missing(dates) if dates.id == "r"));
    }

    #[test]
    fn days_of_movements_are_apart_in_every_zone() {
        for (from, before, after) in [
            ("2026-11-20T00:00:00Z", "2026-11-18", "2026-11-21"),
            ("2026-11-20T09:59:59Z", "2026-11-18", "2026-11-21"),
            ("2026-11-20T10:00:00Z", "2026-11-18", "2026-11-22"),
            ("2026-11-20T12:00:00Z", "2026-11-19", "2026-11-22"),
        ] {
            let from = at(from);
            assert!(dates("r", "2026-11-01T00:00:00Z", before).surely_moves_before(from));
            assert_eq!(first_day_after(from), after, "{from}");
        }
        assert!(
            !dates("r", "2026-11-01T00:00:00Z", "2026-11-19")
                .surely_moves_before(at("2026-11-20T11:59:59Z"))
        );
    }
}
