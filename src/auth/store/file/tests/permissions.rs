//! Who may read and write the file.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use super::folder::{Folder, generation, put, record};
use crate::auth::{FileStore, TokenStore};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn all_files_are_made_for_their_owner_alone() {
    let folder = Folder::new();
    let store = folder.store();
    put(&store, "sam", 1).await;
    store.lock("sam", Duration::ZERO).await.unwrap();
    let names = folder.names();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in names {
        assert_eq!(mode(&folder.path().join(&name)), 0o600, "{name}");
    }
}

/// Row 20.
#[tokio::test]
async fn a_file_that_others_may_read_is_taken_from_them() {
    let folder = Folder::new();
    let store = folder.store();
    put(&store, "sam", 1).await;
    for loose in [0o644, 0o640, 0o604, 0o755] {
        set_mode(&folder.file(), loose);
        assert_eq!(generation(&store, "sam").await, Some(1));
        assert_eq!(mode(&folder.file()), 0o600, "{loose:o}");
    }
}

/// Row 20.
#[tokio::test]
async fn a_file_that_others_may_write_is_refused_and_left_alone() {
    let folder = Folder::new();
    let store = folder.store();
    let version = put(&store, "sam", 1).await.version;
    let text = fs::read(folder.file()).unwrap();
    for loose in [0o666, 0o620, 0o602] {
        set_mode(&folder.file(), loose);
        assert!(store.load("sam").await.unwrap_err().is_insecure());
        let swapped = store.swap("sam", Some(version), &record(2)).await;
        assert!(swapped.unwrap_err().is_insecure());
        let removed = store.remove("sam", version).await;
        assert!(removed.unwrap_err().is_insecure());
        assert_eq!(mode(&folder.file()), loose);
        assert_eq!(fs::read(folder.file()).unwrap(), text);
    }
}

/// Row 20.
#[tokio::test]
async fn a_symbolic_link_in_the_place_of_the_file_is_refused() {
    let folder = Folder::new();
    put(&folder.store(), "sam", 1).await;
    let link = folder.path().join("link.json");
    for target in [folder.file(), folder.path().join("nothing")] {
        symlink(&target, &link).unwrap();
        let store = FileStore::new(&link);
        assert!(store.load("sam").await.unwrap_err().is_insecure());
        let error = store.swap("sam", None, &record(2)).await.unwrap_err();
        assert!(error.is_insecure());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(generation(&folder.store(), "sam").await, Some(1));
}

/// Row 20.
#[tokio::test]
async fn who_comes_by_a_linked_directory_meets_the_same_file_and_the_same_lock() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("real")).unwrap();
    symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
    let at = |directory: &str| FileStore::new(folder.path().join(directory).join("tokens.json"));
    let (real, link) = (at("real"), at("link"));
    put(&link, "sam", 1).await;
    assert_eq!(generation(&real, "sam").await, Some(1));
    let _held = real.lock("sam", Duration::ZERO).await.unwrap();
    let error = link.lock("sam", Duration::ZERO).await.unwrap_err();
    assert!(error.is_lock_timeout());
}

#[tokio::test]
async fn what_is_no_file_is_an_error_and_nobody_waits_for_it() {
    let folder = Folder::new();
    fs::create_dir(folder.file()).unwrap();
    let store = folder.store();
    assert!(store.load("sam").await.unwrap_err().is_unreadable());
    let error = store.swap("sam", None, &record(1)).await.unwrap_err();
    assert!(error.is_unreadable());
}
