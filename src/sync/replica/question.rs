//! Asks the service which date `fromDate` compares.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::{DateTime, Utc};

use super::calibration::{
    Answer, Calibration, Dates, Judgement, Question, first_day_after, is_older, just_before,
};
use super::commit::VersionedState;
use super::listed_page::ListedPage;
use super::local_record::instant_key;
use super::round::Round;
use super::sync_state::Walk;
use super::{RecordRead, is_answer};
use crate::error::Result;
use crate::model::Timestamp;
use crate::ops::ConsignmentFilter;
use crate::sync::store::{Order, Query, Row, RowKeys, StoreError};

/// How many of the records that changed last are looked at for a question.
const WINDOW: usize = 300;

/// For how many questions the copy is searched for movements that tell the readings apart.
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
    pub(super) async fn calibrate(
        &mut self,
        mut base: VersionedState,
        walk: &Walk,
    ) -> Result<VersionedState> {
        let mut calibration = base.state.calibration.clone();
        if walk.undated > 0 {
            let why = format!("{} records show no time of their last change", walk.undated);
            calibration = Calibration::open(why);
        } else if let Some(question) = self.question(walk).await? {
            let from = Timestamp::from_utc(question.from);
            let answer = self.answer(&question, &from).await?;
            calibration.take(from, answer, self.replica.now());
        } else {
            let answer = Answer::Open(NOTHING.to_owned());
            calibration.take(Timestamp::from(""), answer, self.replica.now());
        }
        while base.state.calibration != calibration {
            let mut state = base.state.clone();
            state.calibration = calibration.clone();
            base = match self.replica.commit_state(&base, state).await? {
                Some(after) => return Ok(after),
                None => self.replica.load().await?,
            };
        }
        Ok(base)
    }

    /// The question with the shortest answer that tells all readings apart. Where the list moved during the walk, the answer
    /// may show what the copy does not know yet.
    async fn question(&self, walk: &Walk) -> Result<Option<Question>, StoreError> {
        let rows = self.latest_first(None, None, WINDOW).await?;
        let mut searched = HashSet::new();
        // A record that was not listed may be gone.
        for row in rows.iter().filter(|row| row.generation >= walk.number) {
            let Some(dates) = Dates::of(row)? else {
                continue;
            };
            let from = dates.from_date();
            if !dates.is_surely_created_before(from) {
                continue;
            }
            let is_apart = dates.surely_moves_before(from);
            if is_apart || searched.len() < SEARCHES && searched.insert(first_day_after(from)) {
                let question = self.since(from, Some(dates)).await?;
                if !question.older.is_empty() && (is_apart || !question.moving.is_empty()) {
                    return Ok(Some(question));
                }
            }
        }
        let before = walk.candidate.as_ref().and_then(|shown| shown.text.utc());
        match before.filter(|_| !walk.is_clean()) {
            Some(before) => Ok(Some(self.since(just_before(before), None).await?)),
            None => Ok(None),
        }
    }

    async fn since(
        &self,
        from: DateTime<Utc>,
        changed: Option<Dates>,
    ) -> Result<Question, StoreError> {
        let ids = |rows: Vec<Row>| rows.into_iter().map(|row| row.id).collect();
        let day = first_day_after(from);
        Ok(Question {
            from,
            changed,
            older: ids(self.latest_first(Some(from), None, OLDER).await?),
            moving: ids(self.latest_first(Some(from), Some(day), OLDER).await?),
        })
    }

    /// Rows of records that changed surely before an instant and move from a day on.
    async fn latest_first(
        &self,
        before: Option<DateTime<Utc>>,
        movement_from: Option<String>,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let after = before.map(|before| Row {
            keys: RowKeys {
                updated_at: instant_key(&Timestamp::from_utc(just_before(before))),
                ..RowKeys::default()
            },
            ..Row::default()
        });
        let query = Query {
            movement_from,
            order: Order::LastUpdated,
            after,
            limit,
            ..Query::default()
        };
        let replica = self.replica;
        replica.store().query(replica.key(), &query).await
    }

    async fn answer(&self, question: &Question, from: &Timestamp) -> Result<Answer, StoreError> {
        let listed = match self.listed_since(question, from).await {
            Ok(Some(listed)) => listed,
            Ok(None) => return Ok(Answer::Open("the answer is too long".to_owned())),
            Err(error) if is_answer(&error) => {
                return Ok(Answer::Refuted(format!("the service refused it: {error}")));
            }
            Err(error) => return Ok(Answer::Open(format!("it could not be asked: {error}"))),
        };
        let ids: Vec<String> = listed.iter().map(|(id, _)| id.clone()).collect();
        let replica = self.replica;
        let rows = replica.store().rows(replica.key(), &ids).await?;
        let known: Vec<Option<Dates>> = rows.iter().map(Dates::of).collect::<Result<_, _>>()?;
        let known: Vec<Dates> = known.into_iter().flatten().collect();
        Ok(match question.judge(&listed, &known) {
            Judgement::Refuted(why) => Answer::Refuted(why),
            Judgement::Missing(dates) if self.is_as(&dates).await => {
                Answer::Refuted(format!("it did not list {}, changed since", dates.id))
            }
            Judgement::Shown(evidence, left_out) if self.is_there(&left_out).await => {
                Answer::Confirmed(evidence)
            }
            Judgement::Open => Answer::Open(NOTHING.to_owned()),
            _ => Answer::Open("the records changed while it was asked".to_owned()),
        })
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

    /// What is listed with this `fromDate`; `None`: it is too long.
    async fn listed_since(&self, question: &Question, from: &Timestamp) -> Result<Option<Listed>> {
        let filter = ConsignmentFilter::default()
            .page_size(self.replica.settings.page_size)
            .from(from.clone());
        let requests = Arc::clone(&self.requests);
        let requested = move || {
            requests.fetch_add(1, Ordering::Relaxed);
        };
        let account = self.replica.account();
        let mut pager = account
            .received_consignments(&filter, requested)
            .look_ahead(0);
        let mut listed = Listed::new();
        for _ in 0..WINDOW.div_ceil(self.replica.settings.page_size as usize) + PAGES {
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
