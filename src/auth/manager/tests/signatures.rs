//! Signatures of id tokens, at login and after a refresh.

use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::path;
use wiremock::{Mock, ResponseTemplate};

use super::bench::{Bench, DAY, KEY, callback, reply};
use super::device::Polling;
use crate::auth::jwks::tests::signer::{Signer, set};
use crate::auth::{PendingLogin, TokenManager, TokenSource};

const ISSUER: &str = "https://id.example/";

/// A manager that verifies, of a provider that serves these keys.
async fn verifying(bench: &Bench, keys: ResponseTemplate) -> TokenManager {
    let keys = Mock::given(path("/jwks.json")).respond_with(keys);
    keys.mount(bench.server().await).await;
    let provider = bench
        .provider()
        .issuer(ISSUER)
        .jwks_uri(format!("{}/jwks.json", bench.server().await.uri()))
        .verify_id_tokens();
    TokenManager::builder(provider.build().unwrap())
        .store(bench.store.clone())
        .account(KEY)
        .wait(30 * DAY)
        .build()
        .unwrap()
}

fn serving(signers: &[&Signer]) -> ResponseTemplate {
    let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
    ResponseTemplate::new(200).set_body_raw(set(&keys), "application/json")
}

fn claims(nonce: Option<&str>) -> Value {
    json!({"iss": ISSUER, "sub": "sam", "aud": "app", "exp": 4_000_000_000_u64, "nonce": nonce})
}

fn nonce(login: &PendingLogin) -> String {
    let mut pairs = login.url().query_pairs();
    pairs.find(|(name, _)| name == "nonce").unwrap().1.into()
}

/// The next reply of the token endpoint has this id token.
fn issue(bench: &Bench, n: u64, id_token: &str) {
    let body = json!({
        "access_token": format!("at-{n}"), "refresh_token": format!("rt-{n}"), "expires_in": 86_400, "id_token": id_token,
    });
    bench.idp.rotate_and_reply(reply(200, body));
}

async fn log_in(
    bench: &Bench,
    manager: &TokenManager,
    signer: &Signer,
) -> crate::error::Result<String> {
    let (login, callback) = callback(bench, manager, "sam");
    issue(bench, 2, &signer.sign(&claims(Some(&nonce(&login)))));
    let tokens = manager.complete_login(login, &callback).await?;
    Ok(tokens.id_token().unwrap().expose().to_owned())
}

async fn stored_id_token(bench: &Bench) -> String {
    let tokens = bench.stored().await.unwrap();
    tokens.id_token.unwrap().expose().to_owned()
}

/// How often the keys were requested.
async fn key_requests(bench: &Bench) -> usize {
    let requests = bench.server().await.received_requests().await.unwrap();
    let keys = requests
        .iter()
        .filter(|request| request.url.path() == "/jwks.json");
    keys.count()
}

#[tokio::test]
async fn a_login_whose_id_token_verifies_is_stored() {
    for signer in [Signer::rs256("1"), Signer::es256("1")] {
        let bench = Bench::new();
        let manager = verifying(&bench, serving(&[&signer])).await;
        let id_token = log_in(&bench, &manager, &signer).await.unwrap();
        assert_eq!(stored_id_token(&bench).await, id_token);
        assert_eq!(key_requests(&bench).await, 1);
    }
}

/// Row 45. OIDC Core 3.1.3.7.
#[tokio::test]
async fn a_login_whose_id_token_does_not_verify_is_refused_and_its_tokens_are_revoked() {
    let bench = Bench::new();
    let manager = verifying(&bench, serving(&[&Signer::es256("1")])).await;
    let forger = Signer::other_es256("1");
    let error = log_in(&bench, &manager, &forger).await.unwrap_err();
    assert!(error.is_login_refused() && !error.is_retryable());
    assert_eq!(
        error.to_string(),
        "the login was refused (id_token_signature)"
    );
    assert!(bench.stored().await.is_none() && manager.current().is_none());
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
}

