//! The sealed store on top of an in-memory store.

use std::time::Duration;

use super::sealed_store::sealed_record;
use super::{SealedStore, SealingKey};
use crate::auth::store::file::Folder;
use crate::auth::store::record::Seal;
use crate::auth::store::{StoredMark, generation, tokens};
use crate::auth::{MemoryStore, Record, StoreErrorKind, TokenStore};

fn record(generation: u64) -> Record {
    let mut tokens = tokens(generation);
    tokens.access_token = "at-s3cr3t".into();
    tokens.refresh_token = Some("rt-s3cr3t".into());
    tokens.id_token = Some("it-s3cr3t".into());
    tokens.subject = Some("auth0|sam".to_owned());
    tokens.scopes = vec!["openid".to_owned()];
    let mut record = Record::new(tokens);
    record.refresh_mark = Some(StoredMark {
        generation,
        at: record.tokens().issued_at(),
        owner: None,
    });
    record
}

const SAM: &str = "sam@example.com";

fn key(id: &str, byte: u8) -> SealingKey {
    SealingKey::new(id, &[byte; 32])
}

fn seal(key_id: &str, text: &str) -> Seal {
    let key_id = key_id.to_owned();
    let text = text.to_owned();
    Seal { key_id, text }
}

fn two() -> (MemoryStore, SealedStore<MemoryStore>) {
    let inner = MemoryStore::new();
    (inner.clone(), SealedStore::new(inner, key("new", 1)))
}

#[tokio::test]
async fn the_inner_store_gets_times_and_no_token() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(7)).await.unwrap().unwrap();
    let seen = inner.load("sam").await.unwrap().unwrap().record;
    let text = seen.to_secret_json();
    for secret in ["s3cr3t", "sam", "openid"] {
        assert!(!text.expose().contains(secret), "{secret}");
    }
    // Restored the way a store does.
    let read = Record::from_secret_json(&text).unwrap();
    assert_eq!(read.to_secret_json().expose(), text.expose());
    let kept = read.seal.as_ref().unwrap();
    let seal = seen.seal.as_ref().unwrap();
    assert_eq!((&*kept.key_id, &kept.text), ("new", &seal.text));
    assert!(read.open().unwrap_err().kind() == StoreErrorKind::Unreadable);
    assert_eq!(seen.tokens().generation(), 7);
    assert_eq!(seen.tokens().expires_at(), record(7).tokens().expires_at());
    assert_eq!(seen.refresh_began_at(), record(7).refresh_began_at());
    let back = sealed.load("sam").await.unwrap().unwrap().record;
    let original = record(7).to_secret_json();
    assert!(back.to_secret_json().matches(original.expose()));
    // Sealing the same record twice gives different texts.
    sealed.swap("kim", None, &record(7)).await.unwrap();
    let other = inner.load("kim").await.unwrap().unwrap().record;
    assert_ne!(other.seal.unwrap().text, seen.seal.unwrap().text);
}

#[tokio::test]
async fn a_record_of_which_any_part_was_changed_does_not_open() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(1)).await.unwrap();
    let stored = inner.load("sam").await.unwrap().unwrap().record;
    let text = stored.seal.clone().unwrap().text;
    for at in [0, 20, 40, text.len() / 2, text.len() - 4] {
        let is_a = text.as_bytes()[at] == b'A';
        let other = if is_a { "B" } else { "A" };
        let mut changed = text.clone();
        changed.replace_range(at..=at, other);
        let seal = seal("new", &changed);
        let account = format!("sam-{at}");
        // With its own account, so that only the text differs.
        assert!(key("new", 1).open(b"sam", &seal).is_none(), "{at}");
        let changed = sealed_record(&stored, seal);
        inner.swap(&account, None, &changed).await.unwrap();
        assert!(sealed.load(&account).await.unwrap_err().kind() == StoreErrorKind::Unreadable);
    }
    for short in ["", "AAAA", "no base64!"] {
        let seal = seal("new", short);
        assert!(key("new", 1).open(b"sam", &seal).is_none());
    }
}

