//! The identity provider.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use envd_sdk::fake::{Fake, User};
use envd_sdk::{ErrorKind, Secret};
use serde_json::{Value, json};
use url::Url;

use super::http::{Response, fixture_day, form, get, post, send};
use crate::fixed_date::{fake_builder, start_fake};

/// RFC 7636 appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const SCOPE: &str = "openid profile email offline_access";

fn authorization(fake: &Fake, changes: &[(&str, &str)]) -> Url {
    let redirect = fake.redirect_uri();
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", fake.client_id()),
        ("redirect_uri", redirect.as_str()),
        ("audience", fake.audience()),
        ("scope", SCOPE),
        ("state", "state-1"),
        ("nonce", "nonce-1"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    for (name, value) in changes {
        pairs.retain(|(known, _)| known != name);
        if !value.is_empty() {
            pairs.push((name, value));
        }
    }
    let mut url = fake.authorize_url();
    url.query_pairs_mut().extend_pairs(pairs);
    url
}

fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
}

fn code(fake: &Fake, changes: &[(&str, &str)]) -> String {
    let back = fake.consent(&authorization(fake, changes)).unwrap();
    parameter(&back, "code").unwrap()
}

async fn exchange(fake: &Fake, code: &str, verifier: &str) -> Response {
    let redirect = fake.redirect_uri();
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", fake.client_id()),
        ("redirect_uri", redirect.as_str()),
        ("code", code),
        ("code_verifier", verifier),
    ];
    form(fake.token_url(), &fields).await
}

async fn refresh(fake: &Fake, token: &str) -> Response {
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", fake.client_id()),
        ("refresh_token", token),
    ];
    form(fake.token_url(), &fields).await
}