#[tokio::test]
async fn rfc_8725_3_1_a_login_with_an_unsigned_id_token_is_refused() {
    let bench = Bench::new();
    let manager = verifying(&bench, serving(&[&Signer::es256("1")])).await;
    let (login, callback) = callback(&bench, &manager, "sam");
    let header = json!({"alg": "none"});
    let signed = Signer::es256("1").sign_with(&header, &claims(Some(&nonce(&login))));
    issue(
        &bench,
        2,
        signed.rsplit_once('.').unwrap().0.to_owned().as_str(),
    );
    assert!(
        manager
            .complete_login(login, &callback)
            .await
            .unwrap_err()
            .is_login_refused()
    );
    assert!(bench.stored().await.is_none());
}

#[tokio::test]
async fn an_outage_of_the_keys_does_not_use_up_the_login() {
    let bench = Bench::new();
    let signer = Signer::es256("1");
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "1");
    let outage = Mock::given(path("/jwks.json")).respond_with(busy);
    outage.up_to_n_times(1).mount(bench.server().await).await;
    let manager = verifying(&bench, serving(&[&signer])).await;

    let (login, callback) = callback(&bench, &manager, "sam");
    let remembered = login.to_secret_json();
    issue(&bench, 2, &signer.sign(&claims(Some(&nonce(&login)))));
    let error = manager.complete_login(login, &callback).await.unwrap_err();
    assert!(
        error.is_retryable() && !error.is_login_refused(),
        "{error:?}"
    );
    assert_eq!(bench.idp.refreshes(), 0, "the code was sent");

    let login = PendingLogin::from_secret_json(manager.provider(), &remembered).unwrap();
    manager.complete_login(login, &callback).await.unwrap();
    assert_eq!(bench.idp.refreshes(), 1);
}

#[tokio::test]
async fn a_refresh_keeps_an_id_token_that_verifies() {
    let bench = Bench::new();
    let signer = Signer::es256("1");
    let manager = verifying(&bench, serving(&[&signer])).await;
    log_in(&bench, &manager, &signer).await.unwrap();
    bench.clock.advance(DAY);
    // Without a nonce: no authorization request asked for it.
    let renewed = signer.sign(&claims(None));
    issue(&bench, 3, &renewed);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-3");
    assert_eq!(stored_id_token(&bench).await, renewed);
    // Once for the login, and once because the keys were a day old.
    assert_eq!(key_requests(&bench).await, 2);
}

/// Row 45. OIDC Core 12.2: an id token is optional there. The refresh token that came with it is the only valid one.
#[tokio::test]
async fn a_refresh_keeps_its_tokens_and_not_an_id_token_that_does_not_verify() {
    let signer = Signer::es256("1");
    let mut other_issuer = claims(None);
    other_issuer["iss"] = json!("https://other.example/");
    let mut expired = claims(None);
    expired["exp"] = json!(1_000_000);
    for bad in [
        Signer::other_es256("1").sign(&claims(None)),
        Signer::other_es256("2").sign(&claims(None)),
        signer.sign_with(&json!({"alg": "none"}), &claims(None)),
        signer.sign(&other_issuer),
        signer.sign(&expired),
        "opaque".to_owned(),
    ] {
        let bench = Bench::new();
        let manager = verifying(&bench, serving(&[&signer])).await;
        let of_login = log_in(&bench, &manager, &signer).await.unwrap();
        bench.clock.advance(DAY);
        issue(&bench, 3, &bad);
        assert_eq!(manager.access_token().await.unwrap().expose(), "at-3");
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
        assert_eq!(stored_id_token(&bench).await, of_login);
        assert_eq!(manager.subject().as_deref(), Some("sam"));
        assert!(bench.idp.revoked().is_empty());
        // The session goes on.
        bench.clock.advance(DAY);
        assert_eq!(manager.access_token().await.unwrap().generation(), 3);
    }
}

