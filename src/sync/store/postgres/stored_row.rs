//! Rows of the tables as the interface has them.

use deadpool_postgres::tokio_postgres::Row as Stored;
use deadpool_postgres::tokio_postgres::types::FromSql;

use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;
use crate::sync::store::{ChangeRow, Document, Row, RowKeys, sql};

const DAMAGED: &str = "the tables of the copy are damaged: a column has no such value";

/// Texts that Postgres can keep. Nothing was stored under another one, as such a commit is refused.
pub(super) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// A column of a row.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Stored, column: usize) -> Result<T, StoreError> {
    row.try_get(column)
        .map_err(|_| StoreError::of(StoreErrorKind::Unreadable, DAMAGED))
}

pub(super) fn number(row: &Stored, at: usize) -> Result<u64, StoreError> {
    sql::from_stored(column(row, at)?)
}

/// From `name, version, text`.
pub(super) fn document(row: &Stored) -> Result<Document, StoreError> {
    Ok(Document {
        name: column(row, 0)?,
        version: number(row, 1)?,
        text: column(row, 2)?,
    })
}

/// The columns of [`row`]. A row without a payload is damaged, and must not be passed over.
pub(super) const COLUMNS: &str = "found.id, found.sequence, found.generation, found.status,
    found.species, found.number, found.origin_pic, found.destination_pic, found.movement_day,
    found.updated_at, (SELECT stored.payload FROM {payload} AS stored
        WHERE stored.account OPERATOR(pg_catalog.=) $1
        AND stored.id OPERATOR(pg_catalog.=) found.id)";

/// From [`COLUMNS`].
pub(super) fn row(row: &Stored) -> Result<Row, StoreError> {
    Ok(Row {
        id: column(row, 0)?,
        sequence: number(row, 1)?,
        generation: number(row, 2)?,
        keys: RowKeys {
            status: column(row, 3)?,
            species: column(row, 4)?,
            number: column(row, 5)?,
            origin_pic: column(row, 6)?,
            destination_pic: column(row, 7)?,
            movement_day: column(row, 8)?,
            updated_at: column(row, 9)?,
        },
        payload: column(row, 10)?,
    })
}

/// From `sequence, previous, id, payload`.
pub(super) fn change(row: &Stored) -> Result<ChangeRow, StoreError> {
    Ok(ChangeRow {
        sequence: number(row, 0)?,
        previous: number(row, 1)?,
        id: column(row, 2)?,
        payload: column(row, 3)?,
    })
}
