//! Which absent records are gone: those that the service does not show when asked for them either.

use futures_util::{StreamExt, stream};

use super::change::ChangeKind;
use super::commit::{Draft, VersionedState};
use super::local_record::LocalRecord;
use super::round::{Round, is_answer};
use crate::error::Result;
use crate::model::{Condition, ServerError};
use crate::sync::store::{Order, Query, Row};

/// How many absent rows are in memory at a time.
const CHUNK: usize = 50;

/// What a direct read says of an absent record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectRead {
    NotFound,
    Found,
    /// The service refused for another reason: the next walk decides again.
    Refused,
    /// The service could not be asked.
    Failed,
}

impl Round<'_> {
    /// Reads the rows that two clean full walks in a row did not list, and removes those that the service does not find.
    ///
    /// A failure is not one of the sync: the next full walk asks again.
    pub(super) async fn confirm_absent(
        &mut self,
        mut base: VersionedState,
    ) -> Result<VersionedState> {
        let Some(before) = base.state.absent_before else {
            return Ok(base);
        };
        let mut query = Query {
            before_generation: Some(before),
            // As the rows stand in the tables of a database, which reads them all for this condition.
            order: Order::Sequence,
            limit: CHUNK,
            ..Query::default()
        };
        loop {
            let replica = self.replica;
            let rows = replica.store().query(replica.key(), &query).await?;
            let Some(last) = rows.last().cloned() else {
                break;
            };
            let (gone, failed) = self.read_absent(rows).await;
            if !gone.is_empty() && self.shows_a_present_record(before).await {
                base = self.remove(base, before, gone).await?;
            }
            if failed {
                let problem =
                    "absent records could not all be asked for; the next full walk does so again";
                self.report.add_problem(problem.to_owned());
                break;
            }
            query.after = Some(last);
        }
        loop {
            if base.state.absent_before != Some(before) {
                return Ok(base);
            }
            let mut state = base.state.clone();
            state.absent_before = None;
            base = match self.replica.commit_state(&base, state).await? {
                Some(after) => return Ok(after),
                None => self.replica.load().await?,
            };
        }
    }

    /// The ids of the rows that are not found, and whether the service could not be asked for others.
    async fn read_absent(&mut self, rows: Vec<Row>) -> (Vec<String>, bool) {
        let this = &*self;
        let reads = stream::iter(rows).map(|row| async {
            let read = this.read_directly(&row.id).await;
            (row.id, read)
        });
        let reads = reads.buffer_unordered(self.replica.settings.reads_at_once);
        let reads: Vec<_> = reads.collect().await;
        let failed = reads.iter().any(|(_, read)| *read == DirectRead::Failed);
        let gone = reads
            .into_iter()
            .filter(|(_, read)| *read == DirectRead::NotFound);
        let mut gone: Vec<String> = gone.map(|(id, _)| id).collect();
        gone.sort_unstable();
        (gone, failed)
    }

    pub(super) async fn is_found(&self, id: &str) -> bool {
        self.read_directly(id).await == DirectRead::Found
    }

    pub(super) async fn is_not_found(&self, id: &str) -> bool {
        self.read_directly(id).await == DirectRead::NotFound
    }

    async fn read_directly(&self, id: &str) -> DirectRead {
        self.count_request();
        match self.replica.account().received_consignment(id).await {
            Ok(outcome) if outcome.value.is_some() => DirectRead::Found,
            // Null alone, or with an error that means it.
            Ok(outcome) if outcome.problems.iter().all(means_not_found) => DirectRead::NotFound,
            Ok(_) => DirectRead::Refused,
            // A failure inside the service says so by its status.
            Err(error) if error.is_not_found() && !error.is_internal() => DirectRead::NotFound,
            Err(error) if is_answer(&error) => DirectRead::Refused,
            Err(_) => DirectRead::Failed,
        }
    }

    /// Whether the service shows a record that it lists.
    ///
    /// "Not found" has the text of any failure, so a service that fails to read would make every absent record gone.
    async fn shows_a_present_record(&mut self, before: u64) -> bool {
        let replica = self.replica;
        let query = Query {
            order: Order::LastUpdated,
            limit: CHUNK,
            ..Query::default()
        };
        let Ok(rows) = replica.store().query(replica.key(), &query).await else {
            return false;
        };
        let Some(present) = rows.into_iter().find(|row| row.generation > before) else {
            return true;
        };
        self.read_directly(&present.id).await == DirectRead::Found
    }

    /// Removes rows, unless they were listed meanwhile.
    async fn remove(
        &mut self,
        mut base: VersionedState,
        before: u64,
        gone: Vec<String>,
    ) -> Result<VersionedState> {
        let replica = self.replica;
        loop {
            let (mut state, mut draft) = (base.state.clone(), Draft::default());
            for row in replica.store().rows(replica.key(), &gone).await? {
                if row.generation >= before {
                    continue;
                }
                let last_seen = LocalRecord::from_payload(&row.id, &row.payload)?;
                if let Some(kind) = ChangeKind::between(Some(&last_seen), None) {
                    draft.change(&mut state, &row.id, row.sequence, &kind);
                }
                draft.removed.push(row.id);
            }
            let removed = draft.removed.len() as u64;
            if removed == 0 {
                return Ok(base);
            }
            if let Some(after) = replica.commit(&base, state, draft).await? {
                self.report.gone += removed;
                return Ok(after);
            }
            base = replica.load().await?;
        }
    }
}

fn means_not_found(error: &ServerError) -> bool {
    error.condition() == Condition::NotFoundOrForbidden
}
