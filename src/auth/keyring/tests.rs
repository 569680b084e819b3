//! The keyring store with an in-memory keyring, and on a machine without a keyring.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use keyring_core::{CredentialStore, mock};
use test_support::TestFolder;

use super::KeyringStore;
use crate::auth::{Record, StoreErrorKind, TokenStore};

fn record(generation: u64) -> Record {
    let text = serde_json::json!({"form": 1, "tokens": {
        "access_token": format!("at-s3cr3t-{}", "x".repeat(4_000)), "refresh_token": "rt-s3cr3t",
        "subject": "sam", "issued_at_ms": 1_795_000_000_000_u64, "lifetime_ms": 86_400_000,
        "generation": generation,
    }});
    Record::from_secret_json(&text.to_string().into()).unwrap()
}

/// Two processes with one keyring, and the folder of their locks.
fn two() -> (KeyringStore, KeyringStore, TestFolder) {
    let (_, here, there, folder) = keyring_and_two();
    (here, there, folder)
}

fn keyring_and_two() -> (Arc<CredentialStore>, KeyringStore, KeyringStore, TestFolder) {
    let folder = TestFolder::new();
    let keyring = mock::Store::new().unwrap();
    let locks = folder.path().join("locks");
    let open = || KeyringStore::with_keyring(keyring.clone(), "app".to_owned(), locks.clone());
    (keyring.clone(), open(), open(), folder)
}

#[tokio::test]
async fn the_refresh_token_is_stored_and_the_access_token_stays_in_memory() {
    let (here, there, _folder) = two();
    let version = here.swap("sam", None, &record(1)).await.unwrap().unwrap();
    let own = here.load("sam").await.unwrap().unwrap();
    assert!(own.record.tokens().access_token().expose().len() > 4_000);
    let others = there.load("sam").await.unwrap().unwrap();
    let tokens = others.record.tokens();
    assert_eq!(others.version, version);
    assert!(tokens.refresh_token().unwrap().matches("rt-s3cr3t"));
    assert_eq!((tokens.subject(), tokens.generation()), (Some("sam"), 1));
    // The placeholder access token has expired.
    assert!(tokens.expires_at() <= UNIX_EPOCH + Duration::from_secs(1_795_000_000));
    assert!(others.record.to_secret_json().expose().len() < 1_000);
    let next = there.swap("sam", Some(version), &record(2)).await.unwrap();
    let seen = here.load("sam").await.unwrap().unwrap();
    assert_eq!(
        (Some(seen.version), seen.record.tokens().generation()),
        (next, 2)
    );
}

#[tokio::test]
async fn a_foreign_entry_is_an_error_and_is_not_overwritten() {
    use StoreErrorKind::{NewerVersion, Unreadable};
    let (keyring, here, _there, _folder) = keyring_and_two();
    for (text, kind) in [
        ("", Unreadable),
        ("hunter2", Unreadable),
        ("{\"form\":2}", NewerVersion),
    ] {
        let entry = keyring.build("app", "sam", None).unwrap();
        entry.set_secret(text.as_bytes()).unwrap();
        let error = here.load("sam").await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(here.swap("sam", None, &record(1)).await.is_err());
        assert_eq!(entry.get_secret().unwrap(), text.as_bytes());
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_a_session_bus_the_keyring_is_unsupported() {
    // Cannot be tested on a machine with a keyring.
    if std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some() {
        return;
    }
    let process = std::process::id();
    let locks = std::env::temp_dir().join(format!("envd-sdk-keyring-bus-{process}"));
    // A keyring may be available even if the variable is not set.
    if let Err(error) = KeyringStore::open("envd-sdk-test", locks).await {
        assert!(error.kind() == StoreErrorKind::Unsupported, "{error:?}");
    }
}

#[tokio::test]
async fn debug_shows_no_token() {
    let (here, _there, _folder) = two();
    here.swap("sam", None, &record(1)).await.unwrap();
    for text in ["s3cr3t", "sam"] {
        test_support::hides_text::<KeyringStore>(&here, text);
    }
}
