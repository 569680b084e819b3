//! Writes of a sync: each whole, and only over the state that it was made from.

use std::cmp::Ordering;

use super::Replica;
use super::change::ChangeKind;
use super::consumer::{STATE, needless_up_to};
use super::local_record::LocalRecord;
use super::round::Round;
use super::sync_state::{FORMAT, SyncState};
use crate::account_store::{VersionedDocument, unreadable};
use crate::error::Result;
use crate::store::rows::{Batch, ChangeRow, Row};

/// What is to be written: the state, and what changes in the copy.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) state: SyncState,
    pub(super) batch: Batch,
    /// How many records appeared, changed, are gone and were pruned.
    counts: [u64; 4],
}

impl Draft {
    pub(super) fn over(base: &SyncState) -> Self {
        let mut draft = Self::default();
        draft.state.clone_from(base);
        draft
    }

    /// Whether records are written or removed.
    pub(super) fn has_rows(&self) -> bool {
        !self.batch.rows.is_empty() || !self.batch.removed.is_empty()
    }

    /// Adds the record after a walk or a read; its number is that of its last change.
    pub(super) fn write(
        &mut self,
        id: &str,
        (sequence, generation): (u64, u64),
        after: &LocalRecord,
        kind: Option<&ChangeKind>,
    ) -> Row {
        let row = Row {
            id: id.to_owned(),
            sequence: kind.map_or(sequence, |kind| self.change(id, sequence, kind)),
            generation,
            keys: after.keys(),
            payload: after.to_payload(),
        };
        self.batch.rows.push(row.clone());
        row
    }

    /// Removes a row, and tells it unless no kind is given.
    pub(super) fn remove(&mut self, row: Row, kind: Option<&ChangeKind>) {
        match kind {
            Some(kind) => drop(self.change(&row.id, row.sequence, kind)),
            None => self.counts[3] += 1,
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
        let [appeared, changed, gone, pruned] = &mut self.counts;
        *match kind {
            ChangeKind::Appeared { .. } => appeared,
            ChangeKind::Changed { .. } => changed,
            ChangeKind::Gone { .. } => gone,
            ChangeKind::Pruned { .. } => pruned,
        } += 1;
        sequence
    }
}

/// The document of the walks as it is stored. What refuted another entry of the profile counts no more.
pub(super) async fn load(replica: &Replica) -> Result<VersionedDocument<SyncState>> {
    let stored: Option<VersionedDocument<SyncState>> = replica.store.load(STATE).await?;
    let mut state = stored.unwrap_or_else(|| {
        let value = SyncState {
            format: FORMAT,
            ..SyncState::default()
        };
        VersionedDocument { value, version: 0 }
    });
    let problem = match state.value.format.cmp(&FORMAT) {
        Ordering::Greater => "a newer version of this crate wrote it: update this program",
        Ordering::Less => {
            "a version before the first release wrote it: begin with a new file, or with new tables"
        }
        Ordering::Equal => {
            let refuted = &mut state.value.refuted;
            refuted.take_if(|refuted| refuted.entry != replica.compared);
            return Ok(state);
        }
    };
    Err(unreadable(format!("the copy of the account cannot be read: {problem}")).into())
}

impl Round<'_> {
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
            self.base = load(self.replica).await?;
            return Ok(false);
        }
        self.replica.announce(draft.state.last_sequence());
        let (value, version) = (draft.state, self.base.version + 1);
        self.base = VersionedDocument { value, version };
        let [appeared, changed, gone, pruned] = draft.counts;
        self.report.appeared += appeared;
        self.report.changed += changed;
        self.report.gone += gone;
        self.report.pruned += pruned;
        Ok(true)
    }

    /// Changes the state, over whatever was written meanwhile.
    pub(super) async fn change_state(&mut self, change: impl Fn(&mut SyncState)) -> Result<()> {
        loop {
            let mut draft = Draft::over(&self.base.value);
            change(&mut draft.state);
            if draft.state == self.base.value || self.commit(draft).await? {
                return Ok(());
            }
        }
    }
}
