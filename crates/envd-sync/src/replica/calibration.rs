//! Which date `fromDate` compares: what each reading predicts, and what the service answers when asked.

use std::collections::HashMap;
use std::fmt;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Depth;
use super::absence::latest_first;
use super::local_record::utc;
use super::local_record::{LocalRecord, instant_key};
use super::round::Round;
use super::sync_state::{Walk, Witness};
use super::walk::ListedPage;
use crate::error::Result;
use crate::store::StoreError;
use crate::store::rows::{Query, Row};
use envd_sdk::model::{ConsignmentSummary, Timestamp};
use envd_sdk::profile::ComparedDate;
use envd_sdk::{AsReceived, Pager};

/// What is known of `fromDate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Calibration {
    verdict: Verdict,
    why: String,
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
    fn new(verdict: Verdict, why: String) -> Self {
        Self { verdict, why }
    }

    /// What is known after an answer: one that shows nothing leaves what was known before.
    fn or(self, before: &Self) -> Self {
        if self.verdict == Verdict::Open && before.verdict != Verdict::Open {
            return before.clone();
        }
        self
    }

    /// Why `fromDate` may be relied on, or why not, where the profile names the date or leave it open.
    pub(super) fn reliance(&self, named: Option<ComparedDate>) -> Result<String, String> {
        let named_last_change = "by the profile, fromDate compares the time of the last change";
        let named_another =
            "by the profile, fromDate compares another date than that of the last change";
        match (named, self.verdict) {
            (Some(ComparedDate::Creation | ComparedDate::Movement), _) => {
                Err(named_another.to_owned())
            }
            (Some(ComparedDate::LastChange), Verdict::Open) => Ok(named_last_change.to_owned()),
            (_, Verdict::Confirmed) => Ok(self.to_string()),
            _ => Err(self.to_string()),
        }
    }

    /// Whether the service is to be asked: what the profile says holds until a save of our own was not listed.
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
            Verdict::Open => "it is not known which date the service compares",
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
struct Dates {
    id: String,
    updated: DateTime<Utc>,
    /// It was created then or earlier.
    first_updated: DateTime<Utc>,
    movement_day: Option<String>,
}

impl Dates {
    /// `None` for a record without a time of its last change.
    fn of(row: &Row) -> Result<Option<Self>, StoreError> {
        let record = LocalRecord::from_payload(&row.id, &row.payload)?;
        let updated = record.updated_at().and_then(|at| utc(&at));
        let first = record.first_updated().and_then(utc);
        Ok(updated.zip(first).map(|(updated, first_updated)| Self {
            id: row.id.clone(),
            updated,
            first_updated,
            movement_day: row.keys.movement_day.clone(),
        }))
    }

    /// The `fromDate` for which "changed since" lists this record, and few others.
    fn asked_date(&self) -> DateTime<Utc> {
        just_before(self.updated)
    }

    fn is_surely_created_before(&self, from: DateTime<Utc>) -> bool {
        self.first_updated <= from - SECOND
    }

    /// In every zone, and at every time of the day.
    fn surely_moves_before(&self, from: DateTime<Utc>) -> bool {
        let latest = (from - ENDED).format("%Y-%m-%d").to_string();
        self.movement_day.as_ref().is_some_and(|day| *day <= latest)
    }
}

fn just_before(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(0) - SECOND
}

/// Whether "changed since" surely does not list a record that changed then.
fn is_older(updated: Option<DateTime<Utc>>, from: DateTime<Utc>) -> bool {
    updated.is_none_or(|updated| updated <= from - SECOND)
}

/// The first day on which a movement is surely after this instant.
fn first_day_after(from: DateTime<Utc>) -> String {
    (from + BEGINS).format("%Y-%m-%d").to_string()
}

/// A `fromDate` for which "changed since" and the other readings predict different lists.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Question {
    from: DateTime<Utc>,
    /// The records that "changed since" has to list; none if the answer is to show them.
    changed: Vec<Dates>,
    /// Records that "changed since" does not list and a service that ignores `fromDate` does.
    older: Vec<String>,
    /// Those of them that "moved since" lists.
    moving: Vec<String>,
}

