//! Which rows leave the copy: those of records that are gone, for the service does not show them when asked for them either, and
//! those that are too old to keep.

use std::collections::HashMap;

use futures_util::{StreamExt, stream};

use super::change::ChangeKind;
use super::commit::{Draft, VersionedState};
use super::local_record::LocalRecord;
use super::round::Round;
use super::{ReadRecord, RecordRead, is_answer};
use crate::error::Result;
use crate::model::ConsignmentStatus;
use crate::sync::store::{Order, Query, Row, RowKeys};

/// How many absent rows are in memory at a time.
const CHUNK: usize = 50;

/// How many rows are removed in one write.
const PRUNED: usize = 200;

/// What direct reads say of absent records.
#[derive(Default)]
struct AbsentRecords {
    gone: Vec<String>,
    found: HashMap<String, ReadRecord>,
    /// The service could not be asked for others.
    failed: bool,
}

impl Round<'_> {
    /// Reads the rows that two clean full walks in a row did not list, and removes those that the service does not find.
    ///
    /// A failure is not one of the sync: the next full walk asks again.
    pub(super) async fn confirm_absent(
        &mut self,
        mut base: VersionedState,
    ) -> Result<VersionedState> {
        let Some(absent) = base.state.absent.clone() else {
            return Ok(base);
        };
        let before = absent.number;
        let mut query = Query {
            before_generation: Some(before),
            updated_from: absent.since.as_ref().map(|shown| shown.key.clone()),
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
            let mut read = self.read_absent(rows).await;
            if !read.gone.is_empty() && !self.shows_a_present_record(before).await {
                read.gone.clear();
            }
            let failed = read.failed;
            base = self.write_absent(base, before, read).await?;
            if failed {
                let problem =
                    "absent records could not all be asked for; the next full walk does so again";
                self.report.add_problem(problem.to_owned());
                break;
            }
            query.after = Some(last);
        }
        loop {
            if base.state.absent.as_ref() != Some(&absent) {
                return Ok(base);
            }
            let mut state = base.state.clone();
            state.absent = None;
            base = match self.replica.commit_state(&base, state).await? {
                Some(after) => return Ok(after),
                None => self.replica.load().await?,
            };
        }
    }

    /// Asks for each row, but for one that the copy shows as deleted: lists that hide deleted records will never show it.
    async fn read_absent(&mut self, rows: Vec<Row>) -> AbsentRecords {
        let this = &*self;
        let absent = rows
            .into_iter()
            .filter(|row| row.keys.status.as_deref() != Some(ConsignmentStatus::Deleted.as_str()));
        let reads = stream::iter(absent).map(|row| async {
            let read = this.read_record(&row.id).await;
            let read = read.unlisted();
            (row.id, read)
        });
        let mut reads = reads.buffer_unordered(self.replica.settings.reads_at_once);
        let mut absent = AbsentRecords::default();
        while let Some((id, read)) = reads.next().await {
            match read {
                RecordRead::Gone(None) => absent.gone.push(id),
                RecordRead::Found(read) | RecordRead::Gone(Some(read)) => {
                    absent.found.insert(id, read);
                }
                // The service refused for another reason: the next walk decides again.
                RecordRead::Unclear(error) if is_answer(&error) => {}
                RecordRead::Unclear(_) => absent.failed = true,
            }
        }
        absent.gone.sort_unstable();
        absent
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
        self.read_record(&present.id).await.is_there()
    }

    /// Removes the rows that are gone, and writes those that are in another state, unless they were listed meanwhile.
    async fn write_absent(
        &mut self,
        mut base: VersionedState,
        before: u64,
        read: AbsentRecords,
    ) -> Result<VersionedState> {
        let replica = self.replica;
        let ids: Vec<String> = read.gone.iter().chain(read.found.keys()).cloned().collect();
        loop {
            let (mut state, mut draft) = (base.state.clone(), Draft::default());
            for row in replica.store().rows(replica.key(), &ids).await? {
                if row.generation >= before {
                    continue;
                }
                let last_seen = LocalRecord::from_payload(&row.id, &row.payload)?;
                let found = read.found.get(&row.id);
                if found.is_some_and(|found| found.is_as(&last_seen)) {
                    continue;
                }
                let after = found.map(|found| last_seen.as_read(&found.json));
                let kind = ChangeKind::between(Some(&last_seen), after.as_ref());
                if let Some(kind) = &kind {
                    draft.change(&mut state, &row.id, row.sequence, kind);
                }
                match after {
                    None => draft.removed.push(row.id),
                    Some(after) => draft.rows.push(Row {
                        // As if a walk had listed it: only two later ones make it absent again.
                        generation: state.walks,
                        sequence: kind.map_or(row.sequence, |_| state.last_sequence()),
                        keys: after.keys(),
                        payload: after.to_payload(),
                        ..row
                    }),
                }
            }
            let (removed, changed) = (draft.removed.len() as u64, draft.rows.len() as u64);
            if removed + changed == 0 {
                return Ok(base);
            }
            if let Some(after) = replica.commit(&base, state, draft).await? {
                self.report.gone += removed;
                self.report.changed += changed;
                return Ok(after);
            }
            base = replica.load().await?;
        }
    }

    /// Removes the rows that are too old to keep.
    pub(super) async fn prune(&mut self, mut base: VersionedState) -> Result<VersionedState> {
        let replica = self.replica;
        let retention = replica.settings.retention();
        let Some(oldest) = self.back_from_latest(&base.state, retention) else {
            return Ok(base);
        };
        let query = Query {
            order: Order::LastUpdated,
            after: Some(Row {
                keys: RowKeys {
                    updated_at: Some(oldest.key),
                    ..RowKeys::default()
                },
                ..Row::default()
            }),
            limit: PRUNED,
            ..Query::default()
        };
        loop {
            let (mut state, mut draft) = (base.state.clone(), Draft::default());
            for row in replica.store().query(replica.key(), &query).await? {
                // Those without a date come last, and stay.
                if row.keys.updated_at.is_none() {
                    break;
                }
                if replica.settings.reports_pruned {
                    let last_seen = LocalRecord::from_payload(&row.id, &row.payload)?;
                    let kind = ChangeKind::Pruned { last_seen };
                    draft.change(&mut state, &row.id, row.sequence, &kind);
                }
                draft.removed.push(row.id);
            }
            let pruned = draft.removed.len() as u64;
            if pruned == 0 {
                return Ok(base);
            }
            base = match replica.commit(&base, state, draft).await? {
                Some(after) => {
                    self.report.pruned += pruned;
                    after
                }
                None => replica.load().await?,
            };
        }
    }
}