#[tokio::test]
async fn a_refresh_goes_on_without_keys() {
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "1");
    let hanging = ResponseTemplate::new(200).set_delay(DAY);
    for (outage, limit) in [(busy, None), (hanging, Some(Duration::from_secs(5)))] {
        let bench = Bench::new();
        let signer = Signer::es256("1");
        let keys = Mock::given(path("/jwks.json")).respond_with(serving(&[&signer]));
        keys.up_to_n_times(1).mount(bench.server().await).await;
        let manager = verifying(&bench, outage).await;
        let of_login = log_in(&bench, &manager, &signer).await.unwrap();
        bench.clock.advance(DAY);
        issue(&bench, 3, &signer.sign(&claims(None)));
        let refresh = tokio::spawn({
            let manager = manager.clone();
            async move { manager.access_token().await }
        });
        if let Some(limit) = limit {
            while key_requests(&bench).await < 2 {
                tokio::task::yield_now().await;
            }
            assert_eq!(bench.idp.refreshes(), 1, "sent before the keys were there");
            bench.clock.advance(limit);
        }
        assert_eq!(refresh.await.unwrap().unwrap().expose(), "at-3");
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-3");
        assert_eq!(stored_id_token(&bench).await, of_login);
    }
}

/// RFC 8628 section 3.5: a poll that brings tokens uses up the code.
#[tokio::test]
async fn a_login_on_another_device_asks_for_tokens_when_the_keys_are_there() {
    let bench = Bench::new();
    let signer = Signer::es256("1");
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "1");
    let outage = Mock::given(path("/jwks.json")).respond_with(busy);
    outage.up_to_n_times(1).mount(bench.server().await).await;
    let manager = verifying(&bench, serving(&[&signer])).await;
    let id_token = signer.sign(&claims(None));
    issue(&bench, 2, &id_token);
    let polling = Polling::start_in(&bench, &manager).await;
    bench.clock.advance(Duration::from_secs(5));
    while key_requests(&bench).await < 1 {
        tokio::task::yield_now().await;
    }
    polling.until_idle().await;
    assert_eq!(bench.idp.refreshes(), 0, "a poll without keys");
    // As after any failure.
    assert_eq!(polling.next_poll().await, 10);
    polling.login.await.unwrap().unwrap();
    assert_eq!(stored_id_token(&bench).await, id_token);
    assert_eq!(key_requests(&bench).await, 2);
}

#[tokio::test]
async fn another_user_in_a_refresh_ends_the_session_as_without_verification() {
    let bench = Bench::new();
    let signer = Signer::es256("1");
    let manager = verifying(&bench, serving(&[&signer])).await;
    log_in(&bench, &manager, &signer).await.unwrap();
    bench.clock.advance(DAY);
    let mut kim = claims(None);
    kim["sub"] = json!("kim");
    issue(&bench, 3, &signer.sign(&kim));
    assert!(
        manager
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.revoked(), ["rt-3"]);
}

#[tokio::test]
async fn signatures_are_verified_only_on_request() {
    let bench = Bench::new();
    let signer = Signer::other_es256("1");
    verifying(&bench, serving(&[&Signer::es256("1")])).await;
    let uri = format!("{}/jwks.json", bench.server().await.uri());
    let provider = bench
        .provider()
        .issuer(ISSUER)
        .jwks_uri(uri)
        .build()
        .unwrap();
    let manager = TokenManager::builder(provider).build().unwrap();
    log_in(&bench, &manager, &signer).await.unwrap();
    assert_eq!(key_requests(&bench).await, 0);
}

#[tokio::test]
async fn keys_need_an_address_and_a_reply_of_a_mebibyte_at_most() {
    let bench = Bench::new();
    let error = bench.provider().verify_id_tokens().build().unwrap_err();
    assert!(error.is_config());
    assert_eq!(error.to_string(), "verify_id_tokens needs jwks_uri");

    let signer = Signer::es256("1");
    let mut large = set(&[signer.jwk()]);
    large.push_str(&" ".repeat(1 << 20));
    let large = ResponseTemplate::new(200).set_body_raw(large, "application/json");
    let manager = verifying(&bench, large).await;
    let (login, callback) = callback(&bench, &manager, "sam");
    let error = manager.complete_login(login, &callback).await.unwrap_err();
    assert!(error.is_protocol() && error.report().contains("larger than the limit"));
    assert_eq!(bench.idp.refreshes(), 0);
}
