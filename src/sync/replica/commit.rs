//! Writes of a sync: each whole, and only over the state that it was made from.

use super::Replica;
use super::change::ChangeKind;
use super::consumer::{STATE, needless_up_to};
use super::local_record::unreadable;
use super::sync_state::{FORMAT, SyncState};
use crate::error::Result;
use crate::sync::store::{Batch, ChangeRow, Row, RowStore};

/// The document of the walks, and its version.
#[derive(Clone, Debug)]
pub(super) struct VersionedState {
    pub(super) state: SyncState,
    pub(super) version: u64,
}

/// What is written beside the state.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) rows: Vec<Row>,
    /// Unchanged rows that a walk listed.
    pub(super) seen: Vec<String>,
    /// The number of that walk.
    pub(super) walk: u64,
    pub(super) removed: Vec<String>,
    pub(super) changes: Vec<ChangeRow>,
}

impl Draft {
    /// Adds a change, numbered after the last one.
    pub(super) fn change(
        &mut self,
        state: &mut SyncState,
        id: &str,
        previous: u64,
        kind: &ChangeKind,
    ) {
        self.changes.push(ChangeRow {
            sequence: state.next_sequence,
            previous,
            id: id.to_owned(),
            payload: kind.to_payload(),
        });
        state.next_sequence += 1;
    }
}

impl VersionedState {
    pub(super) async fn load(store: &dyn RowStore, account: &str) -> Result<Self> {
        let Some(document) = store.document(account, STATE).await? else {
            let state = SyncState::default();
            return Ok(Self { state, version: 0 });
        };
        let state: SyncState = serde_json::from_str(&document.text)
            .map_err(|_| unreadable(format!("the document {STATE} of the copy cannot be read")))?;
        if state.format > FORMAT {
            let message = "a newer version of this crate wrote what is known of the copy: update this program";
            return Err(unreadable(message.to_owned()).into());
        }
        let version = document.version;
        Ok(Self { state, version })
    }
}

impl Replica {
    pub(super) async fn commit_state(
        &self,
        base: &VersionedState,
        state: SyncState,
    ) -> Result<Option<VersionedState>> {
        self.commit(base, state, Draft::default()).await
    }

    /// Writes over a state; `None` if another process was faster.
    pub(super) async fn commit(
        &self,
        base: &VersionedState,
        state: SyncState,
        draft: Draft,
    ) -> Result<Option<VersionedState>> {
        let mut forget_changes = None;
        if !draft.changes.is_empty() {
            let last = base.state.last_sequence();
            let needless = needless_up_to(self.store(), self.key(), last).await?;
            forget_changes = (needless > 0).then_some(needless);
        }
        let last = state.last_sequence();
        // OK because a struct of texts and numbers can always be written.
        let text = serde_json::to_string(&state).unwrap_or_default();
        let batch = Batch {
            expected: vec![(STATE.to_owned(), base.version)],
            documents: vec![(STATE.to_owned(), Some(text))],
            rows: draft.rows,
            seen: (!draft.seen.is_empty()).then_some((draft.walk, draft.seen)),
            removed: draft.removed,
            changes: draft.changes,
            forget_changes,
        };
        let is_written = self.store().commit(self.key(), &batch).await?;
        if is_written {
            self.announce(last);
        }
        let version = base.version + 1;
        Ok(is_written.then_some(VersionedState { state, version }))
    }
}
