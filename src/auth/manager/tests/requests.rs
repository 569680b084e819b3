//! The requests of logins, settings that are rejected before a request, and the settings that a builder passes on.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use serde_json::{Value, json};

use super::bench::{Bench, KEY, SECOND, callback, log_in, token};
use crate::auth::{Provider, TokenManager, TokenStore};
use crate::error::tests::assert_fails;

#[tokio::test]
async fn rfc_8628_3_1_and_3_4_the_requests_have_these_fields() {
    let bench = Bench::new();
    bench.idp.log_in_as("sam", "a nonce that no request had");
    let provider = bench.provider().client_secret("s").build().unwrap();
    let login = provider.authorization();
    let login = login.scopes(["openid", "email"]).param("hint", "barn");
    let login = login.start_device().await.unwrap();
    assert_eq!(login.interval(), 5 * SECOND);
    assert_eq!(login.expires_at(), bench.clock.now() + 60 * SECOND);
    assert_eq!(login.user_code(), "WDJB-MJHT");
    assert_eq!(login.verification_url().path(), "/activate");
    assert_eq!(login.verification_url_complete(), None);
    let manager = TokenManager::builder(provider).build().unwrap();
    bench.clock.advance(login.interval());
    manager.complete_device_login(login).await.unwrap();
    let fields = |at: &str| json!(bench.idp.forms(at)[0]);
    let expected = json!({
        "client_id": "app", "client_secret": "s", "scope": "openid email", "audience": "https://api.example",
        "hint": "barn",
    });
    assert_eq!(fields("/oauth/device/code"), expected);
    let expected = json!({
        "client_id": "app", "client_secret": "s", "device_code": "d-1",
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
    });
    assert_eq!(fields("/oauth/token"), expected);
}

#[tokio::test]
async fn settings_that_cannot_start_a_device_login_are_named_and_not_shown() {
    let bench = Bench::new();
    let provider = bench.provider().build().unwrap();
    let login = || provider.authorization();
    let without = Provider::builder("app").token_url("http://127.0.0.1:9/token");
    let without = without.build().unwrap();
    let unknowable = login().scopes(["email"]).expected_subject("s3cr3t");
    for (request, named) in [
        (login().param("client_secret", "s3cr3t"), "client_secret"),
        (login().param("scope", "s3cr3t"), "scope"),
        (unknowable, "expected_subject"),
        (without.authorization(), "device_authorization_url"),
    ] {
        assert!(!format!("{request:?}").contains("s3cr3t"));
        assert_fails(request.start_device().await, &format!("Config: {named}"));
    }
    assert!(bench.idp.forms("/oauth/device/code").is_empty());
    let shown = format!("{:?}", login().start_device().await.unwrap());
    assert!(!shown.contains("WDJB") && !shown.contains("d-1"), "{shown}");
    assert!(shown.contains("id.example"), "{shown}");
}

#[tokio::test]
async fn a_login_of_another_provider_is_refused_without_a_request() {
    let bench = Bench::new();
    let manager = bench.manager();
    let device = manager.provider().authorization();
    let device = device.start_device().await.unwrap();
    let (login, callback) = callback(&bench, &manager, "sam");
    let other = bench.provider().token_url("http://127.0.0.1:9/token");
    let other = bench.manager_of(other);
    assert_fails(other.complete_login(login, &callback).await, "Config");
    assert_fails(other.complete_device_login(device).await, "Config");
    assert_eq!(bench.idp.refreshes(), 0);
}

#[tokio::test]
async fn the_check_of_a_login_gets_the_token_and_its_claims_before_anything_is_stored() {
    let bench = Bench::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let store = bench.store.clone();
    let log = seen.clone();
    let provider = bench.provider().id_token_check(move |id_token| {
        let claims: Value = id_token.claims()?;
        let stored = store.load(KEY).now_or_never().unwrap()?;
        let token = id_token.token().expose().to_owned();
        let seen = (token, claims["sub"].clone(), stored.is_some());
        log.lock().unwrap().push(seen);
        Ok(())
    });
    let manager = bench.manager_of(provider);
    let tokens = log_in(&bench, &manager, "sam").await;
    let id_token = tokens.id_token().unwrap().expose().to_owned();
    let once = [(id_token, json!("sam"), false)];
    assert_eq!(*seen.lock().unwrap(), once);
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

#[tokio::test]
async fn managers_of_one_template_share_the_store_that_is_not_set() {
    let bench = Bench::new();
    let template = TokenManager::builder(bench.provider().build().unwrap()).account("sam");
    log_in(&bench, &template.clone().build().unwrap(), "sam").await;
    assert_eq!(token(&template.build().unwrap()).await, "at-2");
}
