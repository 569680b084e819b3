//! Paths and names, and files that other programs hold or protect.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(windows)]
use super::folder::kind;
use super::folder::{Folder, put, record};
use crate::auth::store::generation;
#[cfg(windows)]
use crate::auth::store::held_file::system::while_waiting;
use crate::auth::{FileStore, PrivateFile, StoreErrorKind, TokenStore};

/// A folder with a path of more than 400 characters. Windows refuses more than 259, unless they are marked as a long path.
fn deep(folder: &Folder) -> PathBuf {
    let mut deep = folder.path().to_owned();
    for letter in ["a", "b", "c", "d"] {
        deep.push(letter.repeat(100));
        #[cfg_attr(not(unix), allow(unused_mut))]
        let mut builder = fs::DirBuilder::new();
        // Whatever the umask is: the store refuses a folder that the group can write to.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&deep).unwrap();
    }
    deep
}

#[tokio::test]
async fn the_path_of_a_token_file_may_be_long() {
    let folder = Folder::new();
    let store = FileStore::new(deep(&folder).join("tokens.json"));
    put(&store, "sam", 1).await;
    drop(store.lock("sam", Duration::ZERO).await.unwrap());
    assert_eq!(generation(&store, "sam").await, Some(1));
}

#[test]
fn the_path_of_a_private_file_may_be_long() {
    let folder = Folder::new();
    let file = PrivateFile::new(deep(&folder).join("farm.db"), "the database");
    file.prepare().unwrap();
    assert!(file.check().unwrap());
    assert!(file.open(OpenOptions::new().read(true)).unwrap().is_some());
}

#[tokio::test]
async fn a_file_that_a_program_reads_is_replaced() {
    let folder = Folder::new();
    let store = folder.store();
    let old = put(&store, "sam", 1).await;
    let text = folder.text();
    let reader = File::open(folder.file()).unwrap();
    let new = store.swap("sam", Some(old.version), &record(2)).await;
    assert!(new.unwrap().is_some());
    assert_eq!(io::read_to_string(reader).unwrap(), text);
    assert_eq!(generation(&store, "sam").await, Some(2));
}

#[tokio::test]
async fn a_file_that_a_program_reads_is_deleted() {
    let folder = Folder::new();
    let store = folder.store();
    let old = put(&store, "sam", 1).await;
    let text = folder.text();
    let reader = File::open(folder.file()).unwrap();
    assert!(store.remove("sam", old.version).await.unwrap());
    assert_eq!(io::read_to_string(reader).unwrap(), text);
    assert!(store.load("sam").await.unwrap().is_none());
    put(&store, "sam", 1).await;
}

#[tokio::test]
async fn a_read_only_file_is_replaced_or_the_write_is_denied() {
    let folder = Folder::new();
    let store = folder.store();
    let old = put(&store, "sam", 1).await;
    let mut permissions = fs::metadata(folder.file()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.file(), permissions).unwrap();
    let stored = match store.swap("sam", Some(old.version), &record(2)).await {
        Ok(version) => version.map(|_| 2),
        Err(error) => {
            assert!(error.kind() == StoreErrorKind::Denied, "{error}");
            Some(1)
        }
    };
    assert_eq!(generation(&store, "sam").await, stored);
    assert_eq!(folder.names(), ["tokens.json", "tokens.json.lock"]);
}

