//! Writes of a sync: each whole, and only over the state that it was made from.

use super::change::ChangeKind;
use super::consumer::needless_up_to;
use super::local_record::LocalRecord;
use super::round::Round;
use super::sync_report::SyncReport;
use super::sync_state::{STATE, SyncState};
use crate::account_store::VersionedDocument;
use crate::error::Result;
use crate::store::StoreError;
use crate::store::rows::{Batch, ChangeRow, Row};

/// A row of the copy, and its record.
pub(super) struct Held {
    pub(super) row: Row,
    pub(super) record: LocalRecord,
}

impl Held {
    pub(super) fn read(row: Row) -> Result<Self, StoreError> {
        let record = LocalRecord::from_payload(&row.id, &row.payload)?;
        Ok(Self { row, record })
    }
}

/// What is to be written: the state, and what changes in the copy; and what the sync then has done.
pub(super) struct Draft {
    pub(super) state: SyncState,
    pub(super) batch: Batch,
    pub(super) report: SyncReport,
}

impl Draft {
    /// Whether records are written or removed.
    pub(super) fn has_rows(&self) -> bool {
        !self.batch.rows.is_empty() || !self.batch.removed.is_empty()
    }

    /// Adds the record after a walk or a read; `None`: it is as the copy has it.
    pub(super) fn write(
        &mut self,
        id: &str,
        before: Option<&Held>,
        after: LocalRecord,
        generation: u64,
    ) -> Option<Held> {
        let kind = ChangeKind::between(before.map(|held| &held.record), &after);
        if kind.is_none() && before.is_some_and(|held| held.record == after) {
            return None;
        }
        let sequence = before.map_or(0, |held| held.row.sequence);
        let row = Row {
            id: id.to_owned(),
            sequence: kind.map_or(sequence, |kind| self.change(id, sequence, &kind)),
            generation,
            keys: after.keys(),
            payload: after.to_payload(),
        };
        self.batch.rows.push(row.clone());
        Some(Held { row, record: after })
    }

    /// Removes a row, and tells what happened to it, or nothing.
    pub(super) fn remove(&mut self, held: Held, kind: impl Fn(LocalRecord) -> Option<ChangeKind>) {
        let Held { row, record } = held;
        match kind(record) {
            Some(kind) => drop(self.change(&row.id, row.sequence, &kind)),
            None => self.report.pruned += 1,
        }
        self.batch.removed.push(row.id);
    }

    /// Adds a change, numbered after the last one.
    fn change(&mut self, id: &str, previous: u64, kind: &ChangeKind) -> u64 {
        let sequence = self.state.next_sequence.max(1);
        self.state.next_sequence = sequence + 1;
        self.batch.changes.push(ChangeRow {
            sequence,
            previous,
            id: id.to_owned(),
            payload: kind.to_payload(),
        });
        *match kind {
            ChangeKind::Appeared { .. } => &mut self.report.appeared,
            ChangeKind::Changed { .. } => &mut self.report.changed,
            ChangeKind::Gone { .. } => &mut self.report.gone,
            ChangeKind::Pruned { .. } => &mut self.report.pruned,
        } += 1;
        sequence
    }
}

impl Round<'_> {
    pub(super) fn draft(&self) -> Draft {
        Draft {
            state: self.base.value.clone(),
            batch: Batch::default(),
            report: self.report.clone(),
        }
    }

    /// Writes over the state that was loaded last; `false` if another process was faster, whose state is loaded then.
    pub(super) async fn commit(&mut self, draft: Draft) -> Result<bool> {
        let store = &self.replica.store;
        let mut batch = draft.batch;
        if !batch.changes.is_empty() {
            let needless = needless_up_to(store, self.base.value.last_sequence()).await?;
            batch.forget_changes = (needless > 0).then_some(needless);
        }
        // OK because a struct of texts and numbers can always be written.
        let text = serde_json::to_string(&draft.state).unwrap_or_default();
        batch.seen = batch.seen.filter(|(_, ids)| !ids.is_empty());
        batch.expected = vec![(STATE.to_owned(), self.base.version)];
        batch.documents = vec![(STATE.to_owned(), Some(text))];
        if !store.commit(&batch).await? {
            self.base = self.replica.load().await?;
            return Ok(false);
        }
        let last = draft.state.last_sequence();
        let committed = &self.replica.committed;
        committed.send_modify(|committed| *committed = last.max(*committed));
        let (value, version) = (draft.state, self.base.version + 1);
        self.base = VersionedDocument { value, version };
        self.report = draft.report;
        Ok(true)
    }

    /// Changes the state, over whatever was written meanwhile.
    pub(super) async fn change_state(&mut self, change: impl Fn(&mut SyncState)) -> Result<()> {
        loop {
            let mut draft = self.draft();
            change(&mut draft.state);
            if draft.state == self.base.value || self.commit(draft).await? {
                return Ok(());
            }
        }
    }
}
