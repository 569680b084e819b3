//! The stored text of an account, written and read back.

use std::time::{Duration, UNIX_EPOCH};

use crate::auth::store::{Ended, Record, RecordClient, StoredMark};
use crate::auth::token_set::LONGEST;
use crate::auth::{TokenSet, TokenStore};

/// Tokens of this generation, valid for a day.
pub(in crate::auth) fn tokens(generation: u64) -> TokenSet {
    TokenSet {
        access_token: format!("at-{generation}").into(),
        refresh_token: Some(format!("rt-{generation}").into()),
        id_token: None,
        subject: None,
        scopes: Vec::new(),
        issued_at: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
        lifetime: Duration::from_secs(86_400),
        generation,
        logged_in_at: None,
        session_ends_at: None,
    }
}

/// The stored generation.
pub(in crate::auth) async fn generation(store: &impl TokenStore, key: &str) -> Option<u64> {
    let stored = store.load(key).await.unwrap();
    stored.map(|stored| stored.record.tokens().generation())
}

fn record() -> Record {
    Record {
        tokens: TokenSet {
            access_token: "at-s3cr3t".into(),
            refresh_token: Some("rt-s3cr3t".into()),
            id_token: Some("it-s3cr3t".into()),
            subject: Some("auth0|person".to_owned()),
            scopes: vec!["openid".to_owned()],
            logged_in_at: Some(UNIX_EPOCH + Duration::from_millis(1_690_000_000_456)),
            session_ends_at: Some(UNIX_EPOCH + Duration::from_secs(1_702_592_000)),
            ..tokens(7)
        },
        refresh_mark: Some(StoredMark {
            generation: 7,
            at: UNIX_EPOCH + Duration::from_secs(1_700_000_500),
            owner: Some(u64::MAX),
        }),
        ended: None,
        client: Some(RecordClient {
            id: "app".to_owned(),
            token_url: "https://id.example/tenants/person/token".to_owned(),
        }),
        seal: None,
    }
}

#[test]
fn a_record_goes_through_text_unchanged_and_is_hidden_in_debug() {
    let text = record().to_secret_json();
    let back = Record::from_secret_json(&text).unwrap();
    assert_eq!(back.to_secret_json().expose(), text.expose());
    let shown = format!("{back:?}");
    assert!(!shown.contains("s3cr3t") && !shown.contains("person"));
    assert!(back.tokens.refresh_token.unwrap().matches("rt-s3cr3t"));
    let mark = back.refresh_mark.unwrap();
    assert_eq!((mark.generation, mark.owner), (7, Some(u64::MAX)));
    assert_eq!(back.client, record().client);
    assert_eq!(back.tokens.session_ends_at, record().tokens.session_ends_at);
    assert_eq!(back.tokens.logged_in_at, record().tokens.logged_in_at);
}

#[test]
fn what_cannot_be_read_is_an_error_and_not_an_empty_store() {
    for bad in r#"|{}|null|{"form":1}|{"form":1,"tokens":{}}|{"form":2}"#.split('|') {
        assert!(Record::from_secret_json(&bad.into()).is_err(), "{bad}");
    }
    let newer = Record::from_secret_json(&"{\"form\":3,\"other\":true}".into());
    assert!(newer.unwrap_err().to_string().contains("newer"));
}

#[test]
fn times_out_of_range_do_not_panic() {
    let text = record().to_secret_json();
    for field in ["1700000000123", "86400000"] {
        let changed = text.expose().replace(field, &u64::MAX.to_string());
        if let Ok(record) = Record::from_secret_json(&changed.into()) {
            let tokens = record.tokens();
            assert!(tokens.expires_at() <= tokens.issued_at() + LONGEST);
        }
    }
}

#[test]
fn a_small_record_has_no_access_token_and_is_expired() {
    let small = record().without_access_token();
    let text = small.to_secret_json();
    assert!(!text.expose().contains("at-s3cr3t") && !text.expose().contains("it-s3cr3t"));
    assert!(small.tokens.refresh_token.is_some() && small.refresh_mark.is_some());
    assert_eq!(small.tokens.expires_at(), small.tokens.issued_at());
}

/// Row 54.
#[test]
fn the_reason_of_an_ended_session_is_read_and_does_not_break_older_versions() {
    for (ended, code) in [
        (Ended::Refused, "refused"),
        (Ended::AnswerLost, "answer_lost"),
        (Ended::AnotherUser, "another_user"),
    ] {
        let text = Record::ended(&record().tokens, ended).to_secret_json();
        assert!(!text.expose().contains("s3cr3t") && text.expose().contains(code));
        // The fields that older versions read: their known form, expired and without a refresh token.
        let value: serde_json::Value = serde_json::from_str(text.expose()).unwrap();
        assert_eq!(
            (&value["form"], &value["tokens"]["lifetime_ms"]),
            (&1.into(), &0.into())
        );
        let back = Record::from_secret_json(&text).unwrap();
        assert_eq!(back.ended, Some(ended));
        let newer = text.expose().replace(code, "for_a_reason_of_2030");
        let newer = Record::from_secret_json(&newer.into()).unwrap();
        assert_eq!(newer.ended, Some(Ended::Other));
    }
    let older = r#"{"form":1,"tokens":{"access_token":"a","issued_at_ms":1,"lifetime_ms":1,
        "generation":1},"intent":{"generation":1,"at_ms":1}}"#;
    let older = Record::from_secret_json(&older.into()).unwrap();
    assert!(older.ended.is_none() && older.refresh_mark.unwrap().owner.is_none());
}
