//! Seals around a store in memory.

use std::time::Duration;

use super::{SealedStore, SealingKey};
use crate::auth::{MemoryStore, Record, TokenStore};

fn record(generation: u64) -> Record {
    let text = serde_json::json!({"form": 1, "tokens": {
        "access_token": "at-s3cr3t", "refresh_token": "rt-s3cr3t", "id_token": "it-s3cr3t",
        "subject": "auth0|sam", "scopes": ["openid"], "issued_at_ms": 1_795_000_000_000_u64,
        "lifetime_ms": 86_400_000, "generation": generation,
    }, "intent": {"generation": generation, "at_ms": 1_795_000_500_000_u64}});
    Record::from_secret_json(&text.to_string().into()).unwrap()
}

fn key(id: &str, byte: u8) -> SealingKey {
    SealingKey::new(id, &[byte; 32])
}

fn two() -> (MemoryStore, SealedStore<MemoryStore>) {
    let inner = MemoryStore::new();
    (inner.clone(), SealedStore::new(inner, key("new", 1)))
}

#[tokio::test]
async fn the_store_inside_sees_times_and_no_token() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(7)).await.unwrap().unwrap();
    let seen = inner.load("sam").await.unwrap().unwrap().record;
    let text = seen.to_secret_json();
    for secret in ["s3cr3t", "auth0|sam", "openid"] {
        assert!(!text.expose().contains(secret), "{secret}");
    }
    assert_eq!(seen.seal().unwrap().key_id(), "new");
    assert_eq!(seen.tokens().generation(), 7);
    assert_eq!(seen.tokens().expires_at(), record(7).tokens().expires_at());
    assert_eq!(seen.refresh_began_at(), record(7).refresh_began_at());
    let back = sealed.load("sam").await.unwrap().unwrap().record;
    assert!(
        back.to_secret_json()
            .matches(record(7).to_secret_json().expose())
    );
}

#[tokio::test]
async fn the_same_record_is_sealed_differently_each_time() {
    let (inner, sealed) = two();
    let mut seen = Vec::new();
    for account in ["a", "b", "c"] {
        sealed.swap(account, None, &record(1)).await.unwrap();
        let stored = inner.load(account).await.unwrap().unwrap().record;
        seen.push(stored.seal().unwrap().text().to_owned());
    }
    seen.dedup();
    assert_eq!(seen.len(), 3);
}

#[tokio::test]
async fn a_record_moved_to_another_account_does_not_open() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(1)).await.unwrap();
    let stolen = inner.load("sam").await.unwrap().unwrap().record;
    inner.swap("eve", None, &stolen).await.unwrap();
    let error = sealed.load("eve").await.unwrap_err();
    assert!(error.is_unreadable(), "{error:?}");
}

#[tokio::test]
async fn a_record_of_which_any_part_was_changed_does_not_open() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(1)).await.unwrap();
    let stored = inner.load("sam").await.unwrap().unwrap().record;
    let text = stored.seal().unwrap().text().to_owned();
    for at in [0, 20, 40, text.len() / 2, text.len() - 4] {
        let other = if text.as_bytes()[at] == b'A' {
            "B"
        } else {
            "A"
        };
        let mut changed = text.clone();
        changed.replace_range(at..=at, other);
        let seal = crate::auth::Seal::new("new", changed);
        let account = format!("sam-{at}");
        // Under its own account, so that only the text differs.
        assert!(key("new", 1).open("sam", &seal).is_none(), "{at}");
        inner
            .swap(&account, None, &stored.sealed(seal))
            .await
            .unwrap();
        assert!(sealed.load(&account).await.unwrap_err().is_unreadable());
    }
    for short in ["", "AAAA", "no base64!"] {
        let seal = crate::auth::Seal::new("new", short);
        assert!(key("new", 1).open("sam", &seal).is_none());
    }
}

#[tokio::test]
async fn an_older_key_opens_and_the_newest_seals() {
    let (inner, old) = {
        let inner = MemoryStore::new();
        (inner.clone(), SealedStore::new(inner, key("old", 9)))
    };
    let version = old.swap("sam", None, &record(1)).await.unwrap();
    let without = SealedStore::new(inner.clone(), key("new", 1));
    let error = without.load("sam").await.unwrap_err();
    assert!(error.is_unreadable() && error.to_string().contains("not handed in"));
    let both = without.older_key(key("old", 9));
    assert!(both.load("sam").await.unwrap().is_some());
    both.swap("sam", version, &record(2))
        .await
        .unwrap()
        .unwrap();
    let seen = inner.load("sam").await.unwrap().unwrap().record;
    assert_eq!(seen.seal().unwrap().key_id(), "new");
    assert!(old.load("sam").await.is_err());
    let wrong = SealedStore::new(inner, key("new", 2));
    assert!(wrong.load("sam").await.unwrap_err().is_unreadable());
}

#[tokio::test]
async fn a_record_that_is_not_sealed_is_an_error_unless_it_is_asked_for() {
    let (inner, sealed) = two();
    inner.swap("sam", None, &record(1)).await.unwrap();
    assert!(sealed.load("sam").await.unwrap_err().is_unreadable());
    let changing = sealed.accept_unsealed_records(true);
    let (_guard, stored) = changing.lock_and_load("sam", Duration::ZERO).await.unwrap();
    let stored = stored.unwrap();
    assert_eq!(stored.record.tokens().generation(), 1);
    let version = Some(stored.version);
    changing.swap("sam", version, &record(2)).await.unwrap();
    let seen = inner.load("sam").await.unwrap().unwrap();
    assert!(seen.record.seal().is_some());
}

#[tokio::test]
async fn nothing_shows_keys_tokens_or_users() {
    let (inner, sealed) = two();
    sealed.swap("sam", None, &record(1)).await.unwrap();
    inner.swap("eve", None, &record(1)).await.unwrap();
    let stored = inner.load("sam").await.unwrap().unwrap().record;
    let error = sealed.load("eve").await.unwrap_err();
    let shown = format!("{:?} {sealed:?} {stored:?} {error:?}", key("new", 1));
    for secret in ["s3cr3t", "sam", "[1, 1", "0101"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(!shown.contains(stored.seal().unwrap().text()));
}
