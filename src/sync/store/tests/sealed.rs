//! The sealed store around stores in memory and in a file.

use crate::auth::sealed::SealingKey;
use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, MemorySync, Query, Row, RowKeys, RowStore, SealedSync,
};

const HASHES: [u8; 32] = [7; 32];

fn key(id: &str, byte: u8) -> SealingKey {
    SealingKey::new(id, &[byte; 32])
}

fn sealed<S: RowStore>(inner: S) -> SealedSync<S> {
    SealedSync::new(inner, key("new", 1), &HASHES)
}

fn batch() -> Batch {
    let text = |text: &str| Some(text.to_owned());
    let row = |id: &str| Row {
        id: id.to_owned(),
        sequence: 1,
        generation: 1,
        keys: RowKeys {
            status: text("DRAFT"),
            species: text("CATTLE"),
            number: text("C-s3cr3t-1"),
            origin_pic: text("3SCRT123"),
            destination_pic: text("3SCRT456"),
            movement_day: text("2027-01-01"),
            updated_at: None,
        },
        payload: format!("{{\"of\":\"{id}\",\"signature\":\"s3cr3t\"}}"),
    };
    let change = |sequence| ChangeRow {
        sequence,
        previous: 0,
        id: "one".to_owned(),
        payload: format!("{{\"s3cr3t\":{sequence}}}"),
    };
    Batch {
        documents: vec![
            ("walk".to_owned(), text("s3cr3t walk")),
            ("consumer".to_owned(), text("s3cr3t consumer")),
        ],
        rows: vec![row("one"), row("two")],
        changes: vec![change(1), change(2)],
        ..Batch::default()
    }
}

