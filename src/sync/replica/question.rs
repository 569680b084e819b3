//! Asks the service which date `fromDate` compares.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::calibration::{Calibration, Dates, Listed, Question, first_day_after, questions};
use super::commit::VersionedState;
use super::listed_page::ListedPage;
use super::round::Round;
use super::sync_state::Walk;
use super::{RecordRead, is_answer};
use crate::error::{Error, Result};
use crate::ops::ConsignmentFilter;
use crate::sync::store::{Order, Query, Row, StoreError};

/// How many of the records that changed last are looked at for a question.
const WINDOW: usize = 300;

/// For how many questions the copy is searched for movements that tell the readings apart.
const SEARCHES: usize = 8;

/// How many records that the answer lacks are read at most, since they may be gone.
const READS: usize = 3;

impl Round<'_> {
    /// Asks once more with a `fromDate` for which the readings differ, after a full walk that was clean.
    pub(super) async fn calibrate(
        &mut self,
        base: VersionedState,
        walk: &Walk,
    ) -> Result<VersionedState> {
        let mut calibration = base.state.calibration.clone();
        if walk.undated > 0 {
            let why = format!("{} records show no time of their last change", walk.undated);
            calibration = Calibration::open(why);
        } else if let Some(question) = self.question(walk).await? {
            calibration = self.ask(&question, calibration).await?;
        } else {
            calibration.stay_open("no record that changed lately tells it apart".to_owned());
        }
        self.keep(base, calibration).await
    }

    /// Writes the result, unless nothing is new.
    async fn keep(
        &self,
        mut base: VersionedState,
        calibration: Calibration,
    ) -> Result<VersionedState> {
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

    /// The question with the shortest answer that tells all readings apart.
    async fn question(&self, walk: &Walk) -> Result<Option<Question>, StoreError> {
        let query = Query {
            order: Order::LastUpdated,
            limit: WINDOW,
            ..Query::default()
        };
        let rows = self
            .replica
            .store()
            .query(self.replica.key(), &query)
            .await?;
        let (mut dates, mut kept) = (Vec::new(), Vec::new());
        // A record that was not listed may be gone.
        for row in rows.into_iter().filter(|row| row.generation >= walk.number) {
            if let Some(of_row) = Dates::of(&row)? {
                dates.push(of_row);
                kept.push(row);
            }
        }
        let mut searched = HashSet::new();
        for (last, mut question) in questions(&dates) {
            if question.tells_movement_apart() {
                return Ok(Some(question));
            }
            let Some(day) = first_day_after(&question.from) else {
                continue;
            };
            if searched.len() == SEARCHES || !searched.insert(day.clone()) {
                continue;
            }
            let Some(last) = kept.get(last) else {
                continue;
            };
            question.moving = self.moving_later(day, last, &question).await?;
            if question.tells_movement_apart() {
                return Ok(Some(question));
            }
        }
        Ok(None)
    }

    /// Records that move from this day on and changed before the `fromDate`.
    async fn moving_later(
        &self,
        day: String,
        last: &Row,
        question: &Question,
    ) -> Result<Vec<String>, StoreError> {
        let query = Query {
            movement_from: Some(day),
            order: Order::LastUpdated,
            after: Some(last.clone()),
            limit: 20,
            ..Query::default()
        };
        let rows = self
            .replica
            .store()
            .query(self.replica.key(), &query)
            .await?;
        let mut moving = Vec::new();
        for row in rows {
            let is_listed = row.generation >= last.generation;
            let dates = Dates::of(&row)?.filter(|dates| dates.is_older_than(&question.from));
            if is_listed && dates.is_some() {
                moving.push(row.id);
            }
        }
        Ok(moving)
    }

    async fn ask(&mut self, question: &Question, before: Calibration) -> Result<Calibration> {
        let mut calibration = before;
        let listed = match self.listed_since(question).await {
            Ok(listed) => listed,
            Err(error) if is_answer(&error) => {
                let why = Err(format!("the service refused it: {error}"));
                return Ok(Calibration::answered(question, why, self.replica.now()));
            }
            // The next full walk asks again.
            Err(error) => {
                calibration.stay_open(format!("it could not be asked: {error}"));
                return Ok(calibration);
            }
        };
        let gone = self.gone_since(question, &listed).await;
        let mut answer = question.judge(&listed, &gone);
        if answer == Some(Ok(())) && !self.shows_one(question.left_out(&listed)).await {
            answer = None;
        }
        if let Some(answer) = answer {
            return Ok(Calibration::answered(question, answer, self.replica.now()));
        }
        calibration.stay_open("the records changed while it was asked".to_owned());
        Ok(calibration)
    }

    /// Whether one of the first of these records is still there.
    async fn shows_one(&self, ids: impl Iterator<Item = &String>) -> bool {
        for id in ids.take(READS) {
            if matches!(self.read_record(id).await, RecordRead::Found(_)) {
                return true;
            }
        }
        false
    }

    async fn listed_since(&self, question: &Question) -> Result<Listed> {
        let size = self.replica.settings.page_size;
        let filter = ConsignmentFilter::default()
            .page_size(size)
            .from(question.from.clone());
        let requests = Arc::clone(&self.requests);
        let requested = move || {
            requests.fetch_add(1, Ordering::Relaxed);
        };
        let account = self.replica.account();
        let mut pager = account
            .received_consignments(&filter, requested)
            .look_ahead(0);
        // What changed since the walk comes on top.
        let most = question.expected.len() / size as usize + 3;
        let mut listed = Listed::default();
        for _ in 0..most {
            let Some(page) = pager.next_page().await? else {
                return Ok(listed);
            };
            for record in ListedPage::new(page).records {
                let updated = record.updated.map(|shown| shown.text);
                listed.add(record.id, updated.as_ref(), &question.from);
            }
            if listed.older.is_some() {
                return Ok(listed);
            }
        }
        if pager.next_page().await?.is_none() {
            return Ok(listed);
        }
        Err(Error::protocol("it lists more records than changed since"))
    }

    /// Of the records that the answer lacks, those that the service does not find any more.
    async fn gone_since(&self, question: &Question, listed: &Listed) -> HashSet<String> {
        let mut gone = HashSet::new();
        let missing = question.expected.difference(&listed.ids);
        for id in missing.take(READS) {
            let read = self.read_record(id).await.unlisted();
            if matches!(read, RecordRead::Gone(_)) {
                gone.insert(id.clone());
            }
        }
        gone
    }
}