#[cfg(windows)]
#[tokio::test]
async fn a_name_that_windows_gives_another_meaning_is_refused() {
    let folder = Folder::new();
    let verbatim = fs::canonicalize(folder.path()).unwrap();
    for path in [
        folder.path().join("tokens.json:sam"),
        folder.path().join("nul.json"),
        folder.path().join("CON"),
        verbatim.join("tokens.json "),
        verbatim.join("COM1"),
    ] {
        let swapped = FileStore::new(&path).swap("sam", None, &record(1)).await;
        assert!(
            kind(swapped) == StoreErrorKind::Unreadable,
            "{}",
            path.display()
        );
        let prepared = PrivateFile::new(&path, "the database").prepare();
        assert!(
            kind(prepared) == StoreErrorKind::Unreadable,
            "{}",
            path.display()
        );
    }
    assert_eq!(folder.names(), [""; 0]);
    // Windows removes blanks and dots at the end from other paths, in every program.
    put(
        &FileStore::new(folder.path().join("tokens.json. ")),
        "sam",
        1,
    )
    .await;
    assert_eq!(generation(&folder.store(), "sam").await, Some(1));
}

#[cfg(windows)]
#[tokio::test]
async fn every_path_to_a_file_leads_to_the_same_lock() {
    let folder = Folder::new();
    let _held = folder.store().lock("sam", Duration::ZERO).await.unwrap();
    let verbatim = fs::canonicalize(folder.path()).unwrap();
    for path in [
        verbatim.join("tokens.json"),
        folder.path().join("TOKENS.JSON"),
        folder.path().join(".").join("tokens.json"),
    ] {
        let locked = FileStore::new(&path).lock("sam", Duration::ZERO).await;
        assert!(
            kind(locked) == StoreErrorKind::LockTimeout,
            "{}",
            path.display()
        );
    }
}

/// The system shares each drive with the administrators of the machine, such as `C:` as `C$`.
#[cfg(windows)]
#[tokio::test]
async fn a_token_file_on_a_share_has_the_same_lock_as_on_its_drive() {
    let folder = Folder::new();
    let verbatim = fs::canonicalize(folder.path()).unwrap();
    let (drive, path) = verbatim.to_str().unwrap()[4..].split_once(':').unwrap();
    let share =
        |start: &str| PathBuf::from(format!(r"{start}localhost\{drive}${path}\tokens.json"));
    let found = fs::metadata(share(r"\\").parent().unwrap());
    found.expect("this test needs the rights of an administrator");
    let store = FileStore::new(share(r"\\"));
    put(&store, "sam", 1).await;
    assert_eq!(generation(&folder.store(), "sam").await, Some(1));
    let _held = store.lock("sam", Duration::ZERO).await.unwrap();
    for other in [folder.file(), share(r"\\?\UNC\")] {
        let locked = FileStore::new(&other).lock("sam", Duration::ZERO).await;
        assert!(
            kind(locked) == StoreErrorKind::LockTimeout,
            "{}",
            other.display()
        );
    }
}

/// As editors and virus scanners open files.
#[cfg(windows)]
#[tokio::test]
async fn a_program_that_lets_nobody_else_change_the_file_delays_a_write() {
    const FILE_SHARE_READ: u32 = 1;
    let folder = Folder::new();
    let store = folder.store();
    let old = put(&store, "sam", 1).await;
    let reader = shared_with(&folder, FILE_SHARE_READ);
    let swapped = store.swap("sam", Some(old.version), &record(2)).await;
    assert!(kind(swapped) == StoreErrorKind::Denied);
    assert_eq!(generation(&store, "sam").await, Some(1));
    assert_eq!(folder.names(), ["tokens.json", "tokens.json.lock"]);
    drop(reader);
    let swapped = store.swap("sam", Some(old.version), &record(2)).await;
    assert!(swapped.unwrap().is_some());

    let mut reader = Some(shared_with(&folder, 0));
    assert!(kind(store.load("sam").await) == StoreErrorKind::Denied);
    while_waiting(move || drop(reader.take()));
    let file = PrivateFile::new(folder.file(), "the token file");
    assert!(file.open(OpenOptions::new().read(true)).unwrap().is_some());
}

/// Opens the token file, and lets other programs only do this with it.
#[cfg(windows)]
fn shared_with(folder: &Folder, sharing: u32) -> File {
    use std::os::windows::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.read(true).share_mode(sharing);
    options.open(folder.file()).unwrap()
}
