//! Several processes with the same file open.

use envd_sdk::auth::StoreErrorKind;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::task::JoinSet;

use super::folder::{ACCOUNT, Folder, batch, rows};
use crate::store::SyncStore;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_is_opened_by_many_at_once() {
    let folder = Arc::new(Folder::new());
    let mut openers = JoinSet::new();
    for number in 0..8 {
        let folder = folder.clone();
        openers.spawn_blocking(move || (number, folder.store()));
    }
    for (number, store) in openers.join_all().await {
        assert!(store.commit(ACCOUNT, &batch(number, 10)).await.unwrap());
    }
    assert_eq!(rows(&folder.store()).await.len(), 8);
}

#[tokio::test]
async fn a_writer_that_does_not_end_is_a_lock_timeout_and_readers_go_on() {
    let folder = Folder::new();
    let store = folder.store();
    store.commit(ACCOUNT, &batch(1, 10)).await.unwrap();
    let other = Connection::open(folder.file()).unwrap();
    other
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM payloads;")
        .unwrap();
    let writer = store.writer.lock().await;
    writer.busy_timeout(Duration::from_millis(1)).unwrap();
    drop(writer);
    let error = store.commit(ACCOUNT, &batch(2, 10)).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::LockTimeout, "{error}");
    // Uncommitted data of the other process is not read.
    assert_eq!(rows(&store).await.len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    assert!(store.commit(ACCOUNT, &batch(2, 10)).await.unwrap());
}
