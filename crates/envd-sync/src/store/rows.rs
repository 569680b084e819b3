//! The types that a [`SyncStore`](super::SyncStore) stores, and its queries: for authors of stores. Applications do not
//! need them.
//!
//! Their fields are public, and no type is `non_exhaustive`, so that a store can build and match them; a minor release of
//! this crate may change them. `Debug` shows only ids, names, versions and lengths: the rest is users' data.

use serde::{Deserialize, Serialize};

/// One record of the copy, as a store holds it. Applications read a [`LocalRecord`](crate::replica::LocalRecord).
///
/// A store returns the payload unchanged, looks rows up by id and keys, and interprets nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RecordRow {
    /// The id, unique in its account.
    pub id: String,
    /// The number of the record's last change. Unique in the account.
    pub sequence: u64,
    /// The number of the last walk that marked the record as listed.
    pub generation: u64,
    /// The columns for queries.
    pub keys: RowKeys,
    /// JSON.
    pub payload: String,
}

debug_shows!(RecordRow, |it| id: it.id, sequence: it.sequence, generation: it.generation, length: it.payload.len());

/// The columns that queries compare; `None` where the record has no such value.
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
    /// The instant of the last update in UTC, as a text that sorts by time: `yyyy-MM-ddTHH:mm:ss`, then, if there is a
    /// fraction, a dot and its digits without trailing zeros.
    pub updated_at: Option<String>,
}

debug_shows!(RowKeys, |it| status: it.status, updated_at: it.updated_at);

/// The conditions, order and limit of a read. Applications use a [`LocalQuery`](crate::replica::LocalQuery).
///
/// A condition that is `None` holds for all rows. A row without the value does not meet a condition that is set.
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
    /// The least [`RowKeys::movement_day`].
    pub movement_from: Option<String>,
    /// The greatest [`RowKeys::movement_day`].
    pub movement_to: Option<String>,
    /// The least [`RowKeys::updated_at`].
    pub updated_from: Option<String>,
    /// The [`RecordRow::generation`] is less than this.
    pub before_generation: Option<u64>,
    /// The greatest [`RecordRow::sequence`].
    pub up_to_sequence: Option<u64>,
    /// The order.
    pub order: Order,
    /// Only rows after this position in the order.
    pub after: Option<LocalPosition>,
    /// The maximum number of rows.
    pub limit: usize,
}

/// A position in the copy: after a record, even if that record no longer exists. It can be stored as JSON.
///
/// Records added before the position do not appear on later pages, and no record moves because of others. With an order by
/// date, a record that changes between two pages may move: use [`Order::Id`] to see each record once.
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
/// Applications set it with [`LocalQuery::order`](crate::replica::LocalQuery::order). See
/// [`Replica::consignments`](crate::replica::Replica::consignments) for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By [`RecordRow::id`], as bytes.
    #[default]
    Id,
    /// By [`RowKeys::updated_at`], latest first, rows without one last; then by id.
    LastUpdated,
    /// By [`RecordRow::sequence`].
    Sequence,
}

/// One change, as a store holds it. Applications read a [`Change`](crate::replica::Change).
#[derive(Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// The number of the change. Unique in the account, and never reused.
    pub sequence: u64,
    /// The number of the previous change of the same record; 0 if it is the first.
    pub previous: u64,
    /// The record.
    pub id: String,
    /// JSON.
    pub payload: String,
}

debug_shows!(ChangeRow, |it|
    id: it.id, sequence: it.sequence, previous: it.previous, length: it.payload.len());

/// A range of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeRange {
    /// Changes with a greater [`sequence`](ChangeRow::sequence), in this order.
    After(u64),
    /// Changes that replaced a state of an earlier moment: [`previous`](ChangeRow::previous) is greater than `after` and at
    /// most `up_to`, and [`sequence`](ChangeRow::sequence) is greater than `up_to`. In the order of `previous`.
    Replacing {
        /// Exclusive.
        after: u64,
        /// Inclusive.
        up_to: u64,
    },
}

/// A named text, such as the state of an account's walks or the position of a consumer.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The name, unique in its account.
    pub name: String,
    /// 1 at first, and 1 more with each write. A document that is removed and written again starts at 1.
    pub version: u64,
    /// JSON.
    pub text: String,
}

debug_shows!(Document, |it| name: it.name, version: it.version, length: it.text.len());

/// A write of several parts, which a store applies atomically.
///
/// A store applies the parts in the order of the fields.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// The versions that documents must have for the batch to be written; 0: the document must not exist.
    pub expected: Vec<(String, u64)>,
    /// Documents to write, by name; `None` removes. If a name comes several times, the last one counts; the same holds for
    /// rows.
    pub documents: Vec<(String, Option<String>)>,
    /// Rows to write. A row with the same id is replaced.
    pub rows: Vec<RecordRow>,
    /// Rows that a walk listed unchanged, by id: only their [`RecordRow::generation`] changes, to this number. Ids without
    /// a row are ignored.
    pub seen: Option<(u64, Vec<String>)>,
    /// Rows to remove, by id.
    pub removed: Vec<String>,
    /// Changes to add.
    pub changes: Vec<ChangeRow>,
    /// Removes all changes up to this [`sequence`](ChangeRow::sequence), since every consumer has received them.
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

/// The first text after all texts with a prefix, in the order of their bytes; `None` if there is none. With an index on
/// names, a store finds the names with a prefix between the two.
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
        // The successor of the last character below the surrogates is the first one above them.
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
