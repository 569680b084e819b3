//! The permissions of the file and its directory.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::Duration;

use super::folder::{Folder, kind, put, record};
use crate::auth::store::generation;
use crate::auth::{FileStore, StoreError, StoreErrorKind, TokenStore};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The error of a first write.
async fn refusal(store: &FileStore) -> StoreError {
    store.swap("sam", None, &record(1)).await.unwrap_err()
}

#[tokio::test]
async fn all_files_are_created_for_their_owner_only() {
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
async fn a_file_that_others_may_read_is_made_private() {
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
async fn a_file_that_others_may_write_is_refused_and_unchanged() {
    let folder = Folder::new();
    let store = folder.store();
    let version = put(&store, "sam", 1).await.version;
    let text = fs::read(folder.file()).unwrap();
    for loose in [0o666, 0o620, 0o602] {
        set_mode(&folder.file(), loose);
        let swapped = store.swap("sam", Some(version), &record(2)).await;
        let removed = store.remove("sam", version).await;
        let kinds = [kind(store.load("sam").await), kind(swapped), kind(removed)];
        assert_eq!(kinds, [StoreErrorKind::Insecure; 3]);
        assert_eq!(mode(&folder.file()), loose);
        assert_eq!(fs::read(folder.file()).unwrap(), text);
    }
}

/// Anyone who may open a lock file could hold the lock and block the owner of the tokens.
#[tokio::test]
async fn a_lock_file_is_kept_to_its_owner() {
    let folder = Folder::new();
    let store = folder.store();
    put(&store, "sam", 1).await;
    let lock = folder.path().join("tokens.json.lock");
    set_mode(&lock, 0o644);
    put(&store, "kim", 1).await;
    assert_eq!(mode(&lock), 0o600);
    set_mode(&lock, 0o666);
    let error = refusal(&store).await;
    assert_eq!(error.kind(), StoreErrorKind::Insecure);
    assert!(error.to_string().contains("lock"), "{error}");
    assert_eq!(mode(&lock), 0o666);
}

/// Row 20.
#[tokio::test]
async fn a_symbolic_link_in_the_place_of_the_file_or_of_its_lock_is_refused() {
    let folder = Folder::new();
    put(&folder.store(), "sam", 1).await;
    let link = folder.path().join("link.json");
    for target in [folder.file(), folder.path().join("nothing")] {
        symlink(&target, &link).unwrap();
        let store = FileStore::new(&link);
        let kinds = [kind(store.load("sam").await), refusal(&store).await.kind()];
        assert_eq!(kinds, [StoreErrorKind::Insecure; 2]);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(generation(&folder.store(), "sam").await, Some(1));
    // A link in place of the lock is refused too.
    let folder = Folder::new();
    let target = folder.path().join("target");
    symlink(&target, folder.path().join("tokens.json.lock")).unwrap();
    assert!(refusal(&folder.store()).await.kind() == StoreErrorKind::Insecure);
    assert!(!target.exists());
}

/// Row 20.
#[tokio::test]
async fn a_linked_directory_leads_to_the_same_file_and_the_same_lock() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("real")).unwrap();
    set_mode(&folder.path().join("real"), 0o700);
    symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
    let at = |directory: &str| FileStore::new(folder.path().join(directory).join("tokens.json"));
    let real = at("real");
    let link = at("link");
    put(&link, "sam", 1).await;
    assert_eq!(generation(&real, "sam").await, Some(1));
    let _held = real.lock("sam", Duration::ZERO).await.unwrap();
    let error = link.lock("sam", Duration::ZERO).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::LockTimeout);
}

/// Row 20. Opening a pipe may block forever, so it is opened without waiting, and then checked.
#[cfg(not(target_vendor = "apple"))] // rustix cannot create pipes there.
#[tokio::test]
async fn a_pipe_in_the_place_of_the_file_or_of_a_lock_is_refused_at_once() {
    use rustix::fs::{CWD, Mode, mkfifoat};

    let folder = Folder::new();
    fs::create_dir(folder.file()).unwrap();
    assert!(refusal(&folder.store()).await.kind() == StoreErrorKind::Unreadable);
    for name in ["tokens.json", "tokens.json.lock"] {
        let folder = Folder::new();
        let pipe = folder.path().join(name);
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        // Also if the pipe has a reader, so that it can be opened.
        for read in [false, true] {
            let mut reader = fs::OpenOptions::new();
            let reader = read.then(|| reader.read(true).write(true).open(&pipe).unwrap());
            let error = refusal(&folder.store()).await;
            assert!(error.kind() != StoreErrorKind::LockTimeout, "{error}");
            drop(reader);
        }
        assert!(folder.names() == [name] || folder.names() == ["tokens.json", "tokens.json.lock"]);
    }
}

/// Row 20.
#[tokio::test]
async fn a_directory_that_others_may_write_is_refused_unless_it_is_sticky() {
    let folder = Folder::new();
    let store = folder.store();
    put(&store, "sam", 1).await;
    let insecure = Some(StoreErrorKind::Insecure);
    for (loose, refused) in [
        (0o777, insecure),
        (0o757, insecure),
        (0o1777, None),
        (0o755, None),
    ] {
        set_mode(folder.path(), loose);
        let loaded = store.load("sam").await.err();
        let locked = store.lock("sam", Duration::ZERO).await.err();
        let kinds = [loaded, locked].map(|error| error.map(|it| it.kind()));
        assert_eq!(kinds, [refused; 2], "{loose:o}");
    }
}

/// Row 20. Only root can change the owner of a file, so other users cannot run this test.
#[tokio::test]
async fn a_file_of_another_user_is_refused() {
    let user = rustix::process::geteuid().as_raw();
    // Must differ from the caller, who may be `nobody`.
    let stranger = Some(if user == 65_534 { 65_533 } else { 65_534 });
    let folder = Folder::new();
    let store = folder.store();
    let version = put(&store, "sam", 1).await.version;
    let lock = folder.path().join("tokens.json.lock");
    for path in [folder.file(), lock, folder.path().to_owned()] {
        if chown(&path, stranger, None).is_err() {
            return;
        }
        let swapped = store.swap("sam", Some(version), &record(2)).await;
        let error = swapped.unwrap_err();
        assert!(error.kind() == StoreErrorKind::Insecure, "{error}");
        assert!(error.to_string().contains("another user"), "{error}");
        chown(&path, Some(user), None).unwrap();
    }
    assert_eq!(generation(&store, "sam").await, Some(1));
}
