//! A file that cannot be read is an error, is not taken for an account without a login, and is never overwritten.

use std::fs;

use super::folder::{Folder, generation, put, record};
use crate::auth::{FileStore, StoreError, TokenStore, Version};

/// No way to change the file touches it, and each says the same.
async fn assert_blocks_changes(folder: &Folder, text: &str, is: fn(&StoreError) -> bool) {
    folder.write(text);
    let store = folder.store();
    let version = Version::new(1);
    for error in [
        store.load("sam").await.unwrap_err(),
        store.swap("sam", None, &record(1)).await.unwrap_err(),
        store
            .swap("sam", Some(version), &record(1))
            .await
            .unwrap_err(),
        store.remove("sam", version).await.unwrap_err(),
    ] {
        assert!(is(&error), "{text:?}: {error:?}");
    }
    assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
}

/// Row 20.
#[tokio::test]
async fn a_damaged_file_is_an_error_and_stays_as_it_is() {
    let folder = Folder::new();
    for text in [
        "not json",
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
        assert_blocks_changes(&folder, text, StoreError::is_unreadable).await;
    }
}

/// Row 20.
#[tokio::test]
async fn an_empty_file_is_an_error_and_stays_as_it_is() {
    let folder = Folder::new();
    for text in ["", "\n", "   "] {
        assert_blocks_changes(&folder, text, StoreError::is_unreadable).await;
    }
}

/// Row 20.
#[tokio::test]
async fn the_file_of_a_newer_version_is_an_error_and_stays_as_it_is() {
    let folder = Folder::new();
    for text in [
        "{\"form\":2,\"all\":\"other\"}",
        "{\"form\":4294967295,\"writes\":1,\"accounts\":{}}",
    ] {
        assert_blocks_changes(&folder, text, StoreError::is_newer_version).await;
    }
}

/// Row 53.
#[tokio::test]
async fn a_damaged_file_is_set_aside_once_for_each_time() {
    let folder = Folder::new();
    let store = folder.store();
    for (text, aside) in [
        ("not json", "tokens.json.damaged"),
        ("", "tokens.json.damaged-2"),
        ("{\"form\":1}", "tokens.json.damaged-3"),
    ] {
        folder.write(text);
        assert!(store.set_aside_unreadable("sam").await.unwrap());
        let kept = fs::read_to_string(folder.path().join(aside)).unwrap();
        assert_eq!(kept, text);
        assert!(store.load("sam").await.unwrap().is_none());
    }
    // There is nothing to be set aside any more, nor in a file that can be read.
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
    let text = fs::read_to_string(folder.file()).unwrap();
    let text = text.replace("\"generation\":2", "\"generation\":\"two\"");
    folder.write(&text);
    assert!(store.load("sam").await.unwrap_err().is_unreadable());
    assert!(store.set_aside_unreadable("sam").await.unwrap());
    assert!(store.load("sam").await.unwrap().is_none());
    assert_eq!(generation(&store, "kim").await, Some(1));
    let kept = fs::read_to_string(folder.path().join("tokens.json.damaged")).unwrap();
    assert_eq!(kept, text);
}

/// Row 53.
#[tokio::test]
async fn what_a_newer_version_wrote_is_not_set_aside() {
    let folder = Folder::new();
    let newer = "{\"version\":7,\"record\":{\"form\":9}}";
    for text in [
        "{\"form\":2,\"all\":\"other\"}".to_owned(),
        format!("{{\"form\":1,\"writes\":7,\"accounts\":{{\"sam\":{newer}}}}}"),
    ] {
        folder.write(&text);
        let error = folder.store().set_aside_unreadable("sam").await;
        assert!(error.unwrap_err().is_newer_version());
        assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_an_error() {
    let folder = Folder::new();
    folder.write([0xff, 0xfe, 0x00]);
    let error = folder.store().load("sam").await.unwrap_err();
    assert!(error.is_unreadable());
}

/// Row 20.
#[tokio::test]
async fn the_record_of_a_newer_version_does_not_affect_other_accounts() {
    let folder = Folder::new();
    let newer = "{\"version\":7,\"record\":{\"form\":9,  \"kept\":[\"as it is\"]}}";
    let text = format!("{{\"form\":1,\"writes\":7,\"accounts\":{{\"kim\":{newer}}}}}");
    folder.write(text);
    let store = folder.store();
    assert!(store.load("kim").await.unwrap_err().is_newer_version());
    assert!(store.swap("kim", None, &record(1)).await.unwrap().is_none());
    let sam = put(&store, "sam", 1).await;
    assert!(fs::read_to_string(folder.file()).unwrap().contains(newer));
    assert!(store.remove("sam", sam.version).await.unwrap());
    assert!(fs::read_to_string(folder.file()).unwrap().contains(newer));
}

/// Row 20.
#[tokio::test]
async fn a_directory_that_is_missing_is_an_error_and_is_not_made() {
    let folder = Folder::new();
    let missing = folder.path().join("missing");
    let store = FileStore::new(missing.join("tokens.json"));
    assert!(store.load("sam").await.unwrap_err().is_missing());
    let error = store.swap("sam", None, &record(1)).await.unwrap_err();
    assert!(error.is_missing());
    let lock = store.lock("sam", std::time::Duration::ZERO).await;
    assert!(lock.unwrap_err().is_missing());
    assert!(!missing.exists());
}

#[tokio::test]
async fn a_path_that_names_no_file_is_an_error() {
    let folder = Folder::new();
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
async fn after_the_last_account_only_the_locks_remain() {
    let folder = Folder::new();
    let store = folder.store();
    let (sam, kim) = (put(&store, "sam", 1).await, put(&store, "kim", 1).await);
    assert!(store.remove("sam", sam.version).await.unwrap());
    assert_eq!(folder.names(), ["tokens.json", "tokens.json.lock"]);
    assert!(store.remove("kim", kim.version).await.unwrap());
    assert_eq!(folder.names(), ["tokens.json.lock"]);
    assert!(store.load("kim").await.unwrap().is_none());
}

#[tokio::test]
async fn accounts_with_unusual_keys_are_separate() {
    let folder = Folder::new();
    let store = folder.store();
    let keys = ["", "auth0|sam", "../sam", "a\"b\\c\n\0", "sam@example.com"];
    for (key, number) in keys.iter().zip(1..) {
        put(&store, key, number).await;
        store.lock(key, std::time::Duration::ZERO).await.unwrap();
    }
    for (key, number) in keys.iter().zip(1..) {
        assert_eq!(generation(&store, key).await, Some(number));
    }
    let names = folder.names().concat();
    assert!(
        !names.contains("sam") && !names.contains("auth0"),
        "{names}"
    );
}

/// Row 47.
#[tokio::test]
async fn neither_debug_nor_errors_show_what_is_in_the_file() {
    let folder = Folder::new();
    let text = "{\"form\":1,\"writes\":1,\"accounts\":{\"sam\":{\"version\":\"s3cr3t\"}}}";
    folder.write(text);
    let store = folder.store();
    let error = crate::error::Error::from(store.load("sam").await.unwrap_err());
    let shown = format!("{error:?} {error} {store:?}");
    assert!(
        !shown.contains("s3cr3t") && !shown.contains("sam"),
        "{shown}"
    );
}
