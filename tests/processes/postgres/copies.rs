//! The data that tests write into the store of copies.

use envd_postgres::PostgresSync;
use envd_sdk::auth::StoreError;
use envd_sync::store::rows::*;
use envd_sync::store::{Order, SyncStore};

pub(super) const ACCOUNT: &str = "s3cr3t farm";

/// All data of an account.
type Contents = (Vec<Document>, Vec<RecordRow>, Vec<ChangeRow>);

pub(super) async fn contents(store: &PostgresSync) -> Contents {
    let all = Query {
        limit: 1_000,
        ..Query::default()
    };
    let range = ChangeRange::After(0);
    (
        store.documents(ACCOUNT, "").await.unwrap(),
        store.query(ACCOUNT, &all).await.unwrap(),
        store.changes(ACCOUNT, range, 1_000).await.unwrap(),
    )
}

/// A batch with all parts, which can be written only once: over version `before` of its document.
pub(super) fn batch(before: u64) -> Batch {
    let sequence = before + 1;
    let row = RecordRow {
        id: format!("s3cr3t-{sequence}"),
        sequence,
        keys: RowKeys {
            status: Some("DRAFT".to_owned()),
            ..RowKeys::default()
        },
        payload: "{\"of\":\"s3cr3t\"}".to_owned(),
        ..RecordRow::default()
    };
    let change = ChangeRow {
        sequence,
        previous: before,
        id: row.id.clone(),
        payload: "{\"s3cr3t\":1}".to_owned(),
    };
    Batch {
        expected: vec![("walk".to_owned(), before)],
        documents: vec![
            ("walk".to_owned(), Some(format!("s3cr3t {sequence}"))),
            (format!("note-{before}"), None),
            (format!("note-{sequence}"), Some(String::new())),
        ],
        seen: Some((sequence, vec![row.id.clone()])),
        rows: vec![row],
        removed: vec![format!("s3cr3t-{before}")],
        changes: vec![change],
        forget_changes: Some(before),
    }
}

/// Uses each operation of the store, with conditions that match few and many rows.
pub(super) async fn use_everything(store: &PostgresSync) -> Result<(), StoreError> {
    assert!(store.commit(ACCOUNT, &batch(0)).await?);
    assert!(store.commit(ACCOUNT, &batch(1)).await?);
    assert!(!store.commit(ACCOUNT, &batch(1)).await?);
    assert_eq!(store.documents(ACCOUNT, "wa").await?.len(), 1);
    assert_eq!(store.documents(ACCOUNT, "").await?.len(), 2);
    assert_eq!(
        store.rows(ACCOUNT, &["s3cr3t-2".to_owned()]).await?.len(),
        1
    );
    for range in [
        ChangeRange::After(0),
        ChangeRange::Replacing { after: 0, up_to: 1 },
    ] {
        assert_eq!(store.changes(ACCOUNT, range, 9).await?.len(), 1);
    }
    let text = |text: &str| Some(text.to_owned());
    let row = |number: u64| {
        let mut row = RecordRow {
            id: number.to_string(),
            sequence: number,
            ..RecordRow::default()
        };
        let is_rare = number.is_multiple_of(100);
        row.keys.status = text(if is_rare { "RARE" } else { "DRAFT" });
        row.keys.origin_pic = text("3ABCD123");
        row.keys.movement_day = text("2027-01-01");
        row.keys.updated_at = text("2027-01-01T00:00:00");
        row
    };
    let rows = Batch {
        rows: (10..5_200).map(row).collect(),
        ..Batch::default()
    };
    assert!(store.commit(ACCOUNT, &rows).await?);
    for status in ["RARE", "DRAFT"] {
        for order in [Order::Id, Order::LastUpdated, Order::Sequence] {
            let query = Query {
                status: text(status),
                pic: text("3ABCD123"),
                movement_from: text("2026-01-01"),
                movement_to: text("2027-01-01"),
                updated_from: text("2026-01-01T00:00:00"),
                before_generation: Some(1),
                up_to_sequence: Some(9_999),
                order,
                after: Some(LocalPosition::from(&row(10))),
                limit: 20,
                ..Query::default()
            };
            assert_eq!(store.query(ACCOUNT, &query).await?.len(), 20);
            assert!(store.count(ACCOUNT, &query).await? > 20);
        }
    }
    Ok(())
}