async fn login(fake: &Fake) -> Value {
    let response = exchange(fake, &code(fake, &[]), VERIFIER).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

async fn is_accepted(fake: &Fake, token: &Value) -> bool {
    let body = json!({"query": "{ userDetails { email } }"}).to_string();
    let token = Secret::new(token.as_str().unwrap());
    post(fake.graphql_url(), &token, body).await.status == 200
}

/// The claims of a JWT.
fn claims(token: &Value) -> Value {
    let parts: Vec<&str> = token.as_str().unwrap().split('.').collect();
    assert!(parts.len() == 3 && parts.iter().all(|part| !part.is_empty()));
    let bytes = URL_SAFE_NO_PAD.decode(parts[1]).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn assert_invalid_grant(response: &Response, description: &str) {
    assert_eq!(response.status, 403);
    assert_eq!(
        response.body,
        json!({"error": "invalid_grant", "error_description": description})
    );
}

#[tokio::test]
async fn the_redirect_has_code_state_and_issuer() {
    let fake = start_fake().await;
    let response = get(authorization(&fake, &[])).await;
    assert_eq!(response.status, 302);
    let back = Url::parse(response.header("location").unwrap()).unwrap();
    assert!(back.as_str().starts_with(fake.redirect_uri().as_str()));
    assert_eq!(parameter(&back, "state").unwrap(), "state-1");
    assert_eq!(parameter(&back, "iss").unwrap(), fake.issuer());
    assert!(fake.issuer().ends_with('/'));
    assert!(parameter(&back, "code").is_some());
}

#[tokio::test]
async fn a_code_becomes_tokens_of_the_user() {
    let fake = start_fake().await;
    let tokens = login(&fake).await;
    assert_eq!(tokens["expires_in"], 86_400);
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["scope"], SCOPE);
    assert!(is_accepted(&fake, &tokens["access_token"]).await);
    let claims = claims(&tokens["id_token"]);
    assert_eq!(claims["iss"], fake.issuer());
    assert_eq!(claims["aud"], fake.client_id());
    assert_eq!(claims["sub"], "auth0|000000000000000000000001");
    assert_eq!(claims["nonce"], "nonce-1");
    assert!(claims["exp"].as_u64() > claims["iat"].as_u64());
    assert_eq!(fake.token_requests(), 1);
}

#[tokio::test]
async fn scopes_decide_which_tokens_are_issued_and_the_audience_whether_they_are_taken() {
    let fake = start_fake().await;
    let code = |change| self::code(&fake, &[change]);
    let tokens = exchange(&fake, &code(("scope", "profile")), VERIFIER)
        .await
        .body;
    assert!(tokens["refresh_token"].is_null() && tokens["id_token"].is_null());
    let tokens = exchange(&fake, &code(("audience", "")), VERIFIER)
        .await
        .body;
    assert!(!is_accepted(&fake, &tokens["access_token"]).await);
}

#[tokio::test]
async fn a_code_works_once_with_its_verifier_and_its_address() {
    let clock = fixture_day();
    let fake = fake_builder().clock(clock.clone()).start().await.unwrap();
    let (bad, unverified) = (
        "Invalid authorization code",
        "Failed to verify code verifier",
    );
    let foreign = code(&fake, &[("redirect_uri", "https://app.example/cb")]);
    for (code, verifier, error) in [
        ("nonsense".to_owned(), VERIFIER, bad),
        (code(&fake, &[]), CHALLENGE, unverified),
        (code(&fake, &[]), "", unverified),
        (foreign, VERIFIER, bad),
    ] {
        assert_invalid_grant(&exchange(&fake, &code, verifier).await, error);
    }
    let late = code(&fake, &[]);
    clock.advance(Duration::from_secs(600));
    assert_invalid_grant(&exchange(&fake, &late, VERIFIER).await, bad);
    let code = code(&fake, &[]);
    let tokens = exchange(&fake, &code, VERIFIER).await.body;
    assert_invalid_grant(&exchange(&fake, &code, VERIFIER).await, bad);
    // The family goes with a code that comes twice.
    assert!(!is_accepted(&fake, &tokens["access_token"]).await);
}

#[tokio::test]
async fn refresh_tokens_rotate_and_reuse_ends_the_family() {
    let fake = start_fake().await;
    let first = login(&fake).await;
    let old = first["refresh_token"].as_str().unwrap();
    let second = refresh(&fake, old).await.body;
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    assert!(is_accepted(&fake, &second["access_token"]).await);
    let other = login(&fake).await;
    let newer = second["refresh_token"].as_str().unwrap();
    for unusable in [old, newer, "nonsense"] {
        let refused = refresh(&fake, unusable).await;
        assert_invalid_grant(&refused, "Unknown or invalid refresh token.");
    }
    assert!(!is_accepted(&fake, &second["access_token"]).await);
    // Another login is another family.
    assert!(is_accepted(&fake, &other["access_token"]).await);
}

#[tokio::test]
async fn tokens_expire_by_the_clock() {
    let clock = fixture_day();
    let builder = fake_builder().clock(clock.clone());
    let builder = builder.access_token_lifetime(Duration::from_secs(60));
    let fake = builder.start().await.unwrap();
    let tokens = login(&fake).await;
    assert_eq!(tokens["expires_in"], 60);
    clock.advance(Duration::from_secs(59));
    assert!(is_accepted(&fake, &tokens["access_token"]).await);
    clock.advance(Duration::from_secs(1));
    assert!(!is_accepted(&fake, &tokens["access_token"]).await);
    clock.advance(Duration::from_secs(30 * 86_400));
    let token = tokens["refresh_token"].as_str().unwrap();
    assert_eq!(refresh(&fake, token).await.status, 403);
}

#[tokio::test]
async fn revoking_a_refresh_token_revokes_its_family() {
    let fake = start_fake().await;
    let tokens = login(&fake).await;
    let token = tokens["refresh_token"].as_str().unwrap();
    for token in ["unknown", token] {
        let fields = [("client_id", "fake-client"), ("token", token)];
        let response = form(fake.revoke_url(), &fields).await;
        assert_eq!((response.status, response.body), (200, Value::Null));
    }
    assert_eq!(refresh(&fake, token).await.status, 403);
    assert!(!is_accepted(&fake, &tokens["access_token"]).await);
    let json = json!({"token": fake.access_token().expose()}).to_string();
    let headers = [("content-type", "application/json")];
    let revoked = send("POST", &fake.revoke_url(), &headers, &json).await;
    assert_eq!(revoked.status, 200);
    assert!(!is_accepted(&fake, &fake.access_token().expose().into()).await);
}

#[tokio::test]
async fn invalid_authorization_requests_redirect_only_to_a_valid_address() {
    let fake = start_fake().await;
    for change in [
        ("client_id", "other"),
        ("redirect_uri", ""),
        ("redirect_uri", "http://app.example/cb"),
        ("redirect_uri", "javascript:alert(1)"),
    ] {
        let url = authorization(&fake, &[change]);
        assert!(
            fake.consent(&url).unwrap_err().kind() == ErrorKind::Config,
            "{change:?}"
        );
        assert_eq!(get(url).await.status, 400, "{change:?}");
    }
    for (change, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("audience", "https://other.example"), "access_denied"),
    ] {
        let back = fake.consent(&authorization(&fake, &[change])).unwrap();
        let said = parameter(&back, "error");
        assert_eq!(said.as_deref(), Some(error), "{change:?}");
        assert_eq!(parameter(&back, "code"), None);
        assert_eq!(parameter(&back, "state").as_deref(), Some("state-1"));
    }
    let back = fake.refuse(&authorization(&fake, &[])).unwrap();
    assert_eq!(parameter(&back, "error").as_deref(), Some("access_denied"));
}

#[tokio::test]
async fn logout_returns_to_allowed_addresses_only() {
    let other = Url::parse("https://app.example/bye").unwrap();
    let builder = fake_builder().allow_return_to(other.clone());
    let fake = builder.start().await.unwrap();
    let logout = |to: Option<&str>| {
        let mut url = fake.logout_url();
        url.query_pairs_mut()
            .append_pair("client_id", "fake-client");
        if let Some(to) = to {
            url.query_pairs_mut().append_pair("returnTo", to);
        }
        get(url)
    };
    for to in [fake.return_to(), other] {
        let response = logout(Some(to.as_str())).await;
        assert_eq!(response.status, 302);
        assert_eq!(response.header("location"), Some(to.as_str()));
    }
    assert_eq!(logout(Some("https://evil.example/")).await.status, 400);
    let default = logout(None).await;
    assert_eq!(default.status, 302, "the application's default page (5.8)");
}

#[tokio::test]
async fn debug_hides_the_tokens() {
    let fake = fake_builder().user(User::Receiver).start().await.unwrap();
    assert!(!format!("{fake:?}").contains(fake.access_token().expose()));
    let builder = fake_builder().register_token("hush".into());
    assert!(!format!("{builder:?}").contains("hush"));
}
