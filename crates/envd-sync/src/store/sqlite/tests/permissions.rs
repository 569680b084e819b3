//! Permissions of the files.
#![cfg(unix)]

use envd_sdk::auth::{StoreError, StoreErrorKind};
use std::cell::Cell;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use super::folder::{ACCOUNT, Folder, batch, rows};
use crate::store::sqlite::sqlite_error::SqliteError;
use crate::store::sqlite::sqlite_sync::while_held;
use crate::store::{SqliteSync, SyncStore};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn all_files_are_created_for_their_owner_only() {
    let folder = Folder::new();
    let store = folder.store();
    store.commit(ACCOUNT, &batch(1, 10)).await.unwrap();
    rows(&store).await;
    for ending in ["", "-wal", "-shm"] {
        let file = folder.path().join(format!("farm.db{ending}"));
        assert_eq!(mode(&file), 0o600, "{ending}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[tokio::test]
async fn a_file_that_others_may_read_is_made_private_and_one_that_they_may_write_is_refused() {
    let folder = Folder::new();
    drop(folder.store());
    for loose in [0o644, 0o640, 0o604] {
        set_mode(&folder.file(), loose);
        drop(folder.store());
        assert_eq!(mode(&folder.file()), 0o600, "{loose:o}");
    }
    for loose in [0o666, 0o620, 0o602] {
        set_mode(&folder.file(), loose);
        folder.refuses(StoreErrorKind::Insecure);
        assert_eq!(mode(&folder.file()), loose);
    }
}

/// A program that opened the file while it was readable sees no later record. A process that writes the file keeps writing to it.
#[tokio::test]
async fn a_file_that_others_could_read_is_replaced_unless_a_process_has_it_open() {
    let folder = Folder::new();
    let number = || fs::metadata(folder.file()).unwrap().ino();
    folder.store().commit(ACCOUNT, &batch(1, 10)).await.unwrap();
    set_mode(&folder.file(), 0o644);
    let earlier = number();
    let _earlier = fs::File::open(folder.file()).unwrap();
    let store = folder.store();
    assert!(number() != earlier);
    let before = rows(&store).await;
    assert!(!before.is_empty());
    // The log shows that a process has the file open.
    set_mode(&folder.file(), 0o644);
    let used = number();
    let other = folder.store();
    assert_eq!((number(), mode(&folder.file())), (used, 0o600));
    store.commit(ACCOUNT, &batch(2, 10)).await.unwrap();
    assert!(rows(&other).await.len() > before.len());
}

#[test]
fn opening_is_tried_again_for_less_than_a_second_while_access_is_denied() {
    for (kind, failures, tries) in [
        (StoreErrorKind::Denied, 1, 2),
        (StoreErrorKind::Denied, 9, 7),
        (StoreErrorKind::Unreadable, 1, 1),
    ] {
        let (waited, tried) = (Cell::new(Duration::ZERO), Cell::new(0));
        let done = while_held(
            |pause| waited.set(waited.get() + pause),
            || {
                tried.set(tried.get() + 1);
                if tried.get() > failures {
                    return Ok(());
                }
                Err(SqliteError(StoreError::new(kind, "x")))
            },
        );
        assert_eq!((tried.get(), done.is_ok()), (tries, tries > failures));
        assert!(waited.get() < Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_link_a_directory_and_a_folder_that_others_may_write_are_refused() {
    let folder = Folder::new();
    drop(folder.store());
    let link = folder.path().join("link.db");
    symlink(folder.file(), &link).unwrap();
    assert!(SqliteSync::open(&link).unwrap_err().kind() == StoreErrorKind::Insecure);
    let directory = folder.path().join("directory.db");
    fs::create_dir(&directory).unwrap();
    assert!(SqliteSync::open(&directory).unwrap_err().kind() == StoreErrorKind::Unreadable);
    // Even with the sticky bit, others can place a `-wal` there in advance.
    for shared in [0o777, 0o1777] {
        set_mode(folder.path(), shared);
        folder.refuses(StoreErrorKind::Insecure);
    }
    set_mode(folder.path(), 0o755);
    drop(folder.store());
}

#[tokio::test]
async fn a_planted_file_beside_the_database_is_refused() {
    for ending in ["-wal", "-shm", "-journal"] {
        let folder = Folder::new();
        let planted = folder.path().join(format!("farm.db{ending}"));
        fs::write(&planted, "").unwrap();
        set_mode(&planted, 0o666);
        let refused = || SqliteSync::open(folder.file()).unwrap_err().kind();
        assert_eq!(refused(), StoreErrorKind::Insecure, "{ending}");
        fs::remove_file(&planted).unwrap();
        symlink(folder.path().join("elsewhere"), &planted).unwrap();
        assert_eq!(refused(), StoreErrorKind::Insecure, "{ending}");
    }
}

/// Root can write files of any mode, so `SQLite`'s own switch refuses the write; for other users the mode does so, too.
#[tokio::test]
async fn a_file_that_cannot_be_written_is_read() {
    let folder = Folder::new();
    let store = folder.store();
    store.commit(ACCOUNT, &batch(1, 10)).await.unwrap();
    let before = rows(&store).await;
    let writer = store.writer.lock().await;
    writer.pragma_update(None, "query_only", true).unwrap();
    drop(writer);
    let error = store.commit(ACCOUNT, &batch(2, 10)).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Denied, "{error}");
    assert_eq!(rows(&store).await, before);
    drop(store);
    set_mode(&folder.file(), 0o400);
    let store = SqliteSync::open(folder.file()).unwrap();
    assert_eq!(rows(&store).await, before);
    if fs::metadata(folder.file()).unwrap().uid() != 0 {
        let error = store.commit(ACCOUNT, &batch(2, 10)).await.unwrap_err();
        assert!(error.kind() == StoreErrorKind::Denied, "{error}");
        assert_eq!(rows(&store).await, before);
    }
}
