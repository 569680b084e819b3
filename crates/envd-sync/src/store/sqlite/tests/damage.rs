//! Damaged files, files of other programs, and files of newer versions.

use std::fs;
use std::panic::AssertUnwindSafe;

use fastrand::Rng;
use futures_util::FutureExt;
use rusqlite::Connection;

use super::folder::{ACCOUNT, Folder, batch, rows};
use crate::store::rows::Query;
use crate::store::{SqliteSync, SyncStore};
use envd_sdk::auth::{StoreError, StoreErrorKind};

/// Opens, reads everything and writes; the first error.
async fn use_it(folder: &Folder) -> Result<(), StoreError> {
    let store = SqliteSync::open(folder.file())?;
    let all = Query {
        limit: 100_000,
        ..Query::default()
    };
    store.query(ACCOUNT, &all).await?;
    store.documents(ACCOUNT, "").await?;
    store.commit(ACCOUNT, &batch(5, 10)).await.map(drop)
}

async fn filled(folder: &Folder) -> Vec<u8> {
    let store = folder.store();
    for number in 0..40 {
        store.commit(ACCOUNT, &batch(number, 3_000)).await.unwrap();
    }
    drop(store);
    fs::read(folder.file()).unwrap()
}

/// Holds: failure point 21: damaged, read-only or newer.
#[tokio::test]
async fn a_file_that_is_no_database_is_left_as_it_is() {
    let folder = Folder::new();
    let text = "C-1,DRAFT\n".repeat(1_000);
    for contents in [
        &*text,
        "{}",
        &"\0".repeat(4_096),
        "SQLite format 3\0 and no more",
    ] {
        folder.write(contents);
        folder.refuses(StoreErrorKind::Unreadable);
    }
}

#[tokio::test]
async fn the_database_of_another_program_is_left_as_it_is() {
    let folder = Folder::new();
    for sql in [
        "CREATE TABLE accounts (name TEXT)",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 1",
    ] {
        let other = Connection::open(folder.file()).unwrap();
        other.execute_batch(sql).unwrap();
        drop(other);
        let error = folder.refuses(StoreErrorKind::Unreadable);
        assert!(error.to_string().contains("another program"), "{error}");
        fs::remove_file(folder.file()).unwrap();
    }
}

#[tokio::test]
async fn a_newer_file_is_left_as_it_is() {
    let folder = Folder::new();
    filled(&folder).await;
    let open = folder.store();
    let other = Connection::open(folder.file()).unwrap();
    other
        .execute_batch("DROP TABLE payloads; PRAGMA user_version = 2;")
        .unwrap();
    // A newer program migrated the file while this one had it open.
    let commit = open.commit(ACCOUNT, &batch(1, 1)).await.map(drop);
    let read = open.documents(ACCOUNT, "").await.map(drop);
    for error in [commit, read] {
        assert_eq!(error.unwrap_err().kind(), StoreErrorKind::NewerVersion);
    }
    drop((open, other));
    folder.refuses(StoreErrorKind::NewerVersion);
}

#[tokio::test]
async fn a_truncated_file_is_unreadable_and_left_as_it_is() {
    let folder = Folder::new();
    let whole = filled(&folder).await;
    // SQLite treats a file of zero or one byte as a new one.
    let (half, all_but_a_page) = (whole.len() / 2, whole.len() - 4_096);
    for length in [2, 50, 99, 512, 4_096, 5_000, half, all_but_a_page] {
        folder.write(&whole[..length]);
        let error = use_it(&folder).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unreadable, "{length}");
        assert_eq!(fs::read(folder.file()).unwrap(), &whole[..length]);
    }
}

