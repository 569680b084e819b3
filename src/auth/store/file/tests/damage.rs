//! An unreadable file is an error. It is not mistaken for an account without a login, and never overwritten.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::folder::{Folder, kind, put, record};
use crate::auth::store::generation;
use crate::auth::{FileStore, StoreErrorKind, TokenStore, Version};
use crate::error::Error;

const NEWER: &str = "{\"form\":2,\"all\":\"other\"}";

/// Checks that every way to change the file leaves it unchanged and fails with this kind.
async fn assert_blocks_changes(text: &[u8], kind: StoreErrorKind) {
    let folder = Folder::with(text);
    let store = folder.store();
    let version = Version::new(1);
    let record = record(1);
    let kinds = [
        self::kind(store.load("sam").await),
        self::kind(store.swap("sam", None, &record).await),
        self::kind(store.swap("sam", Some(version), &record).await),
        self::kind(store.remove("sam", version).await),
    ];
    assert_eq!(kinds, [kind; 4], "{text:?}");
    assert_eq!(fs::read(folder.file()).unwrap(), text);
}

/// Row 20.
#[tokio::test]
async fn a_damaged_file_is_an_error_and_stays_as_it_is() {
    for text in [
        "not json",
        "\0\0\0\0",
        "{}",
        "null",
        "[]",
        "{\"form\":1}",
        "{\"form\":\"1\",\"writes\":1,\"accounts\":{}}",
        "{\"form\":1,\"writes\":1,\"accounts\":[]}",
        "{\"form\":1,\"writes\":1,\"accounts\":{",
        "{\"name\":\"some other file\",\"version\":\"1.0.0\"}",
        "{\"form\":1,\"writes\":1,\"accounts\":{}} trailing",
    ] {
        assert_blocks_changes(text.as_bytes(), StoreErrorKind::Unreadable).await;
    }
    assert_blocks_changes(&[0xff, 0xfe, 0x00], StoreErrorKind::Unreadable).await;
    let later = "{\"form\":4294967295,\"writes\":1,\"accounts\":{}}";
    for newer in [NEWER, later] {
        assert_blocks_changes(newer.as_bytes(), StoreErrorKind::NewerVersion).await;
    }
}

/// Row 20.
#[tokio::test]
async fn an_empty_file_is_no_login_and_is_written_over() {
    for text in ["", "\n", "   "] {
        let folder = Folder::with(text);
        let store = folder.store();
        assert!(store.load("sam").await.unwrap().is_none());
        let version = Version::new(1);
        assert!(!store.remove("sam", version).await.unwrap());
        // It has nothing worth keeping.
        assert!(!store.set_aside_unreadable("sam").await.unwrap());
        put(&store, "sam", 1).await;
        assert_eq!(generation(&store, "sam").await, Some(1));
        assert!(!folder.names().concat().contains("damaged"));
    }
}

/// Row 53.
#[tokio::test]
async fn a_damaged_file_is_set_aside_once_for_each_time() {
    let folder = Folder::new();
    let store = folder.store();
    for (text, aside) in [
        ("not json", "tokens.json.damaged"),
        ("[]", "tokens.json.damaged-2"),
        ("{\"form\":1}", "tokens.json.damaged-3"),
    ] {
        folder.write(text);
        assert!(store.set_aside_unreadable("sam").await.unwrap());
        let kept = fs::read_to_string(folder.path().join(aside)).unwrap();
        assert_eq!(kept, text);
        assert!(store.load("sam").await.unwrap().is_none());
    }
    // Nothing is left to set aside, and a readable file is never set aside.
    assert!(!store.set_aside_unreadable("sam").await.unwrap());
    put(&store, "sam", 1).await;
    assert!(!store.set_aside_unreadable("sam").await.unwrap());
    assert_eq!(generation(&store, "sam").await, Some(1));
}

/// Row 53.
#[tokio::test]
async fn a_damaged_record_is_set_aside_alone() {
    let folder = Folder::new();
    let store = folder.store();
    put(&store, "kim", 1).await;
    put(&store, "sam", 2).await;
    let text = folder.text();
    let text = text.replace("\"generation\":2", "\"generation\":\"two\"");
    folder.write(&text);
    assert!(store.load("sam").await.unwrap_err().kind() == StoreErrorKind::Unreadable);
    assert!(store.set_aside_unreadable("sam").await.unwrap());
    assert!(store.load("sam").await.unwrap().is_none());
    assert_eq!(generation(&store, "kim").await, Some(1));
    let kept = fs::read_to_string(folder.path().join("tokens.json.damaged")).unwrap();
    assert_eq!(kept, text);
}

