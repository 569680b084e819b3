//! What is written at once.

use super::{ChangeRow, Row};

/// A small text under a name: what is known of the walks of an account, the position of a consumer.
///
/// See [`SyncStore`](super::SyncStore) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The name, unique in its account.
    pub name: String,
    /// 1 when it is written first, and 1 more with each write. A document that was removed starts again at 1.
    pub version: u64,
    /// JSON.
    pub text: String,
}

/// What a store writes whole or not at all.
///
/// A store applies the parts in the order of the fields.
///
/// See [`SyncStore`](super::SyncStore) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The versions that documents must have for anything to be written; 0: there is no such document.
    pub expected: Vec<(String, u64)>,
    /// Documents to write, by name; `None` removes it.
    pub documents: Vec<(String, Option<String>)>,
    /// Rows to write. One with the same id is replaced.
    pub rows: Vec<Row>,
    /// Rows that a walk listed and found unchanged, by id: only [`Row::generation`] becomes this one. An id without a row is
    /// passed over.
    pub seen: Option<(u64, Vec<String>)>,
    /// Rows to remove, by id.
    pub removed: Vec<String>,
    /// Changes to add.
    pub changes: Vec<ChangeRow>,
    /// The changes up to this [`sequence`](ChangeRow::sequence), which every consumer knows, are removed.
    pub forget_changes: Option<u64>,
}
