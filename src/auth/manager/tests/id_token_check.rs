//! The application's own check of an id token, in a login and after a refresh.

use std::error::Error as _;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use serde_json::{Value, json};

use super::bench::{
    Bench, DAY, KEY, begin_login, callback, id_token, log_in, renewed, reply, token,
};
use super::device::Polling;
use crate::auth::{IdToken, TokenManager, TokenSource, TokenStore};
use crate::error::ErrorKind;

type Checked = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

fn checking(
    bench: &Bench,
    check: impl Fn(&IdToken<'_>) -> Checked + Send + Sync + 'static,
) -> TokenManager {
    bench.manager_of(bench.provider().id_token_check(check))
}

/// A manager that refuses the id tokens with this claim.
fn refusing(bench: &Bench, claim: &'static str) -> TokenManager {
    checking(bench, move |id_token| {
        let claims: Value = id_token.claims()?;
        if claims[claim].is_null() {
            return Ok(());
        }
        Err("the signature is wrong".into())
    })
}

fn claims(extra: &str) -> Value {
    json!({"sub": "sam", "aud": "app", "exp": 4_000_000_000_u64, extra: true})
}

/// The next reply of the token endpoint has this id token.
fn issue(bench: &Bench, n: u64, id_token: &str) {
    let mut body = renewed(n);
    body["id_token"] = id_token.into();
    bench.idp.rotate_and_reply(reply(200, body));
}

#[tokio::test]
async fn the_check_of_a_login_gets_the_token_and_its_claims_before_anything_is_stored() {
    let bench = Bench::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (store, log) = (bench.store.clone(), seen.clone());
    let manager = checking(&bench, move |id_token| {
        let claims: Value = id_token.claims()?;
        let stored = store.load(KEY).now_or_never().unwrap()?;
        log.lock().unwrap().push((
            id_token.token().expose().to_owned(),
            claims["sub"].clone(),
            stored.is_some(),
        ));
        Ok(())
    });
    let tokens = log_in(&bench, &manager, "sam").await;
    let id_token = tokens.id_token().unwrap().expose().to_owned();
    assert_eq!(
        *seen.lock().unwrap(),
        [(id_token, json!("sam"), false)],
        "called once"
    );
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 45.
#[tokio::test]
async fn a_login_that_the_check_refuses_is_not_stored_and_its_tokens_are_revoked() {
    let bench = Bench::new();
    let manager = refusing(&bench, "sub");
    let login = begin_login(&bench, &manager, "sam");
    let error = login.await.unwrap().unwrap_err();
    assert!(error.kind() == ErrorKind::LoginRefused && !error.is_retryable());
    assert_eq!(error.to_string(), "the login was refused (id_token_check)");
    assert_eq!(
        error.source().unwrap().to_string(),
        "the signature is wrong"
    );
    let shown = format!("{error:?} {}", error.report());
    for secret in ["at-2", "rt-2", "e30.", "sam"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(bench.stored().await.is_none() && manager.current().is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

#[tokio::test]
async fn the_check_sees_no_token_whose_claims_are_refused() {
    let bench = Bench::new();
    let manager = checking(&bench, |_| panic!("another nonce passes"));
    let (login, callback) = callback(&bench, &manager, "sam");
    bench.idp.log_in_as("sam", "another-nonce");
    let error = manager.complete_login(login, &callback).await.unwrap_err();
    assert!(error.to_string().contains("id_token_nonce"), "{error}");
}

#[tokio::test]
async fn a_check_that_panics_refuses() {
    let bench = Bench::new();
    let manager = checking(&bench, |id_token| {
        let claims: Value = id_token.claims()?;
        assert!(claims["forged"].is_null() && claims["nonce"].is_null());
        Ok(())
    });
    let login = begin_login(&bench, &manager, "sam");
    let error = login.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("id_token_check"), "{error}");
    assert_eq!(bench.idp.revoked(), ["rt-2"]);

    bench.put_tokens(3).await;
    bench.clock.advance(DAY);
    issue(&bench, 4, &id_token(&claims("forged")));
    assert_eq!(token(&manager).await, "at-4");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-4");
}

/// RFC 8628 section 3.5: the tokens of a login on another device pass the same check.
#[tokio::test]
async fn a_login_on_another_device_is_checked() {
    let bench = Bench::new();
    let manager = refusing(&bench, "forged");
    issue(&bench, 2, &id_token(&claims("forged")));
    let polling = Polling::start_in(&bench, &manager).await;
    polling.next_poll().await;
    let error = polling.login.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("id_token_check"), "{error}");
    assert!(bench.stored().await.is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

/// Row 45. OIDC Core 12.2: an id token is optional there. The refresh token that came with it is the only valid one.
#[tokio::test]
async fn a_refresh_keeps_its_tokens_and_only_an_id_token_that_passes() {
    let mut expired = claims("fine");
    expired["exp"] = json!(1_000_000);
    for (renewed, is_kept) in [
        (id_token(&claims("fine")), true),
        (id_token(&claims("forged")), false),
        (id_token(&expired), false),
        ("opaque".to_owned(), false),
    ] {
        let bench = Bench::new();
        let manager = refusing(&bench, "forged");
        let tokens = log_in(&bench, &manager, "sam").await;
        bench.clock.advance(DAY);
        issue(&bench, 3, &renewed);
        assert_eq!(token(&manager).await, "at-3");
        let stored = bench.stored().await.unwrap();
        assert!(stored.refresh_token.unwrap().matches("rt-3"));
        let of_login = tokens.id_token().unwrap().expose();
        let expected = if is_kept { &renewed } else { of_login };
        assert!(stored.id_token.unwrap().matches(expected), "{renewed}");
        assert_eq!(manager.subject().as_deref(), Some("sam"));
        assert!(bench.idp.revoked().is_empty());
        // The session goes on.
        bench.clock.advance(DAY);
        assert_eq!(token(&manager).await, "at-4");
    }
}
