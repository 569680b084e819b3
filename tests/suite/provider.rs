//! The fake identity provider: the browser flow, revocation, discovery.

use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::fake::Fake;
use serde_json::Value;
use url::Url;

use crate::fixed_date::{fake_builder, start_fake};
use crate::wire::{Raw, send};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn authorization(fake: &Fake, more: &[(&str, &str)]) -> Url {
    let mut url = fake.authorize_url();
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", fake.client_id())
        .append_pair("redirect_uri", fake.redirect_uri().as_str())
        .append_pair("audience", fake.audience())
        .append_pair("scope", "openid offline_access")
        .extend_pairs(more);
    url
}

/// A parameter of the redirect of the browser.
async fn redirect_parameter(url: &Url, name: &str) -> Option<String> {
    let reply = send(url, "GET", &[], "").await.unwrap();
    let redirect = Url::parse(reply.header("location")?).unwrap();
    let found = redirect.query_pairs().find(|(known, _)| known == name);
    found.map(|(_, value)| value.into_owned())
}

async fn exchange(fake: &Fake, code: &str) -> Raw {
    let redirect: String =
        url::form_urlencoded::byte_serialize(fake.redirect_uri().as_str().as_bytes()).collect();
    let client = fake.client_id();
    let body = format!(
        "grant_type=authorization_code&client_id={client}&redirect_uri={redirect}&code={code}"
    );
    send(&fake.token_url(), "POST", &[FORM], &body)
        .await
        .unwrap()
}

async fn login(fake: &Fake) -> String {
    let code = redirect_parameter(&authorization(fake, &[]), "code")
        .await
        .unwrap();
    let tokens = exchange(fake, &code).await.json();
    tokens["refresh_token"].as_str().unwrap().to_owned()
}

/// The next refresh token, or the error.
async fn refresh(fake: &Fake, token: &str) -> Result<String, Value> {
    let body = format!(
        "grant_type=refresh_token&client_id={}&refresh_token={token}",
        fake.client_id()
    );
    let reply = send(&fake.token_url(), "POST", &[FORM], &body)
        .await
        .unwrap();
    let body = reply.json();
    body["refresh_token"]
        .as_str()
        .map(str::to_owned)
        .ok_or(body)
}

async fn fake(overlap: u64) -> (Fake, Clock) {
    let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_176_000));
    let fake = fake_builder()
        .clock(clock.clone())
        .refresh_overlap(Duration::from_secs(overlap))
        .refresh_token_lifetime(Duration::from_secs(1_000))
        .code_lifetime(Duration::from_secs(5));
    (fake.start().await.unwrap(), clock)
}

#[tokio::test]
async fn a_cancelled_login_returns_access_denied() {
    let fake = start_fake().await;
    fake.deny_logins(true);
    let error = redirect_parameter(&authorization(&fake, &[]), "error").await;
    assert_eq!(error.as_deref(), Some("access_denied"));
    fake.deny_logins(false);
    assert!(
        redirect_parameter(&authorization(&fake, &[]), "code")
            .await
            .is_some()
    );
}

#[tokio::test]
async fn a_silent_login_requires_a_session() {
    let fake = start_fake().await;
    let silent = authorization(&fake, &[("prompt", "none")]);
    assert_eq!(
        redirect_parameter(&silent, "error").await.as_deref(),
        Some("login_required")
    );
    login(&fake).await;
    assert!(redirect_parameter(&silent, "code").await.is_some());
    send(&fake.logout_url(), "GET", &[], "").await.unwrap();
    assert_eq!(
        redirect_parameter(&silent, "error").await.as_deref(),
        Some("login_required")
    );
}

#[tokio::test]
async fn the_previous_refresh_token_is_accepted_within_the_overlap() {
    let (fake, clock) = fake(10).await;
    let first = login(&fake).await;
    let second = refresh(&fake, &first).await.unwrap();
    clock.advance(Duration::from_secs(9));
    assert!(refresh(&fake, &first).await.is_ok());
    refresh(&fake, &second).await.unwrap();
    let error = refresh(&fake, &first).await.unwrap_err();
    assert_eq!(error["error"], "invalid_grant", "an older one is a reuse");
    assert!(
        refresh(&fake, &second).await.is_err(),
        "and ends the family"
    );
    // After the overlap a used token ends the family as well.
    let first = login(&fake).await;
    let second = refresh(&fake, &first).await.unwrap();
    clock.advance(Duration::from_secs(10));
    assert!(refresh(&fake, &first).await.is_err());
    assert!(refresh(&fake, &second).await.is_err());
}

#[tokio::test]
async fn lifetimes_follow_the_settings() {
    let (fake, clock) = fake(0).await;
    let code = redirect_parameter(&authorization(&fake, &[]), "code")
        .await
        .unwrap();
    clock.advance(Duration::from_secs(5));
    assert_eq!(exchange(&fake, &code).await.status, 403);
    let token = login(&fake).await;
    clock.advance(Duration::from_secs(1_000));
    assert!(refresh(&fake, &token).await.is_err());
}

#[tokio::test]
async fn a_test_can_revoke_tokens() {
    let (fake, _) = fake(0).await;
    let (one, other) = (login(&fake).await, login(&fake).await);
    fake.revoke(&one.as_str().into());
    assert!(refresh(&fake, &one).await.is_err());
    let other = refresh(&fake, &other).await.unwrap();
    fake.revoke_logins();
    assert!(refresh(&fake, &other).await.is_err());
    let bearer = format!("Bearer {}", fake.access_token().expose());
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let body = r#"{"query": "{ userDetails { email } }"}"#;
    assert_eq!(
        send(&fake.graphql_url(), "POST", &headers, body)
            .await
            .unwrap()
            .status,
        401
    );
    assert!(
        refresh(&fake, &login(&fake).await).await.is_ok(),
        "a new login is a new family"
    );
}

#[tokio::test]
async fn the_discovery_document_lists_the_endpoints() {
    let fake = start_fake().await;
    let mut url = fake.authorize_url();
    url.set_path("/.well-known/openid-configuration");
    let document = send(&url, "GET", &[], "").await.unwrap().json();
    assert_eq!(document["issuer"], fake.issuer());
    assert_eq!(document["token_endpoint"], fake.token_url().as_str());
}
