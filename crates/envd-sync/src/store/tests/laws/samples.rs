//! Batches and rows for the checks.

use fastrand::Rng;

use crate::store::rows::{Batch, ChangeRange, ChangeRow, Query, Row, RowKeys};
use crate::store::{StoreError, SyncStore};

/// Texts that a store might change.
pub(super) const TEXTS: [&str; 8] = [
    "",
    " ",
    "O'Brien \"; DROP TABLE x; -- \\ %_*?",
    "Zoë \u{5f}\u{308} Z\u{6f}\u{308} \u{1f404}",
    "null",
    "0123",
    "line\r\n\ttab\u{1}",
    "{\"a\":[1,2.50,null]}",
];

pub(super) fn row(id: &str, sequence: u64) -> Row {
    let text = |name: &str| Some(format!("{name} of {id}"));
    Row {
        id: id.to_owned(),
        sequence,
        generation: 1,
        keys: RowKeys {
            status: text("status"),
            species: text("species"),
            number: text("number"),
            origin_pic: text("origin"),
            destination_pic: text("destination"),
            movement_day: Some("2027-03-01".to_owned()),
            updated_at: Some("2027-03-01T10:00:00".to_owned()),
        },
        payload: format!("{{\"id\":\"{id}\"}}"),
    }
}

pub(super) fn change(id: &str, sequence: u64, previous: u64) -> ChangeRow {
    ChangeRow {
        sequence,
        previous,
        id: id.to_owned(),
        payload: format!("{{\"change\":{sequence}}}"),
    }
}

pub(super) fn document(name: &str, text: &str) -> Batch {
    Batch {
        documents: vec![(name.to_owned(), Some(text.to_owned()))],
        ..Batch::default()
    }
}

pub(super) fn rows(rows: Vec<Row>) -> Batch {
    Batch {
        rows,
        ..Batch::default()
    }
}

/// All rows, by id.
pub(super) fn all() -> Query {
    Query {
        limit: 100_000,
        ..Query::default()
    }
}

/// Everything that an account has, as text.
pub(super) async fn contents<S: SyncStore>(store: &S, account: &str) -> Result<String, StoreError> {
    let documents = store.documents(account, "").await?;
    let rows = store.query(account, &all()).await?;
    let range = ChangeRange::After(0);
    let changes = store.changes(account, range, 100_000).await?;
    Ok(format!("{documents:?} {rows:?} {changes:?}"))
}

/// A row with few values of each key, so that conditions meet some rows.
pub(super) fn random_row(random: &mut Rng, id: &str, sequence: u64) -> Row {
    let mut one_of = |values: &[&str]| {
        let value = random.usize(..=values.len());
        values.get(value).map(|value| (*value).to_owned())
    };
    let keys = RowKeys {
        status: one_of(&["DRAFT", "SUBMITTED", "draft", ""]),
        species: one_of(&["CATTLE", "SHEEP"]),
        number: one_of(&["1", "2", "3", "01", "1.0"]),
        origin_pic: one_of(&["3ABCD123", "QFAB0001", "NA123456"]),
        destination_pic: one_of(&["3ABCD123", "QFAB0001", "NA123456"]),
        movement_day: one_of(&["2026-12-31", "2027-01-01", "2027-01-02", "2027-10-01"]),
        updated_at: one_of(&[
            "2027-01-01T00:00:00",
            "2027-01-01T00:00:00.000001",
            "2027-01-01T00:00:00.5",
            "2027-01-01T00:00:01",
        ]),
    };
    Row {
        id: id.to_owned(),
        sequence,
        generation: random.u64(..4),
        keys,
        payload: format!("{{\"sequence\":{sequence}}}"),
    }
}
