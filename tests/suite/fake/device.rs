//! The device flow of the identity provider (RFC 8628).

use std::time::Duration;

use envd_sdk::fake::Fake;
use envd_sdk::{Clock, ErrorKind, Secret};
use serde_json::{Value, json};
use url::Url;

use super::http::{Response, fixture_day, form, get, post};
use crate::fixed_date::fake_builder;

async fn start() -> (Fake, Clock) {
    let clock = fixture_day();
    let fake = fake_builder().clock(clock.clone()).start().await.unwrap();
    (fake, clock)
}

async fn codes(fake: &Fake) -> Value {
    let fields = [
        ("client_id", fake.client_id()),
        ("scope", "openid offline_access"),
        ("audience", fake.audience()),
    ];
    let response = form(fake.device_authorization_url(), &fields).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

async fn poll(fake: &Fake, codes: &Value) -> Response {
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", fake.client_id()),
        ("device_code", codes["device_code"].as_str().unwrap()),
    ];
    form(fake.token_url(), &fields).await
}

async fn assert_error(fake: &Fake, codes: &Value, status: u16, error: &str) {
    let response = poll(fake, codes).await;
    assert_eq!(
        (response.status, &response.body["error"]),
        (status, &json!(error))
    );
}

#[tokio::test]
async fn rfc_8628_3_2_the_reply_has_all_fields() {
    let (fake, _) = start().await;
    let codes = codes(&fake).await;
    assert_eq!(codes["expires_in"], 900);
    assert_eq!(codes["interval"], 5);
    let code = codes["user_code"].as_str().unwrap();
    assert!(code.len() == 9 && code.chars().nth(4) == Some('-'));
    let page = format!("{}activate", fake.issuer());
    assert_eq!(codes["verification_uri"], page);
    let complete = Url::parse(codes["verification_uri_complete"].as_str().unwrap());
    let query = format!("user_code={code}");
    assert_eq!(complete.unwrap().query(), Some(query.as_str()));
    for (client, audience, status, error) in [
        ("other", fake.audience(), 401, "invalid_client"),
        ("fake-client", "https://other.example", 403, "access_denied"),
    ] {
        let fields = [("client_id", client), ("audience", audience)];
        let refused = form(fake.device_authorization_url(), &fields).await;
        assert_eq!(
            (refused.status, &refused.body["error"]),
            (status, &json!(error))
        );
    }
}

#[tokio::test]
async fn rfc_8628_3_5_a_device_gets_tokens_once_its_user_has_approved() {
    let (fake, clock) = start().await;
    let codes = codes(&fake).await;
    assert_error(&fake, &codes, 403, "authorization_pending").await;
    // Section 6.1: neither the case nor the dash matters.
    let typed = codes["user_code"].as_str().unwrap().replace('-', " ");
    fake.approve_device(&typed.to_lowercase()).unwrap();
    assert!(fake.approve_device(&typed).unwrap_err().kind() == ErrorKind::Config);
    clock.advance(Duration::from_secs(5));
    let tokens = poll(&fake, &codes).await;
    assert_eq!(tokens.status, 200);
    assert!(tokens.body["id_token"].is_string() && tokens.body["refresh_token"].is_string());
    let token = Secret::new(tokens.body["access_token"].as_str().unwrap());
    let body = json!({"query": "{ userDetails { email } }"}).to_string();
    assert_eq!(post(fake.graphql_url(), &token, body).await.status, 200);
    clock.advance(Duration::from_secs(5));
    assert_error(&fake, &codes, 403, "invalid_grant").await;
    assert_eq!(fake.token_requests(), 3);
}

#[tokio::test]
async fn rfc_8628_3_5_polls_that_come_too_soon_are_slowed_down() {
    let (fake, clock) = start().await;
    let codes = codes(&fake).await;
    for (wait, status, error) in [
        (0, 403, "authorization_pending"),
        (4, 429, "slow_down"),
        // From now on ten seconds.
        (9, 429, "slow_down"),
        (15, 403, "authorization_pending"),
        (15, 403, "authorization_pending"),
    ] {
        clock.advance(Duration::from_secs(wait));
        assert_error(&fake, &codes, status, error).await;
    }
}

#[tokio::test]
async fn rfc_8628_3_5_denied_expired_and_unknown_codes_are_told_apart() {
    let (fake, clock) = start().await;
    let (denied, late) = (codes(&fake).await, codes(&fake).await);
    fake.deny_device(denied["user_code"].as_str().unwrap())
        .unwrap();
    assert_error(&fake, &denied, 403, "access_denied").await;
    let unknown = json!({"device_code": "nonsense"});
    assert_error(&fake, &unknown, 403, "invalid_grant").await;
    clock.advance(Duration::from_secs(900));
    assert_error(&fake, &late, 403, "expired_token").await;
    let late = late["user_code"].as_str().unwrap();
    assert!(fake.approve_device(late).unwrap_err().kind() == ErrorKind::Config);
    assert!(fake.approve_device("WDJB-MJHT").unwrap_err().kind() == ErrorKind::Config);
    let revoked = codes(&fake).await;
    fake.revoke_logins();
    assert_error(&fake, &revoked, 403, "invalid_grant").await;
}

#[tokio::test]
async fn the_page_approves_or_denies_at_once() {
    let (fake, clock) = start().await;
    for (denies, status, error) in [
        (false, 200, Value::Null),
        (true, 403, json!("access_denied")),
    ] {
        fake.deny_logins(denies);
        let codes = codes(&fake).await;
        let address = codes["verification_uri_complete"].as_str().unwrap();
        let page = || get(Url::parse(address).unwrap());
        assert_eq!(page().await.status, 200);
        assert_eq!(page().await.status, 400, "answered already");
        let reply = poll(&fake, &codes).await;
        assert_eq!((reply.status, &reply.body["error"]), (status, &error));
        clock.advance(Duration::from_secs(1));
    }
    let mut form = fake.device_authorization_url();
    form.set_path("/activate");
    assert_eq!(get(form).await.status, 200);
}