/// What an answer says, before the service is asked for single records.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Judgement {
    Refuted(String),
    /// Confirmed by this if one of these records, which were not listed, is still there as it was.
    Shown(String, Vec<String>),
    Open,
}

impl Question {
    /// Compares the answer with what each reading predicts. `known` is what the copy knows of the listed records.
    ///
    /// What changed since the walk is listed with a later date, which agrees with "changed since".
    fn judge(&self, listed: &[(String, Option<DateTime<Utc>>)], known: &[Dates]) -> Judgement {
        let older = listed.iter().find(|(_, at)| is_older(*at, self.from));
        if let Some((id, _)) = older {
            return Judgement::Refuted(format!("it listed {id}, changed before"));
        }
        let is_listed = |id: &String| listed.iter().any(|(listed, _)| listed == id);
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

/// How many of the records that changed last are looked at for a question.
const WINDOW: usize = 300;

/// For how many questions the copy is searched for records that tell the readings apart.
const SEARCHES: usize = 8;

/// How many records that were not changed since are looked for in an answer, and how many of them are read at most.
const OLDER: usize = 20;
const READS: usize = 3;

/// The longest answer, in pages beside those of the records that are known.
const PAGES: usize = 3;

/// Listed records and their dates.
type ListedDates = Vec<(String, Option<DateTime<Utc>>)>;

/// The days on which they move.
type Days = HashMap<String, Option<String>>;

impl Round<'_> {
    /// Asks once more with a `fromDate` for which the readings differ, after a full walk.
    pub(super) async fn calibrate(&mut self, walk: &Walk) -> Result<()> {
        let found = match self.question(walk).await? {
            _ if walk.undated > 0 => {
                let why = format!("{} records show no time of their last change", walk.undated);
                Calibration::new(Verdict::Open, why)
            }
            Some(question) => {
                let (verdict, why) = self.answer(&question).await?;
                let from = Timestamp::from(question.from);
                let why = format!("asked with {from}, {why}");
                Calibration::new(verdict, why).or(&self.base.value.calibration)
            }
            None => {
                Calibration::new(Verdict::Open, NOTHING.to_owned()).or(&self.base.value.calibration)
            }
        };
        self.change_state(|state| state.calibration = found.clone())
            .await
    }

    /// The question with the shortest answer that tells all readings apart. Where the list moved during the walk, the answer
    /// may show what the copy does not know yet.
    async fn question(&self, walk: &Walk) -> Result<Option<Question>, StoreError> {
        let mut latest = Vec::new();
        for row in self
            .replica
            .store
            .query(&latest_first(None, WINDOW))
            .await?
        {
            // A record that was not listed may be gone.
            latest.extend(Dates::of(&row)?.filter(|_| row.generation >= walk.number));
        }
        let mut changed: Vec<&Dates> = latest.iter().collect();
        changed.retain(|dates| dates.is_surely_created_before(dates.asked_date()));
        // One that moves before needs no other record that moves later.
        changed.sort_by_key(|dates| !dates.surely_moves_before(dates.asked_date()));
        for dates in changed.into_iter().take(SEARCHES) {
            let from = dates.asked_date();
            let mut question = self.since(from, walk).await?;
            let is_apart = dates.surely_moves_before(from) || !question.moving.is_empty();
            if is_apart && !question.older.is_empty() {
                let since = latest
                    .iter()
                    .filter(|dates| !is_older(Some(dates.updated), from));
                question.changed = since.cloned().collect();
                return Ok(Some(question));
            }
        }
        let before = walk.candidate.as_ref().and_then(|shown| utc(&shown.text));
        match before.filter(|_| !walk.is_clean()) {
            Some(before) => Ok(Some(self.since(just_before(before), walk).await?)),
            None => Ok(None),
        }
    }

    /// A question whose answer is to show what changed.
    async fn since(&self, from: DateTime<Utc>, walk: &Walk) -> Result<Question, StoreError> {
        let before = instant_key(&Timestamp::from(just_before(from)));
        let mut ids = [Vec::new(), Vec::new()];
        for (ids, movement_from) in ids.iter_mut().zip([None, Some(first_day_after(from))]) {
            let query = Query {
                movement_from,
                ..latest_first(before.clone(), OLDER)
            };
            let rows = self.replica.store.query(&query).await?.into_iter();
            // One that was not listed tells nothing by being left out again.
            let listed = rows.filter(|row| row.generation >= walk.number);
            ids.extend(listed.map(|row| row.id));
        }
        let [older, moving] = ids;
        Ok(Question {
            from,
            changed: Vec::new(),
            older,
            moving,
        })
    }

    async fn answer(&self, question: &Question) -> Result<(Verdict, String), StoreError> {
        let open = |why: String| Ok((Verdict::Open, why));
        let refuted = |why: String| Ok((Verdict::Refuted, why));
        let (listed, mut days) = match self.listed_since(question).await {
            Ok(Some(answer)) => answer,
            Ok(None) => return open("the answer is too long".to_owned()),
            Err(error) if error.is_answer() => {
                return refuted(format!("the service refused it: {error}"));
            }
            Err(error) => return open(format!("it could not be asked: {error}")),
        };
        let ids: Vec<String> = listed.iter().map(|(id, _)| id.clone()).collect();
        let mut known = Vec::new();
        for row in self.replica.store.rows(&ids).await? {
            known.extend(Dates::of(&row)?);
        }
        for dates in &mut known {
            // It may have changed since the copy was made.
            dates.movement_day = days.remove(&dates.id).flatten();
        }
        let is_listed = |dates: &&Dates| listed.iter().any(|(id, _)| *id == dates.id);
        let missing = question.changed.iter().filter(|dates| !is_listed(dates));
        for Dates { id, updated, .. } in missing.take(READS) {
            // One that changed again may have moved over the edge of a page.
            if self.read_record(id).await.changed_at() == Some(*updated) {
                return refuted(format!("it did not list {id}, changed since"));
            }
        }
        match question.judge(&listed, &known) {
            Judgement::Refuted(why) => refuted(why),
            Judgement::Shown(evidence, left_out)
                if self.is_unchanged(&left_out, question.from).await =>
            {
                Ok((Verdict::Confirmed, evidence))
            }
            Judgement::Open => open(NOTHING.to_owned()),
            Judgement::Shown(..) => open("the records changed while it was asked".to_owned()),
        }
    }

    /// Whether one of the first of these records is still there, and has not changed since. One that has may have been left
    /// out for its new day of movement.
    async fn is_unchanged(&self, ids: &[String], from: DateTime<Utc>) -> bool {
        for id in ids.iter().take(READS) {
            let changed = self.read_record(id).await.changed_at();
            if changed.is_some_and(|at| is_older(Some(at), from)) {
                return true;
            }
        }
        false
    }

    /// What is listed since the date of the question; `None`: it is too long.
    async fn listed_since(&self, question: &Question) -> Result<Option<(ListedDates, Days)>> {
        let from = Timestamp::from(question.from);
        let mut pager = self.pager(Some(&from)).look_ahead(0);
        let listed = self.listed_by(&mut pager, question).await;
        self.requested(pager.requests());
        listed
    }

    async fn listed_by(
        &self,
        pager: &mut Pager<AsReceived<ConsignmentSummary>>,
        question: &Question,
    ) -> Result<Option<(ListedDates, Days)>> {
        let (mut listed, mut days) = (ListedDates::new(), Days::new());
        for _ in 0..WINDOW.div_ceil(self.replica.page_size as usize) + PAGES {
            let Some(page) = pager.next_page().await? else {
                return Ok(Some((listed, days)));
            };
            for record in ListedPage::new(page).records {
                let updated = record.updated.and_then(|shown| utc(&shown.text));
                let keys = LocalRecord::new(&record.json, Depth::Summary, None).keys();
                days.insert(record.id.clone(), keys.movement_day);
                listed.push((record.id, updated));
            }
            if listed.iter().any(|(_, at)| is_older(*at, question.from)) {
                return Ok(Some((listed, days)));
            }
        }
        Ok(None)
    }
}

const NOTHING: &str = "no record that changed lately tells it apart";

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
            changed: Vec::new(),
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
