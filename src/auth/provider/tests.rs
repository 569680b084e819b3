//! Settings that are rejected, and text that `Debug` hides.

use std::time::Duration;

use super::{Provider, ProviderBuilder};
use crate::error::tests::assert_fails;
use crate::transport::HttpOptions;

/// The settings required for a login.
pub(crate) fn settings() -> ProviderBuilder {
    Provider::builder("app")
        .authorize_url("https://id.example/authorize")
        .token_url("http://127.0.0.1:1/oauth/token")
        .audience("https://api.example")
        .redirect_uri("https://localhost:5021/callback")
}

/// Row 49.
#[test]
fn a_missing_or_unsafe_setting_is_named() {
    type Set = fn(ProviderBuilder, &str) -> ProviderBuilder;
    let addresses: [(&str, Set); 6] = [
        ("authorize_url", |b, url| b.authorize_url(url)),
        ("token_url", |b, url| b.token_url(url)),
        ("revoke_url", |b, url| b.revoke_url(url)),
        ("logout_url", |b, url| b.logout_url(url)),
        ("device_authorization_url", |b, url| {
            b.device_authorization_url(url)
        }),
        ("redirect_uri", |b, url| b.redirect_uri(url)),
    ];
    settings().build().unwrap();
    let lifeless = settings().default_lifetime(Duration::ZERO);
    let mut refused = vec![
        (Provider::builder(" "), "client_id"),
        (Provider::builder("app"), "token_url"),
        (settings().audience(" "), "audience"),
        (settings().require_iss(true), "issuer"),
        (lifeless, "default_lifetime"),
    ];
    for address in [
        "https://app.example/cb#x",
        "com.example.app://sam:pw@host/cb",
    ] {
        refused.push((settings().redirect_uri(address), "redirect_uri"));
    }
    for (name, set) in addresses {
        for bad in "http://id.example/x id.example javascript:alert(1) https://sam:pw@id.example/x \
            https://sam@id.example/x https://:pw@id.example/x"
            .split(' ')
        {
            refused.push((set(settings(), bad), name));
        }
    }
    for (builder, name) in refused {
        assert_fails(builder.build(), &format!("Config: {name} & !pw"));
    }
}

/// A device or a service has no browser to redirect.
#[test]
fn without_a_redirect_uri_only_a_login_in_a_browser_is_refused() {
    let builder = Provider::builder("app").token_url("https://id.example/token");
    let provider = builder.clone().build().unwrap();
    assert_fails(provider.authorization().start(), "Config: redirect_uri");
    let forgotten = builder.redirect_uri("https://app.example/cb");
    assert_fails(forgotten.build(), "Config: authorize_url");
}

#[test]
fn a_redirect_uri_may_be_loopback_or_a_private_scheme() {
    for good in "http://127.0.0.1:0/cb http://[::1]/cb com.example.app:/cb".split(' ') {
        settings().redirect_uri(good).build().unwrap();
    }
}

/// Applies to unchecked addresses as well, and to all types that contain a provider.
#[test]
fn debug_shows_only_the_host_of_addresses() {
    let builder = settings()
        .client_secret("pr1vate")
        .authorize_url("https://id.example/pr1vate/authorize?pr1vate=1")
        .token_url("https://id.example/pr1vate/token?pr1vate=1")
        .revoke_url("https://id.example/pr1vate")
        .logout_url("https://id.example/pr1vate?pr1vate=1")
        .device_authorization_url("https://id.example/pr1vate?pr1vate=1")
        .audience("https://api.example/pr1vate?pr1vate=1")
        .issuer("https://id.example/pr1vate")
        .redirect_uri("https://app.example/pr1vate?pr1vate=1");
    let http = HttpOptions::default().client_certificate("pr1vate");
    let unchecked = builder.clone().http(http);
    let unchecked = unchecked.token_url("https://sam:pr1vate@id.example/");
    let provider = builder.build().unwrap();
    let login = provider.authorization().start().unwrap();
    let manager = crate::auth::TokenManager::builder(provider.clone());
    let shown = format!(
        "{unchecked:?} {provider:?} {login:?} {manager:?} {:?} {:?}",
        provider.authorization(),
        manager.clone().build().unwrap()
    );
    assert!(!shown.contains("pr1vate"), "{shown}");
    assert!(shown.contains("id.example"), "{shown}");
}

#[test]
fn the_logout_address_carries_client_and_return_address() {
    let with = settings().logout_url("https://id.example/v2/logout");
    let [with, without] = [with, settings()].map(|it| it.build().unwrap());
    let base = "https://id.example/v2/logout?client_id=app";
    let encoded = "&returnTo=https%3A%2F%2Fapp.example%2Fbye%3Fa%3D1%26b%3D2";
    for (to, end) in [
        (Some("https://app.example/bye?a=1&b=2"), encoded),
        // The user sees the default page (spec 5.8).
        (None, ""),
    ] {
        let url = with.logout_url(to).unwrap().unwrap();
        assert_eq!(url.as_str(), format!("{base}{end}"));
    }
    assert_fails(with.logout_url(Some("nowhere")), "Config");
    assert!(without.logout_url(None).unwrap().is_none());
}
