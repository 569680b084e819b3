//! A full disk: no batch is written in part, and writes succeed again when there is space.

use super::folder::{ACCOUNT, Folder, batch, document, rows};
use crate::error::Error;
use crate::store::{SqliteSync, SyncStore};
use envd_sdk::ErrorKind;
use envd_sdk::auth::StoreErrorKind;

/// Limits the size of the database, so that `SQLite` reports a full disk.
async fn limit(store: &SqliteSync, pages: u32) {
    let writer = store.writer.lock().await;
    writer
        .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
        .unwrap();
}

/// Holds: failure point 21: disk full.
#[tokio::test]
async fn a_full_disk_is_an_error_of_its_own_and_the_batch_is_written_when_there_is_room() {
    let folder = Folder::new();
    let store = folder.store();
    assert!(store.commit(ACCOUNT, &batch(1, 5_000)).await.unwrap());
    let before = rows(&store).await;
    limit(&store, 30).await;
    let large = batch(2, 1_000_000);
    for _ in 0..3 {
        let error = store.commit(ACCOUNT, &large).await.unwrap_err();
        assert!(error.kind() == StoreErrorKind::Full, "{error}");
        let error = Error::from(error);
        assert!(error.kind() == ErrorKind::Store && !error.to_string().contains("token"));
        assert_eq!(rows(&store).await, before);
        assert_eq!(document(&store).await.unwrap().version, 1);
    }
    // A batch that still fits is written.
    assert!(store.commit(ACCOUNT, &batch(1, 10)).await.unwrap());
    limit(&store, 1_000_000).await;
    assert!(store.commit(ACCOUNT, &large).await.unwrap());
    assert_eq!(rows(&folder.store()).await.len(), 2);
    assert_eq!(document(&store).await.unwrap().text, "2");
}
