//! What a store keeps of a record and of a change.

use serde::{Deserialize, Serialize};

/// One record of the copy, as a store keeps it. A program reads a
/// [`LocalRecord`](crate::sync::replica::LocalRecord).
///
/// A store keeps the payload as it is, looks up by the id and the keys, and interprets nothing.
///
/// See [`SyncStore`](super::SyncStore) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The id, unique in its account.
    pub id: String,
    /// The number of the record's last change. Unique in the account: no two rows have the same.
    pub sequence: u64,
    /// The number of the last full walk that listed the record.
    pub generation: u64,
    /// What rows are looked up by.
    pub keys: RowKeys,
    /// JSON.
    pub payload: String,
}

/// What rows are looked up by; `None` where the record has no such value.
///
/// See [`SyncStore`](super::SyncStore) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The instant of the last update in UTC, in a form whose order as text is the order in time:
    /// `yyyy-MM-ddTHH:mm:ss`, then a dot and the digits of the fraction without trailing zeros, if there are any.
    pub updated_at: Option<String>,
}

/// Which rows a store is to read. A program asks with a [`LocalQuery`](crate::sync::replica::LocalQuery).
///
/// A condition that is `None` holds for all rows; a row without the value does not meet a condition
/// that is set.
///
/// See [`SyncStore`](super::SyncStore) for an example.
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
    /// Greater than [`Row::generation`].
    pub before_generation: Option<u64>,
    /// At least [`Row::sequence`].
    pub up_to_sequence: Option<u64>,
    /// The order.
    pub order: Order,
    /// Only rows that come after this one in the order. The row itself need not be there any more.
    pub after: Option<Row>,
    /// How many rows at most.
    pub limit: usize,
}

/// The order of rows.
///
/// A program asks for one with [`LocalQuery::order`](crate::sync::replica::LocalQuery::order). See
/// [`Replica::consignments`](crate::sync::replica::Replica::consignments) for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// By [`Row::id`], as bytes.
    #[default]
    Id,
    /// By [`RowKeys::updated_at`], the latest first, and those without one last; then by id.
    LastUpdated,
    /// By [`Row::sequence`].
    Sequence,
}

/// One change, as a store keeps it. A program reads a [`Change`](crate::sync::replica::Change).
///
/// See [`SyncStore`](super::SyncStore) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// The number of the change. Unique in the account, and never used again.
    pub sequence: u64,
    /// The number of the change of the same record before this one; 0 for the first.
    pub previous: u64,
    /// The record.
    pub id: String,
    /// JSON.
    pub payload: String,
}

/// Which changes are read.
///
/// See [`SyncStore`](super::SyncStore) for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeRange {
    /// Those with a greater [`sequence`](ChangeRow::sequence), in its order.
    After(u64),
    /// Those that replace what was known at a moment: [`previous`](ChangeRow::previous) is greater than `after` and at most
    /// `up_to`, and [`sequence`](ChangeRow::sequence) is greater than `up_to`. In the order of `previous`.
    Replacing {
        /// Exclusive.
        after: u64,
        /// Inclusive.
        up_to: u64,
    },
}
