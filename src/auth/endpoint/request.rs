//! Builds the requests to the identity provider. Pure.
//!
//! oauth2 builds the forms of the token requests; its client is handed a "connection" that keeps the request and sends
//! nothing. So its error type, which holds whole replies, never meets one, and sending stays with `transport`.

use std::cell::RefCell;
use std::fmt;

use crate::transport::header::{ACCEPT, HeaderValue};
use bytes::Bytes;
use oauth2::{
    AuthorizationCode, HttpRequest, HttpResponse, PkceCodeVerifier, RefreshToken, SyncHttpClient,
};
use url::form_urlencoded::Serializer;
use zeroize::Zeroizing;

use crate::auth::provider::Settings;
use crate::auth::{CheckedCallback, Provider};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::{Body, Request};

/// Spec 5.3 and 5.4.
pub(super) fn exchange(callback: &CheckedCallback) -> Result<Request> {
    let settings = &callback.provider.0;
    let keeper = Keeper::default();
    let _kept = settings
        .oauth
        .exchange_code(AuthorizationCode::new(callback.code.expose().to_owned()))
        .set_pkce_verifier(PkceCodeVerifier::new(callback.verifier.expose().to_owned()))
        .request(&keeper);
    keeper.into_request(settings)
}

/// Spec 5.5.
pub(super) fn refresh(provider: &Provider, token: &Secret) -> Result<Request> {
    let settings = &provider.0;
    let keeper = Keeper::default();
    let token = RefreshToken::new(token.expose().to_owned());
    let _kept = settings
        .oauth
        .exchange_refresh_token(&token)
        .request(&keeper);
    keeper.into_request(settings)
}

/// RFC 7009 section 2.1. `None` when no address is set.
pub(super) fn revoke(provider: &Provider, token: &Secret) -> Option<Request> {
    let settings = &provider.0;
    let url = settings.revoke_url.clone()?;
    let mut form = Serializer::new(String::new());
    form.append_pair("token", token.expose())
        .append_pair("token_type_hint", "refresh_token")
        .append_pair("client_id", &settings.client_id);
    if let Some(secret) = &settings.client_secret {
        form.append_pair("client_secret", secret.expose());
    }
    Some(post(url, form.finish().into_bytes()))
}

fn post(url: url::Url, form: Vec<u8>) -> Request {
    // Wiped when the request is dropped.
    let body = Body::Form(Bytes::from_owner(Zeroizing::new(form)));
    Request::post(url, body).header(ACCEPT, HeaderValue::from_static("application/json"))
}

/// Keeps the request that oauth2 wants to send.
#[derive(Default)]
struct Keeper(RefCell<Option<HttpRequest>>);

#[derive(Debug)]
struct Kept;

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request was kept")
    }
}

impl std::error::Error for Kept {}

impl SyncHttpClient for Keeper {
    type Error = Kept;

    fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, Kept> {
        *self.0.borrow_mut() = Some(request);
        Err(Kept)
    }
}

impl Keeper {
    fn into_request(self, settings: &Settings) -> Result<Request> {
        let request = self
            .0
            .into_inner()
            .ok_or_else(|| Error::config("the token request cannot be built"))?;
        Ok(post(settings.token_url.clone(), request.into_body()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(secret: Option<&str>) -> Provider {
        let mut builder = Provider::builder("app")
            .authorize_url("http://127.0.0.1:1/authorize")
            .token_url("http://127.0.0.1:1/oauth/token")
            .revoke_url("http://127.0.0.1:1/oauth/revoke")
            .audience("https://api.example")
            .redirect_uri("https://app.example/cb");
        if let Some(secret) = secret {
            builder = builder.client_secret(secret);
        }
        builder.build().unwrap()
    }

    fn form(request: Request) -> Vec<(String, String)> {
        let Body::Form(body) = request.body else {
            panic!("not a form")
        };
        let mut pairs: Vec<_> = url::form_urlencoded::parse(&body).into_owned().collect();
        pairs.sort();
        pairs
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        expected.iter().map(owned).collect()
    }

    #[test]
    fn the_exchange_has_the_fields_of_the_spec() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let request = exchange(&CheckedCallback {
            provider: provider(None),
            code: "c/1".into(),
            verifier: verifier.into(),
            nonce: "n".into(),
            wants_id_token: true,
            expected_subject: None,
        });
        let request = request.unwrap();
        assert_eq!(request.url.path(), "/oauth/token");
        assert_eq!(
            form(request),
            pairs(&[
                ("client_id", "app"),
                ("code", "c/1"),
                ("code_verifier", verifier),
                ("grant_type", "authorization_code"),
                ("redirect_uri", "https://app.example/cb"),
            ])
        );
    }

    #[test]
    fn a_refresh_has_the_fields_of_the_spec() {
        let plain = refresh(&provider(None), &"rt".into()).unwrap();
        let expected = [
            ("client_id", "app"),
            ("grant_type", "refresh_token"),
            ("refresh_token", "rt"),
        ];
        assert_eq!(form(plain), pairs(&expected));
        let confidential = refresh(&provider(Some("s")), &"rt".into()).unwrap();
        assert!(form(confidential).contains(&("client_secret".into(), "s".into())));
    }

    #[test]
    fn a_revocation_names_token_and_client() {
        let request = revoke(&provider(None), &"rt".into()).unwrap();
        assert_eq!(request.url.path(), "/oauth/revoke");
        let expected = [
            ("client_id", "app"),
            ("token", "rt"),
            ("token_type_hint", "refresh_token"),
        ];
        assert_eq!(form(request), pairs(&expected));
    }
}
