//! The data of a [`SyncStore`](super::SyncStore) and its queries, for authors of stores; applications do not need these types.
//!
//! All fields are public, and no type is `non_exhaustive`, so that a store can build and match them. A minor release of this crate
//! may change them. `Debug` shows only ids, names, versions and lengths, because everything else is user data.

use serde::{Deserialize, Serialize};

/// One record of the copy as a row; programs read it as a [`LocalRecord`](crate::replica::LocalRecord).
///
/// A store keeps the payload unchanged, finds the row by its id and keys, and interprets none of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RecordRow {
    /// The id, unique in its account.
    pub id: String,
    /// The number of the record's last change; unique in the account.
    pub sequence: u64,
    /// The number of the last full scan that listed the record.
    pub generation: u64,
    /// The values by which the row is found.
    pub keys: RowKeys,
    /// JSON.
    pub payload: String,
}

debug_shows!(RecordRow, |it| id: it.id, sequence: it.sequence, generation: it.generation, length: it.payload.len());

/// The values by which a row is found; `None` if the record has no such value.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowKeys {
    /// The status.
    pub status: Option<String>,
    /// The species.
    pub species: Option<String>,
    /// The number of the consignment.
    pub number: Option<String>,
    /// The PIC of the origin.
    pub origin_pic: Option<String>,
    /// The PIC of the destination.
    pub destination_pic: Option<String>,
    /// The day of the movement, `yyyy-MM-dd`.
    pub movement_day: Option<String>,
    /// The instant of the last update in UTC, as a text that sorts by time: `yyyy-MM-ddTHH:mm:ss`, followed by a dot and the digits
    /// of the fraction without trailing zeros, if there are any.
    pub updated_at: Option<String>,
}

debug_shows!(RowKeys, |it| status: it.status, updated_at: it.updated_at);

/// The conditions, order and page of a read; programs use a [`LocalQuery`](crate::replica::LocalQuery).
///
/// `None` is no condition. A row without a value does not meet a condition on that value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Equal to [`RowKeys::status`].
    pub status: Option<String>,
    /// Equal to [`RowKeys::species`].
    pub species: Option<String>,
    /// Equal to [`RowKeys::number`].
    pub number: Option<String>,
    /// Equal to [`RowKeys::origin_pic`] or to [`RowKeys::destination_pic`].
    pub pic: Option<String>,
    /// At most [`RowKeys::movement_day`].
    pub movement_from: Option<String>,
    /// At least [`RowKeys::movement_day`].
    pub movement_to: Option<String>,
    /// At most [`RowKeys::updated_at`].
    pub updated_from: Option<String>,
    /// Greater than [`RecordRow::generation`].
    pub before_generation: Option<u64>,
    /// At least [`RecordRow::sequence`].
    pub up_to_sequence: Option<u64>,
    /// The order.
    pub order: Order,
    /// Only rows that come after this position in the order.
    pub after: Option<LocalPosition>,
    /// The maximum number of rows.
    pub limit: usize,
}

/// A position in the copy, after a record that may be gone; it can be stored as JSON.
///
/// The pages after a position do not show records that appear before it, and no record moves because of others. A record that
/// changes while pages are read may move in an order by date: use [`Order::Id`] to see each record once.
///
/// See [`Replica::consignments`](crate::replica::Replica::consignments) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalPosition {
    /// [`RecordRow::id`].
    pub id: String,
    /// [`RecordRow::sequence`].
    pub sequence: u64,
    /// [`RowKeys::updated_at`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

impl From<&RecordRow> for LocalPosition {
    fn from(row: &RecordRow) -> Self {
        Self {
            id: row.id.clone(),
            sequence: row.sequence,
            updated_at: row.keys.updated_at.clone(),
        }
    }
}

/// The order of rows.
///
/// Programs set it with [`LocalQuery::order`](crate::replica::LocalQuery::order). See
/// [`Replica::consignments`](crate::replica::Replica::consignments) for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By [`RecordRow::id`], as bytes.
    #[default]
    Id,
    /// By [`RowKeys::updated_at`], the latest first and rows without a date last; then by id.
    LastUpdated,
    /// By [`RecordRow::sequence`].
    Sequence,
}