/// Row 20. Row 53. Other accounts are not affected either.
#[tokio::test]
async fn what_a_newer_version_wrote_is_not_set_aside() {
    let newer = "{\"version\":7,\"record\":{\"form\":9,  \"kept\":[\"as it is\"]}}";
    let record_alone = format!("{{\"form\":1,\"writes\":7,\"accounts\":{{\"kim\":{newer}}}}}");
    for text in [NEWER, &record_alone] {
        let folder = Folder::with(text);
        let error = folder.store().set_aside_unreadable("kim").await;
        assert!(error.unwrap_err().kind() == StoreErrorKind::NewerVersion);
        assert_eq!(folder.text(), text);
    }
    let folder = Folder::with(&record_alone);
    let store = folder.store();
    assert!(store.load("kim").await.unwrap_err().kind() == StoreErrorKind::NewerVersion);
    assert!(store.swap("kim", None, &record(1)).await.unwrap().is_none());
    let sam = put(&store, "sam", 1).await;
    assert!(folder.text().contains(newer));
    assert!(store.remove("sam", sam.version).await.unwrap());
    assert!(folder.text().contains(newer));
}

/// Row 20.
#[tokio::test]
async fn a_directory_that_is_missing_is_an_error_and_is_not_made() {
    let folder = Folder::new();
    let missing = folder.path().join("missing");
    let store = FileStore::new(missing.join("tokens.json"));
    let swapped = store.swap("sam", None, &record(1)).await;
    let locked = store.lock("sam", Duration::ZERO).await;
    let kinds = [kind(store.load("sam").await), kind(swapped), kind(locked)];
    assert_eq!(kinds, [StoreErrorKind::Missing; 3]);
    assert!(!missing.exists());
    // These are not paths of a file either.
    for path in [folder.path().join(".."), "/".into(), folder.path().into()] {
        assert!(FileStore::new(path).load("sam").await.is_err());
    }
}

#[tokio::test]
async fn a_file_that_was_deleted_and_written_anew_has_new_versions() {
    let folder = Folder::new();
    let store = folder.store();
    let old = put(&store, "sam", 1).await;
    fs::remove_file(folder.file()).unwrap();
    let new = put(&store, "sam", 2).await;
    assert_ne!(old.version, new.version);
    assert!(!store.remove("sam", old.version).await.unwrap());
    assert_eq!(generation(&store, "sam").await, Some(2));
}

#[tokio::test]
async fn accounts_with_unusual_keys_are_separate_and_after_the_last_only_locks_remain() {
    let folder = Folder::new();
    let store = folder.store();
    let keys = ["", "auth0|sam", "../sam", "a\"b\\c\n\0", "sam@example.com"];
    for (key, number) in keys.iter().zip(1..) {
        put(&store, key, number).await;
        store.lock(key, Duration::ZERO).await.unwrap();
    }
    let names = folder.names().concat();
    assert!(!names.contains("sam") && !names.contains("auth0"));
    for (key, number) in keys.iter().zip(1..) {
        assert!(folder.file().exists());
        assert_eq!(generation(&store, key).await, Some(number));
        let version = store.load(key).await.unwrap().unwrap().version;
        assert!(store.remove(key, version).await.unwrap());
    }
    let names = folder.names();
    let is_lock = |name: &String| Path::new(name).extension().is_some_and(|end| end == "lock");
    assert!(names.iter().all(is_lock));
    assert!(store.load("").await.unwrap().is_none());
}

/// Row 47.
#[tokio::test]
async fn neither_debug_nor_errors_show_what_is_in_the_file() {
    let damaged = "{\"version\":\"s3cr3t\"}";
    let text = format!("{{\"form\":1,\"writes\":1,\"accounts\":{{\"sam\":{damaged}}}}}");
    let folder = Folder::with(text);
    let store = folder.store();
    let error = Error::from(store.load("sam").await.unwrap_err());
    let shown = format!("{error:?} {error} {store:?}");
    assert!(!shown.contains("s3cr3t") && !shown.contains("sam"));
}