#[tokio::test]
async fn the_inner_store_gets_ids_and_look_ups_and_no_secret() {
    let inner = MemorySync::new();
    let store = sealed(inner.clone());
    assert!(store.commit("sam's farm", &batch()).await.unwrap());
    let account = store.stored_account("sam's farm");
    let all = Query {
        limit: 10,
        ..Query::default()
    };
    let rows = inner.query(&account, &all).await.unwrap();
    let changes = inner.changes(&account, ChangeRange::After(0), 10).await;
    let documents = inner.documents(&account, "").await.unwrap();
    let shown = format!("{account} {rows:?} {changes:?} {documents:?} {store:?}");
    for secret in ["s3cr3t", "SCRT", "sam", "[1, 1", "[7, 7"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert_eq!((rows.len(), documents.len()), (2, 2));
    assert_eq!(rows[0].keys.status.as_deref(), Some("DRAFT"));
    // One PIC is one hash in one account, and another hash in another.
    assert_eq!(rows[0].keys.origin_pic, rows[1].keys.origin_pic);
    assert_ne!(rows[0].keys.origin_pic, rows[0].keys.destination_pic);
    store.commit("other", &batch()).await.unwrap();
    let other = store.stored_account("other");
    let others = inner.query(&other, &all).await.unwrap();
    assert_ne!(rows[0].keys.origin_pic, others[0].keys.origin_pic);
}

/// What is moved to another account, row, document or change does not open there.
#[tokio::test]
async fn what_was_moved_or_changed_does_not_open() {
    let inner = MemorySync::new();
    let store = sealed(inner.clone());
    store.commit("farm", &batch()).await.unwrap();
    let stored = store.stored_account("farm");
    let ids = ["one".to_owned(), "two".to_owned()];
    let mut rows = inner.rows(&stored, &ids).await.unwrap();
    let (first, rest) = rows.split_at_mut(1);
    std::mem::swap(&mut first[0].payload, &mut rest[0].payload);
    let moved = Batch {
        rows,
        ..Batch::default()
    };
    inner.commit(&stored, &moved).await.unwrap();
    assert!(store.rows("farm", &ids).await.unwrap_err().is_unreadable());

    let documents = inner.documents(&stored, "").await.unwrap();
    let texts = documents.iter().rev().map(|one| Some(one.text.clone()));
    let names = documents.iter().map(|one| one.name.clone());
    let moved = Batch {
        documents: names.zip(texts).collect(),
        ..Batch::default()
    };
    inner.commit(&stored, &moved).await.unwrap();
    let error = store.documents("farm", "").await.unwrap_err();
    assert!(error.is_unreadable() && error.missing_key_id().is_none());

    let range = ChangeRange::After(0);
    let mut changes = inner.changes(&stored, range, 9).await.unwrap();
    let copied = Batch {
        changes: changes.clone(),
        ..Batch::default()
    };
    let account = store.stored_account("other");
    inner.commit(&account, &copied).await.unwrap();
    let error = store.changes("other", range, 9).await.unwrap_err();
    assert!(error.is_unreadable());
    for change in &mut changes {
        change.sequence += 10;
    }
    let moved = Batch {
        changes,
        forget_changes: Some(2),
        ..Batch::default()
    };
    inner.commit(&stored, &moved).await.unwrap();
    let error = store.changes("farm", range, 9).await.unwrap_err();
    assert!(error.is_unreadable());
    let clear = Batch {
        forget_changes: Some(100),
        ..batch()
    };
    inner.commit(&stored, &clear).await.unwrap();
    let error = store.rows("farm", &ids).await.unwrap_err();
    assert!(error.is_unreadable() && error.to_string().contains("not sealed"));
}

#[tokio::test]
async fn a_missing_key_is_named_and_a_reading_key_opens() {
    let inner = MemorySync::new();
    let old = SealedSync::new(inner.clone(), key("old", 9), &HASHES);
    old.commit("farm", &batch()).await.unwrap();
    let late = sealed(inner.clone());
    let (ids, all) = (["one".to_owned()], ChangeRange::After(0));
    for error in [
        late.rows("farm", &ids).await.unwrap_err(),
        late.documents("farm", "").await.unwrap_err(),
        late.changes("farm", all, 9).await.unwrap_err(),
    ] {
        assert_eq!(error.missing_key_id(), Some("old"));
        assert!(error.is_unreadable());
        let error = crate::error::Error::from(error);
        assert!(
            error.is_store() && !error.to_string().contains("token"),
            "{error}"
        );
    }
    let both = late.reading_key(key("old", 9));
    assert_eq!(both.rows("farm", &ids).await.unwrap(), batch().rows[..1]);
    // Looked up by the same hashes, whatever the sealing key.
    let query = Query {
        pic: Some("3SCRT456".to_owned()),
        number: Some("C-s3cr3t-1".to_owned()),
        limit: 9,
        ..Query::default()
    };
    assert_eq!(both.query("farm", &query).await.unwrap(), batch().rows);
    let without_changes = Batch {
        changes: Vec::new(),
        ..batch()
    };
    both.commit("farm", &without_changes).await.unwrap();
    let error = old.rows("farm", &ids).await.unwrap_err();
    assert_eq!(error.missing_key_id(), Some("new"));
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn the_file_of_a_sealed_store_holds_no_clear_text() {
    use std::fs;

    use crate::sync::store::sqlite::tests::folder::Folder;

    let folder = Folder::new();
    let file = folder.store();
    let plain = Batch {
        rows: batch().rows,
        ..Batch::default()
    };
    let contents = || {
        let names = ["farm.db", "farm.db-wal"];
        let files = names.map(|name| fs::read(folder.path().join(name)).unwrap());
        String::from_utf8_lossy(&files.concat()).into_owned()
    };
    let store = sealed(file.clone());
    store.commit("sam's farm", &batch()).await.unwrap();
    let written = contents();
    for secret in ["s3cr3t", "3SCRT", "sam", "signature"] {
        assert!(!written.contains(secret), "{secret}");
    }
    // What stays in the clear, so that the search above can fail.
    for clear in ["DRAFT", "CATTLE", "2027-01-01", "walk", "consumer"] {
        assert!(written.contains(clear), "{clear}");
    }
    file.commit("sam's farm", &plain).await.unwrap();
    let written = contents();
    for secret in ["s3cr3t", "3SCRT", "sam", "signature"] {
        assert!(written.contains(secret), "{secret}");
    }
    let too_large = Batch {
        seen: Some((u64::MAX, vec!["one".to_owned()])),
        ..batch()
    };
    assert!(store.commit("other", &too_large).await.is_err());
    let left = store.rows("other", &["one".to_owned()]).await;
    assert!(left.unwrap().is_empty());
}