/// `SQLite` has no checksums: a flipped bit inside a payload changes the payload. All other damage is an error or has no effect.
#[tokio::test]
async fn flipped_bytes_are_an_error_or_without_effect_and_never_a_panic() {
    let folder = Folder::new();
    let whole = filled(&folder).await;
    let mut random = Rng::with_seed(4711);
    let mut unreadable = 0;
    for round in 0..150 {
        let mut damaged = whole.clone();
        // At the heads of pages, which hold the structure, and anywhere.
        let page = random.usize(..whole.len() / 4_096) * 4_096;
        let at = match round % 3 {
            0 => page + random.usize(..12),
            1 => random.usize(..100),
            _ => random.usize(..whole.len()),
        };
        damaged[at] ^= 1 << random.u32(..8);
        folder.write(&damaged);
        let used = AssertUnwindSafe(use_it(&folder)).catch_unwind().await;
        match used.unwrap_or_else(|_| panic!("a panic with byte {at}")) {
            Ok(()) => {}
            Err(error) => {
                let is_other = matches!(
                    error.kind(),
                    StoreErrorKind::Full | StoreErrorKind::LockTimeout
                );
                assert!(!is_other, "{at}: {error}");
                unreadable += u32::from(error.kind() == StoreErrorKind::Unreadable);
            }
        }
        for ending in ["-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(folder.path().join(format!("farm.db{ending}")));
        }
    }
    assert!(unreadable > 30, "{unreadable}");
    folder.write(&whole);
    assert_eq!(rows(&folder.store()).await.len(), 40);
}

#[tokio::test]
async fn a_check_finds_damage_that_opening_does_not() {
    let folder = Folder::new();
    let whole = filled(&folder).await;
    folder.store().check().await.unwrap();
    let mut found = 0;
    // Every page except the first, which is read when the file is opened.
    for page in (4_096..whole.len()).step_by(4_096) {
        let mut damaged = whole.clone();
        damaged[page..page + 12].fill(0xff);
        folder.write(&damaged);
        let Ok(store) = SqliteSync::open(folder.file()) else {
            continue;
        };
        match store.check().await {
            // A page without structure, such as the overflow of a long payload.
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Unreadable, "{error}");
                assert!(error.to_string().contains("damaged"), "{error}");
                found += 1;
            }
        }
    }
    assert!(found > 5, "{found}");
}

/// `SQLite` treats a log frame with a wrong checksum as the end of the log.
#[tokio::test]
async fn a_damaged_log_loses_its_last_commits_and_no_check_finds_it() {
    let folder = Folder::new();
    let store = folder.store();
    for number in 0..40 {
        store.commit(ACCOUNT, &batch(number, 3_000)).await.unwrap();
    }
    let copy = Folder::new();
    copy.write(fs::read(folder.file()).unwrap());
    let mut log = fs::read(folder.path().join("farm.db-wal")).unwrap();
    let middle = log.len() / 2;
    log[middle] ^= 1;
    let damaged = copy.path().join("farm.db-wal");
    fs::copy(copy.file(), &damaged).unwrap();
    fs::write(&damaged, log).unwrap();
    let store = copy.store();
    store.check().await.unwrap();
    let kept = rows(&store).await.len();
    assert!((1..40).contains(&kept), "{kept}");
}

#[tokio::test]
async fn errors_hold_neither_paths_nor_values() {
    let folder = Folder::new();
    folder.write("no database");
    let error = SqliteSync::open(folder.file()).unwrap_err();
    let missing = SqliteSync::open(folder.path().join("none/farm.db")).unwrap_err();
    assert!(missing.kind() == StoreErrorKind::Missing, "{missing}");
    let store = SqliteSync::open(folder.path().join("other.db")).unwrap();
    let mut twice = batch(1, 1);
    let change = crate::store::rows::ChangeRow {
        sequence: 1,
        previous: 0,
        id: "s3cr3t".to_owned(),
        payload: "s3cr3t".to_owned(),
    };
    twice.changes = vec![change.clone(), change];
    let constraint = store.commit("s3cr3t", &twice).await.unwrap_err();
    for error in [error, missing, constraint] {
        let shown = crate::tests::shown(&error);
        for secret in ["s3cr3t", "envd-sdk-test", "farm.db", "token"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
