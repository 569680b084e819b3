//! Asks the service which date `fromDate` compares.

use chrono::{DateTime, Utc};

use super::absence::latest_first;
use super::calibration::{
    Calibration, Dates, Judgement, Question, Verdict, first_day_after, is_older, just_before,
};
use super::listed_page::ListedPage;
use super::local_record::instant_key;
use super::round::Round;
use super::sync_state::Walk;
use super::{RecordRead, is_answer};
use crate::error::Result;
use crate::model::Timestamp;
use crate::sync::store::{Query, StoreError};

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
type Listed = Vec<(String, Option<DateTime<Utc>>)>;

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
                let from = Timestamp::from_utc(question.from);
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
        let mut changed = Vec::new();
        for row in self
            .replica
            .store
            .query(&latest_first(None, WINDOW))
            .await?
        {
            // A record that was not listed may be gone.
            let dates = Dates::of(&row)?.filter(|_| row.generation >= walk.number);
            changed.extend(dates.filter(|dates| dates.is_surely_created_before(dates.from_date())));
        }
        // One that moves before needs no other record that moves later.
        changed.sort_by_key(|dates| !dates.surely_moves_before(dates.from_date()));
        for dates in changed.into_iter().take(SEARCHES) {
            let is_apart = dates.surely_moves_before(dates.from_date());
            let question = self.since(dates.from_date(), walk, Some(dates)).await?;
            if !question.older.is_empty() && (is_apart || !question.moving.is_empty()) {
                return Ok(Some(question));
            }
        }
        let before = walk.candidate.as_ref().and_then(|shown| shown.text.utc());
        match before.filter(|_| !walk.is_clean()) {
            Some(before) => Ok(Some(self.since(just_before(before), walk, None).await?)),
            None => Ok(None),
        }
    }

    async fn since(
        &self,
        from: DateTime<Utc>,
        walk: &Walk,
        changed: Option<Dates>,
    ) -> Result<Question, StoreError> {
        let before = instant_key(&Timestamp::from_utc(just_before(from)));
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
            changed,
            older,
            moving,
        })
    }

    async fn answer(&self, question: &Question) -> Result<(Verdict, String), StoreError> {
        let open = |why: String| Ok((Verdict::Open, why));
        let refuted = |why: String| Ok((Verdict::Refuted, why));
        let listed = match self.listed_since(question).await {
            Ok(Some(listed)) => listed,
            Ok(None) => return open("the answer is too long".to_owned()),
            Err(error) if is_answer(&error) => {
                return refuted(format!("the service refused it: {error}"));
            }
            Err(error) => return open(format!("it could not be asked: {error}")),
        };
        let ids: Vec<String> = listed.iter().map(|(id, _)| id.clone()).collect();
        let mut known = Vec::new();
        for row in self.replica.store.rows(&ids).await? {
            known.extend(Dates::of(&row)?);
        }
        match question.judge(&listed, &known) {
            Judgement::Refuted(why) => refuted(why),
            Judgement::Missing(dates) if self.is_as(&dates).await => {
                refuted(format!("it did not list {}, changed since", dates.id))
            }
            Judgement::Shown(evidence, left_out) if self.is_there(&left_out).await => {
                Ok((Verdict::Confirmed, evidence))
            }
            Judgement::Open => open(NOTHING.to_owned()),
            _ => open("the records changed while it was asked".to_owned()),
        }
    }

    /// Whether the record is there, and was not changed again.
    async fn is_as(&self, dates: &Dates) -> bool {
        let RecordRead::Found(read) = self.read_record(&dates.id).await else {
            return false;
        };
        let updated = read.record.updated_at.and_then(|at| at.utc());
        updated == Some(dates.updated)
    }

    /// Whether one of the first of these records is still there.
    async fn is_there(&self, ids: &[String]) -> bool {
        for id in ids.iter().take(READS) {
            if self.read_record(id).await.is_there() {
                return true;
            }
        }
        false
    }

    /// What is listed since the date of the question; `None`: it is too long.
    async fn listed_since(&self, question: &Question) -> Result<Option<Listed>> {
        let from = Timestamp::from_utc(question.from);
        let mut pager = self.pager(Some(&from)).look_ahead(0);
        let mut listed = Listed::new();
        for _ in 0..WINDOW.div_ceil(self.replica.page_size as usize) + PAGES {
            let Some(page) = pager.next_page().await? else {
                return Ok(Some(listed));
            };
            for record in ListedPage::new(page).records {
                let updated = record.updated.and_then(|shown| shown.text.utc());
                listed.push((record.id, updated));
            }
            if listed.iter().any(|(_, at)| is_older(*at, question.from)) {
                return Ok(Some(listed));
            }
        }
        Ok(None)
    }
}

const NOTHING: &str = "no record that changed lately tells it apart";