/// One change as a row; programs read it as a [`Change`](crate::replica::Change).
#[derive(Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// The number of the change; unique in the account and never reused.
    pub sequence: u64,
    /// The number of the previous change of the same record; 0 for the first.
    pub previous: u64,
    /// The record.
    pub id: String,
    /// JSON.
    pub payload: String,
}

debug_shows!(ChangeRow, |it|
    id: it.id, sequence: it.sequence, previous: it.previous, length: it.payload.len());

/// The range of changes to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeRange {
    /// Changes with a greater [`sequence`](ChangeRow::sequence), in its order.
    After(u64),
    /// Changes that replaced a state current at `up_to`: [`previous`](ChangeRow::previous) is greater than `after` and at most
    /// `up_to`, and [`sequence`](ChangeRow::sequence) is greater than `up_to`. In the order of `previous`.
    Replacing {
        /// Exclusive.
        after: u64,
        /// Inclusive.
        up_to: u64,
    },
}

/// A small text under a name, such as the state of the scans or the position of a consumer.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The name, unique in its account.
    pub name: String,
    /// 1 at the first write, and 1 more with each further write. A document that was removed starts again at 1.
    pub version: u64,
    /// JSON.
    pub text: String,
}

debug_shows!(Document, |it| name: it.name, version: it.version, length: it.text.len());

/// Changes that a store writes atomically.
///
/// The parts are applied in the order of the fields.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// The versions that documents must have for anything to be written; 0: the document does not exist.
    pub expected: Vec<(String, u64)>,
    /// Documents to write, by name; `None` removes the document. If a name occurs several times, the last one counts; the same
    /// holds for rows.
    pub documents: Vec<(String, Option<String>)>,
    /// Rows to write; they replace rows with the same id.
    pub rows: Vec<RecordRow>,
    /// Rows that a scan listed and found unchanged, by id: only their [`RecordRow::generation`] is set to this number. An id
    /// without a row is ignored.
    pub seen: Option<(u64, Vec<String>)>,
    /// Rows to remove, by id.
    pub removed: Vec<String>,
    /// Changes to add.
    pub changes: Vec<ChangeRow>,
    /// The changes up to this [`sequence`](ChangeRow::sequence) are removed, since every consumer has acknowledged them.
    pub forget_changes: Option<u64>,
}

debug_shows!(Batch, |it|
    expected: it.expected,
    documents: it.documents.iter().map(|(name, text)| (name, text.as_ref().map(String::len))).collect::<Vec<_>>(),
    rows: it.rows,
    seen: it.seen,
    removed: it.removed,
    changes: it.changes,
    forget_changes: it.forget_changes);

/// Returns the first text that sorts, by bytes, after all texts with a prefix; `None` if there is none.
///
/// A store with an index of names finds the names with a prefix between the two.
///
/// ```
/// use envd_sync::store::rows::first_after;
///
/// let end = first_after("consumer/").ok_or("nothing comes after it")?;
/// let names = ["consumer", "consumer/", "consumer/app", "consumer0", "replica"];
/// let found = names.into_iter().filter(|name| ("consumer/"..&*end).contains(name));
/// assert_eq!(found.collect::<Vec<_>>(), ["consumer/", "consumer/app"]);
/// # Ok::<(), &str>(())
/// ```
pub fn first_after(prefix: &str) -> Option<String> {
    let mut kept = prefix.to_owned();
    while let Some(last) = kept.pop() {
        // For the last character below the surrogates, this is the first character above them.
        if let Some(next) = (last..=char::MAX).nth(1) {
            kept.push(next);
            return Some(kept);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_after_a_prefix_is_after_all_that_begin_with_it() {
        for (prefix, after) in [
            ("", None),
            ("a", Some("b")),
            ("outbox/live/", Some("outbox/live0")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}", None),
            ("\u{d7ff}", Some("\u{e000}")),
            ("\u{7f}", Some("\u{80}")),
        ] {
            assert_eq!(first_after(prefix).as_deref(), after, "{prefix:?}");
        }
    }
}