#[tokio::test]
async fn a_reading_key_opens_and_the_writing_key_seals() {
    let inner = MemoryStore::new();
    let old = SealedStore::new(inner.clone(), key("old", 9));
    let version = old.swap("sam", None, &record(1)).await.unwrap();
    let without = SealedStore::new(inner.clone(), key("new", 1));
    let error = without.load("sam").await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Unreadable && error.missing_key_id() == Some("old"));
    let both = without.reading_key(key("old", 9));
    assert!(both.load("sam").await.unwrap().is_some());
    let written = both.swap("sam", version, &record(2)).await;
    written.unwrap().unwrap();
    let seen = inner.load("sam").await.unwrap().unwrap().record;
    assert_eq!(seen.seal.as_ref().unwrap().key_id, "new");
    assert!(old.load("sam").await.is_err());
    let wrong = SealedStore::new(inner, key("new", 2));
    assert!(wrong.load("sam").await.unwrap_err().kind() == StoreErrorKind::Unreadable);
}

#[tokio::test]
async fn a_record_that_is_not_sealed_is_an_error_unless_accepted() {
    let (inner, sealed) = two();
    inner.swap("sam", None, &record(1)).await.unwrap();
    let changing = sealed.accept_unsealed_records(true);
    let (_guard, stored) = changing.lock_and_load("sam", Duration::ZERO).await.unwrap();
    let stored = stored.unwrap();
    assert_eq!(stored.record.tokens().generation(), 1);
    let version = Some(stored.version);
    changing.swap("sam", version, &record(2)).await.unwrap();
    let seen = inner.load("sam").await.unwrap().unwrap();
    assert!(seen.record.seal.is_some());
}

#[tokio::test]
async fn a_record_moved_to_another_account_does_not_open_and_nothing_shows_it() {
    let (inner, sealed) = two();
    sealed.swap("quentin", None, &record(1)).await.unwrap();
    let stolen = inner.load("quentin").await.unwrap().unwrap().record;
    inner.swap("eve", None, &stolen).await.unwrap();
    let moved = sealed.load("eve").await.unwrap_err();
    inner.swap("kim", None, &record(1)).await.unwrap();
    let unsealed = sealed.load("kim").await.unwrap_err();
    assert_eq!(
        [moved.kind(), unsealed.kind()],
        [StoreErrorKind::Unreadable; 2]
    );
    let key = key("new", 1);
    let shown = format!("{key:?} {sealed:?} {stolen:?} {moved:?} {unsealed:?}");
    for secret in ["s3cr3t", "quentin", "[1, 1", "0101"] {
        assert!(!shown.contains(secret), "{shown}");
        test_support::hides_text::<SealingKey>(&key, secret);
        test_support::hides_text::<SealedStore<_>>(&sealed, secret);
        test_support::hides_text::<Record>(&stolen, secret);
    }
    assert!(!shown.contains(&stolen.seal.as_ref().unwrap().text));
}

/// Two hosts share one store. Each deployment reaches one host after the other, and each can read the other's records
/// throughout.
#[tokio::test]
async fn a_key_is_changed_in_three_deploys_and_every_record_stays_readable() {
    let inner = MemoryStore::new();
    let host = |writing| SealedStore::new(inner.clone(), writing);
    let old = || key("old", 9);
    let new = || key("new", 1);
    let begun = host(old()).reading_key(new());
    let moved = host(new()).reading_key(old());
    let deploys = [host(old()), begun, moved, host(new())];
    let mut version = None;
    let mut generation = 0;
    for (before, after) in deploys.iter().zip(&deploys[1..]) {
        for (one, two) in [(before, before), (after, before), (after, after)] {
            for (writer, reader) in [(one, two), (two, one)] {
                generation += 1;
                let written = writer.swap("sam", version, &record(generation)).await;
                version = written.unwrap();
                assert_eq!(self::generation(reader, "sam").await, Some(generation));
            }
        }
    }
}

#[tokio::test]
async fn a_host_without_the_key_names_it_and_does_not_change_the_record() {
    let (inner, sealed) = two();
    let version = sealed.swap("sam", None, &record(1)).await.unwrap();
    // The new key became the writing key before every host could read with it.
    let late = SealedStore::new(inner.clone(), key("old", 9));
    let loaded = late.load("sam").await.unwrap_err();
    let locked = late.lock_and_load("sam", Duration::ZERO).await;
    for error in [loaded, locked.unwrap_err()] {
        assert_eq!(error.missing_key_id(), Some("new"));
        assert!(error.kind() == StoreErrorKind::Unreadable);
        assert!(error.to_string().contains("\"new\""), "{error}");
    }
    let stored = sealed.load("sam").await.unwrap().unwrap();
    assert_eq!(Some(stored.version), version);
    // An id from the store may be any text.
    let id = format!("a\n\u{1b}{}", "b".repeat(500));
    let planted = sealed_record(&record(1), seal(&id, ""));
    inner.swap("eve", None, &planted).await.unwrap();
    let shown = sealed.load("eve").await.unwrap_err().to_string();
    assert!(shown.len() < 300 && !shown.contains(char::is_control));
}

