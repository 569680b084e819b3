//! The keyring store on a keyring in memory, and on a machine that has none. `fake` has the laws that it keeps.

use std::env;
use std::sync::Arc;

use keyring_core::{CredentialStore, mock};

use super::KeyringStore;
use crate::auth::store::file::Folder;
use crate::auth::store::tokens;
use crate::auth::{Record, TokenStore};

fn record(generation: u64) -> Record {
    let mut tokens = tokens(generation);
    tokens.access_token = "at-s3cr3t".repeat(500).into();
    tokens.refresh_token = Some("rt-s3cr3t".into());
    tokens.subject = Some("sam".to_owned());
    Record::new(tokens)
}

/// A keyring, the stores of two processes on it, and the folder of their locks.
fn two() -> (Arc<CredentialStore>, KeyringStore, KeyringStore, Folder) {
    let (folder, keyring) = (Folder::new(), mock::Store::new().unwrap());
    let locks = folder.path().join("locks");
    let open = || KeyringStore::with_keyring(keyring.clone(), "app".to_owned(), locks.clone());
    (keyring.clone(), open(), open(), folder)
}

#[tokio::test]
async fn the_refresh_token_is_stored_and_the_access_token_stays_in_memory() {
    let (_, here, there, _folder) = two();
    let version = here.swap("sam", None, &record(1)).await.unwrap().unwrap();
    let own = here.load("sam").await.unwrap().unwrap();
    assert!(own.record.tokens().access_token().expose().len() > 4_000);
    let others = there.load("sam").await.unwrap().unwrap();
    let tokens = others.record.tokens();
    assert_eq!(others.version, version);
    assert!(tokens.refresh_token().unwrap().matches("rt-s3cr3t"));
    assert_eq!((tokens.subject(), tokens.generation()), (Some("sam"), 1));
    // What is there in its place has expired.
    assert_eq!(tokens.expires_at(), tokens.issued_at());
    assert!(others.record.to_secret_json().expose().len() < 1_000);
    let next = there.swap("sam", Some(version), &record(2)).await.unwrap();
    let seen = here.load("sam").await.unwrap().unwrap();
    assert_eq!(
        (Some(seen.version), seen.record.tokens().generation()),
        (next, 2)
    );
    let shown = format!("{here:?}");
    assert!(
        !shown.contains("s3cr3t") && !shown.contains("sam"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_foreign_entry_is_an_error_and_is_not_overwritten() {
    let (keyring, here, _there, _folder) = two();
    for (text, newer) in [("", false), ("hunter2", false), ("{\"form\":2}", true)] {
        let entry = keyring.build("app", "sam", None).unwrap();
        entry.set_secret(text.as_bytes()).unwrap();
        let error = here.load("sam").await.unwrap_err();
        assert!(error.is_unreadable() && error.is_newer_version() == newer);
        assert!(here.swap("sam", None, &record(1)).await.is_err());
        assert_eq!(entry.get_secret().unwrap(), text.as_bytes());
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_a_session_bus_the_keyring_is_unsupported() {
    // A machine that has a keyring cannot show this.
    if env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some() {
        return;
    }
    let folder = Folder::new();
    // A keyring may be found by another way than the variable.
    if let Err(error) = KeyringStore::open("envd-sdk-test", folder.path().join("locks")).await {
        assert!(error.is_unsupported(), "{error:?}");
    }
}
