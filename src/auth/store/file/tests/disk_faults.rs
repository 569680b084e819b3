//! Writes that fail halfway.

use std::fs;
use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::super::token_file::{WriteFaults, WriteStep};
use super::folder::{Folder, put, record};
use crate::auth::store::generation;
use crate::auth::{FileStore, StoreErrorKind, TokenStore};

/// A store with a disk that fails at this step while the switch is on.
fn failing(folder: &Folder, at: WriteStep, kind: ErrorKind) -> (FileStore, Arc<AtomicBool>) {
    let broken = Arc::new(AtomicBool::new(true));
    let mut store = folder.store();
    let switch = broken.clone();
    store.faults = WriteFaults::new(move |point| {
        let fails = point == at && switch.load(Ordering::SeqCst);
        if fails {
            Err(Error::from(kind))
        } else {
            Ok(())
        }
    });
    (store, broken)
}

/// Row 20.
#[tokio::test]
async fn a_failed_write_leaves_the_old_file_and_names_the_reason() {
    for (kind, reason) in [
        (ErrorKind::StorageFull, StoreErrorKind::Full),
        (ErrorKind::PermissionDenied, StoreErrorKind::Denied),
        (ErrorKind::ReadOnlyFilesystem, StoreErrorKind::Denied),
    ] {
        for point in [WriteStep::Begin, WriteStep::Made, WriteStep::Written] {
            let folder = Folder::new();
            let old = put(&folder.store(), "sam", 1).await;
            let text = fs::read(folder.file()).unwrap();
            let (store, broken) = failing(&folder, point, kind);
            let swapped = store.swap("sam", Some(old.version), &record(2)).await;
            assert_eq!(swapped.unwrap_err().kind(), reason, "{kind:?} at {point:?}");
            assert_eq!(fs::read(folder.file()).unwrap(), text);
            if point == WriteStep::Begin {
                let removed = store.remove("sam", old.version).await;
                assert_eq!(removed.unwrap_err().kind(), reason, "{kind:?}");
                assert_eq!(fs::read(folder.file()).unwrap(), text);
            }
            // No partial file with tokens is left either.
            assert_eq!(folder.names(), ["tokens.json", "tokens.json.lock"]);
            broken.store(false, Ordering::SeqCst);
            let swapped = store.swap("sam", Some(old.version), &record(2)).await;
            assert!(swapped.unwrap().is_some());
            assert_eq!(generation(&store, "sam").await, Some(2));
        }
    }
}

#[tokio::test]
async fn a_first_write_that_fails_leaves_no_file() {
    let folder = Folder::new();
    let (store, _broken) = failing(&folder, WriteStep::Written, ErrorKind::StorageFull);
    let error = store.swap("sam", None, &record(1)).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Full);
    assert!(store.load("sam").await.unwrap().is_none());
    assert_eq!(folder.names(), ["tokens.json.lock"]);
}

#[tokio::test]
async fn the_half_written_file_of_a_dead_process_does_not_block_writes() {
    let folder = Folder::new();
    let half = folder.path().join("tokens.json.tmp");
    fs::write(&half, "{\"form\":1,\"wri").unwrap();
    put(&folder.store(), "sam", 1).await;
    assert_eq!(generation(&folder.store(), "sam").await, Some(1));
    assert!(!half.exists());
}

/// Row 27.
#[tokio::test]
async fn a_file_system_without_locks_is_an_error_of_its_own_and_nothing_is_written() {
    let folder = Folder::new();
    for kind in [ErrorKind::Unsupported, ErrorKind::Other] {
        let (store, _broken) = failing(&folder, WriteStep::Lock, kind);
        let lock = store.lock("sam", Duration::from_secs(1)).await;
        assert!(lock.unwrap_err().kind() == StoreErrorKind::Unsupported);
        let error = store.swap("sam", None, &record(1)).await.unwrap_err();
        assert!(error.kind() == StoreErrorKind::Unsupported);
        assert!(!folder.file().exists());
    }
}

/// Row 61. A scanner opens the new file, which briefly cannot be renamed.
#[tokio::test]
async fn a_file_that_another_program_holds_for_a_moment_is_replaced() {
    for kind in [ErrorKind::PermissionDenied, ErrorKind::ResourceBusy] {
        for (denied, is_replaced) in [(1, true), (6, true), (7, false)] {
            let folder = Folder::new();
            let old = put(&folder.store(), "sam", 1).await;
            let left = AtomicUsize::new(denied);
            let mut store = folder.store();
            store.faults = WriteFaults::new(move |step| {
                let is_denied = step == WriteStep::Rename
                    && left
                        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1))
                        .is_ok();
                if is_denied { Err(kind.into()) } else { Ok(()) }
            });
            let swapped = store.swap("sam", Some(old.version), &record(2)).await;
            assert_eq!(swapped.is_ok(), is_replaced, "{denied} {kind}");
            let stored = if is_replaced { 2 } else { 1 };
            assert_eq!(generation(&store, "sam").await, Some(stored));
            assert_eq!(folder.names(), ["tokens.json", "tokens.json.lock"]);
        }
    }
}
