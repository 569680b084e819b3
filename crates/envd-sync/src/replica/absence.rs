//! Which rows leave the copy: those of records that are gone, for the service does not show them when asked for them either, and
//! those that are too old to keep.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};

use super::change::ChangeKind;
use super::commit::Held;
use super::record_read::ReadRecord;
use super::round::{READS_AT_ONCE, Round};
use super::{RecordRead, is_answer};
use crate::error::Result;
use crate::store::Order;
use crate::store::rows::{Query, Row, RowKeys};
use envd_sdk::model::ConsignmentStatus;

/// How many absent rows are in memory at a time.
const CHUNK: usize = 50;

/// How many rows are removed in one write.
const PRUNED: usize = 200;

/// By id, what direct reads say of absent records; `None`: gone.
type AbsentRecords = BTreeMap<String, Option<ReadRecord>>;

impl Round<'_> {
    /// Reads the rows that two clean full walks in a row did not list, and removes those that the service does not find.
    ///
    /// A failure is not one of the sync: the next full walk asks again.
    pub(super) async fn confirm_absent(&mut self) -> Result<()> {
        let Some(absent) = self.base.value.absent.clone() else {
            return Ok(());
        };
        let mut query = Query {
            before_generation: Some(absent.number),
            updated_from: absent.since.as_ref().map(|shown| shown.key.clone()),
            // As the rows stand in the tables of a database, which reads them all for this condition.
            order: Order::Sequence,
            limit: CHUNK,
            ..Query::default()
        };
        loop {
            let rows = self.replica.store.query(&query).await?;
            query.after = rows.last().cloned();
            if rows.is_empty() {
                break;
            }
            let (mut read, has_failed) = self.read_absent(rows).await;
            if read.values().any(Option::is_none)
                && !self.shows_a_present_record(absent.number).await
            {
                read.retain(|_, found| found.is_some());
            }
            while !self.write_absent(absent.number, &read).await? {}
            if has_failed {
                let problem =
                    "absent records could not all be asked for; the next full walk does so again";
                self.report.add_problem(problem.to_owned());
                break;
            }
        }
        self.change_state(|state| {
            state.absent.take_if(|now| *now == absent);
        })
        .await
    }

    /// Asks for each row, but for one that the copy shows as deleted: lists that hide deleted records will never show it. Also
    /// returns whether the service could not be asked for all.
    async fn read_absent(&mut self, mut rows: Vec<Row>) -> (AbsentRecords, bool) {
        let deleted = ConsignmentStatus::Deleted.as_str();
        rows.retain(|row| row.keys.status.as_deref() != Some(deleted));
        self.report.requests += rows.len() as u64;
        let this = &*self;
        let reads = stream::iter(rows).map(|row| async {
            let read = this.read_record(&row.id).await;
            (row.id, read.unlisted())
        });
        let mut reads = reads.buffer_unordered(READS_AT_ONCE);
        let (mut absent, mut has_failed) = (AbsentRecords::new(), false);
        while let Some((id, read)) = reads.next().await {
            match read {
                RecordRead::Found(read) => drop(absent.insert(id, Some(read))),
                RecordRead::Gone(read) => drop(absent.insert(id, read)),
                // If the service refused for another reason, the next walk decides again.
                RecordRead::Unclear(error) => has_failed |= !is_answer(&error),
            }
        }
        (absent, has_failed)
    }

    /// Whether the service shows a record that it lists.
    ///
    /// "Not found" has the text of any failure, so a service that fails to read would make every absent record gone.
    async fn shows_a_present_record(&mut self, before: u64) -> bool {
        let Ok(rows) = self.replica.store.query(&latest_first(None, CHUNK)).await else {
            return false;
        };
        let Some(present) = rows.iter().find(|row| row.generation > before) else {
            return true;
        };
        self.report.requests += 1;
        self.read_record(&present.id).await.is_there()
    }

    /// Removes the rows that are gone, and writes those that are in another state, unless they were listed meanwhile; `false`:
    /// another process was faster.
    async fn write_absent(&mut self, before: u64, read: &AbsentRecords) -> Result<bool> {
        let mut draft = self.draft();
        let ids: Vec<String> = read.keys().cloned().collect();
        for row in self.replica.store.rows(&ids).await? {
            let Some(found) = read.get(&row.id).filter(|_| row.generation < before) else {
                continue;
            };
            let held = Held::read(row)?;
            match found {
                None => draft.remove(held, |last_seen| Some(ChangeKind::Gone { last_seen })),
                Some(found) if found.is_as(&held.record) => {}
                Some(found) => {
                    let after = held.record.as_read(&found.json);
                    // As if a walk had listed it: only two later ones make it absent again.
                    draft.write(&held.row.id, Some(&held), after, self.base.value.walks);
                }
            }
        }
        Ok(!draft.has_rows() || self.commit(draft).await?)
    }

    /// Removes the rows that are too old to keep.
    pub(super) async fn prune(&mut self) -> Result<()> {
        let Some(oldest) = self.back_from_latest(self.replica.kept_back()) else {
            return Ok(());
        };
        let query = latest_first(Some(oldest.key), PRUNED);
        loop {
            let mut draft = self.draft();
            let rows = self.replica.store.query(&query).await?.into_iter();
            // Those without a date come last, and stay.
            for row in rows.filter(|row| row.keys.updated_at.is_some()) {
                let is_told = self.replica.reports_pruned;
                draft.remove(Held::read(row)?, |last_seen| {
                    is_told.then_some(ChangeKind::Pruned { last_seen })
                });
            }
            if !draft.has_rows() {
                return Ok(());
            }
            self.commit(draft).await?;
        }
    }
}

/// Rows with the latest change first; only those that changed before an instant.
fn latest_first(before: Option<String>, limit: usize) -> Query {
    let after = before.map(|before| Row {
        keys: RowKeys {
            updated_at: Some(before),
            ..RowKeys::default()
        },
        ..Row::default()
    });
    Query {
        order: Order::LastUpdated,
        after,
        limit,
        ..Query::default()
    }
}