/// The RFC 2104 hash of the domain text and the account, computed with other tools.
#[tokio::test]
async fn hashed_accounts_are_the_same_on_every_host_and_hide_the_account() {
    let inner = MemoryStore::new();
    let store = |sealing| SealedStore::new(inner.clone(), sealing).hash_accounts(&[5; 32]);
    let one = store(key("old", 9));
    let stored = one.stored_account(SAM);
    assert_eq!(stored, "dOGJ4hx17dPctB45mzJLyciQ7_DXckHbQP3SMEsOTHU");
    let guard = one.lock(SAM, Duration::ZERO).await.unwrap();
    let locked = inner.lock(&stored, Duration::ZERO).await;
    assert!(locked.unwrap_err().kind() == StoreErrorKind::LockTimeout);
    drop(guard);
    let version = one.swap(SAM, None, &record(1)).await.unwrap();
    assert!(inner.load(SAM).await.unwrap().is_none());
    assert!(inner.load(&stored).await.unwrap().is_some());
    // The hash does not depend on the sealing key.
    let two = store(key("new", 1)).reading_key(key("old", 9));
    assert!(two.load(SAM).await.unwrap().is_some());
    let found = two.lock_and_load(SAM, Duration::ZERO).await;
    assert_eq!(found.unwrap().1.map(|found| found.version), version);
    assert!(two.remove(SAM, version.unwrap()).await.unwrap());
    assert!(inner.load(&stored).await.unwrap().is_none());
    // A different key or account gives a different hash. Without the option, the key itself is used.
    let other = SealedStore::new(inner.clone(), key("old", 9)).hash_accounts(&[6; 32]);
    assert_ne!(other.stored_account(SAM), stored);
    assert_ne!(one.stored_account("kim@example.com"), stored);
    let plain = SealedStore::new(inner.clone(), key("old", 9));
    assert_eq!(plain.stored_account("sam"), "sam");
    assert!(!format!("{one:?}").contains("5, 5"));
}

/// To keep the sessions of a store with plain account keys, rename its records.
#[tokio::test]
async fn a_record_that_is_renamed_to_its_hash_is_found() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(3)).await.unwrap();
    let hashed = sealed.hash_accounts(&[5; 32]);
    assert!(hashed.load("sam").await.unwrap().is_none());
    let stored = inner.load("sam").await.unwrap().unwrap().record;
    let account = hashed.stored_account("sam");
    inner.swap(&account, None, &stored).await.unwrap().unwrap();
    assert_eq!(generation(&hashed, "sam").await, Some(3));
}

#[tokio::test]
async fn a_logout_clears_only_records_that_no_host_can_open() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(1)).await.unwrap();
    assert!(!sealed.set_aside_unreadable("sam").await.unwrap());
    assert!(!sealed.set_aside_unreadable("nobody").await.unwrap());
    let late = SealedStore::new(inner.clone(), key("old", 9));
    assert!(!late.set_aside_unreadable("sam").await.unwrap());
    assert!(sealed.load("sam").await.unwrap().is_some());
    // A different key with the same id: no host can open the record.
    let wrong = SealedStore::new(inner.clone(), key("new", 2));
    assert!(wrong.set_aside_unreadable("sam").await.unwrap());
    assert!(inner.load("sam").await.unwrap().is_none());
}

#[tokio::test]
async fn a_damaged_file_below_the_seals_is_set_aside_by_the_file_store() {
    let folder = Folder::new();
    let sealed = SealedStore::new(folder.store(), key("new", 1));
    sealed.swap("sam", None, &record(1)).await.unwrap();
    folder.write("{");
    assert!(sealed.load("sam").await.unwrap_err().kind() == StoreErrorKind::Unreadable);
    assert!(sealed.set_aside_unreadable("sam").await.unwrap());
    assert!(sealed.load("sam").await.unwrap().is_none());
}

#[test]
fn a_seal_and_the_number_of_the_form_belong_together() {
    let sealed = sealed_record(&record(7), seal("key-1", "c2VhbGVk"));
    let sealed = sealed.to_secret_json();
    let plain = record(7).to_secret_json();
    for mixed in [
        sealed.expose().replace("\"form\":2", "\"form\":1"),
        plain.expose().replace("\"form\":1", "\"form\":2"),
    ] {
        assert!(Record::from_secret_json(&mixed.into()).is_err());
    }
}
