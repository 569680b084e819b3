//! A login from its address to its callback.

use std::collections::HashMap;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use url::Url;

use super::PendingLogin;
use crate::auth::Provider;
use crate::auth::provider::tests::settings;
use crate::error::tests::assert_fails;
use crate::transport::Clock;

fn provider(clock: &Clock) -> Provider {
    settings().clock(clock.clone()).build().unwrap()
}

fn callback(login: &PendingLogin) -> String {
    format!("code=c&state={}", query(login.url())["state"])
}

fn query(url: &Url) -> HashMap<String, String> {
    url.query_pairs().into_owned().collect()
}

/// Row 44.
#[test]
fn the_address_has_the_parameters_of_the_spec_and_pkce() {
    let provider = provider(&Clock::system());
    let login = provider.authorization().param("prompt", "login");
    let login = login.start().unwrap();
    let query = query(login.url());
    for (name, value) in [
        ("response_type", "code"),
        ("scope", "openid profile email offline_access"),
        ("client_id", "app"),
        ("redirect_uri", "https://localhost:5021/callback"),
        ("audience", "https://api.example"),
        ("code_challenge_method", "S256"),
        ("prompt", "login"),
    ] {
        assert_eq!(query[name], value);
    }
    let verifier = login.stored.verifier.expose().to_owned();
    let digest = Sha256::digest(verifier);
    assert_eq!(query["code_challenge"], URL_SAFE_NO_PAD.encode(digest));
    assert!(query["state"].len() >= 32 && query["nonce"].len() >= 32);
    let other = provider.authorization().start().unwrap();
    assert_ne!(self::query(other.url())["state"], query["state"]);
    let bare = provider.authorization().scopes(["offline_access"]);
    let unknowable = bare.expected_subject("auth0|sam").start();
    assert_fails(unknowable, "Config: expected_subject");
    let clash = provider.authorization().param("state", "mine").start();
    assert_fails(clash, "Config: state");
}

#[test]
fn without_an_audience_none_is_sent() {
    let settings = Provider::builder("app")
        .authorize_url("http://127.0.0.1:1/authorize")
        .token_url("http://127.0.0.1:1/oauth/token");
    let provider = settings.redirect_uri("https://app.example/cb").build();
    let provider = provider.unwrap();
    let login = provider.authorization().start().unwrap();
    assert!(!query(login.url()).contains_key("audience"));
    let clash = provider.authorization().param("audience", "mine").start();
    assert_fails(clash, "Config: audience");
}

/// Row 43.
#[test]
fn a_login_expires_after_ten_minutes() {
    let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_000_000));
    let provider = provider(&clock);
    let login = provider.authorization().start().unwrap();
    let late = provider.authorization().start().unwrap();
    clock.advance(Duration::from_secs(600));
    let in_time = callback(&login);
    assert_eq!(login.check(&in_time).unwrap().code.expose(), "c");
    clock.advance(Duration::from_secs(1));
    let too_late = callback(&late);
    assert_fails(late.check(&too_late), "LoginRefused: login_expired");
}

/// Row 43.
#[test]
fn two_logins_at_once_take_their_own_callbacks_only() {
    let provider = provider(&Clock::system());
    let one = provider.authorization().start().unwrap();
    let two = provider.authorization().start().unwrap();
    let of_one = callback(&one);
    let of_two = callback(&two);
    assert!(one.expects(&of_one) && !one.expects(&of_two));
    assert_fails(two.check(&of_one), "LoginRefused");
    // `check` consumes the login, so that no callback can be replayed.
    one.check(&of_one).unwrap();
}

#[test]
fn a_login_goes_through_text_to_another_host() {
    let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_000_000));
    let provider = provider(&clock);
    let login = provider.authorization().start().unwrap();
    let back = PendingLogin::from_secret_json(&provider, &login.to_secret_json()).unwrap();
    assert_eq!(back.url(), login.url());
    let state = query(login.url())["state"].clone();
    let checked = back.check(&format!("?code=c&state={state}")).unwrap();
    assert!(checked.verifier.matches(login.stored.verifier.expose()));
    for bad in ["", "{}", "[1]", "{\"client_id\":\"app\"}"] {
        assert_fails(
            PendingLogin::from_secret_json(&provider, &bad.into()),
            "Config",
        );
    }
}

#[test]
fn debug_hides_state_nonce_verifier_and_code() {
    let login = provider(&Clock::system()).authorization();
    let login = login.expected_subject("auth0|sam").start().unwrap();
    let state = query(login.url())["state"].clone();
    let stored = &login.stored;
    let secrets = [&stored.state, &stored.nonce, &stored.verifier];
    let secrets = secrets.map(|secret| secret.expose().to_owned());
    let pending = format!("{login:?}");
    let checked = login.check(&format!("code=c0d3&state={state}")).unwrap();
    let shown = format!("{pending} {checked:?}");
    let others = ["c0d3", "auth0|sam"];
    for secret in secrets.iter().map(String::as_str).chain(others) {
        assert!(!shown.contains(secret));
    }
}
