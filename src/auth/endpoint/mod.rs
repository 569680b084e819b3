//! The token endpoint: builds and sends the requests; [`refusal`] reads the replies, without I/O.
//!
//! The forms are not those of oauth2, which leaves copies of the tokens in memory.

mod device;
mod issued;
mod refusal;

use bytes::Bytes;
use url::Url;
use url::form_urlencoded::Serializer;
use zeroize::Zeroizing;

pub(super) use self::device::{DeviceCodes, authorize_device, poll};
pub(super) use self::issued::Issued;
pub(super) use self::refusal::{Class, Refusal};
use self::refusal::{Grant, read_reply};
use super::provider::Settings;
use super::{CheckedCallback, Provider};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::Request;
use crate::transport::header::{ACCEPT, HeaderValue};

pub(super) async fn exchange(callback: &CheckedCallback) -> Result<Issued, Refusal> {
    send(&callback.provider, Grant::Code, exchange_request(callback)).await
}

pub(super) async fn refresh(provider: &Provider, token: &Secret) -> Result<Issued, Refusal> {
    let request = refresh_request(provider, token);
    send(provider, Grant::RefreshToken, request).await
}

async fn send(provider: &Provider, grant: Grant, request: Request) -> Result<Issued, Refusal> {
    match provider.0.http.send_and_keep(request).await {
        Ok((reply, None)) => read_reply(&reply, grant, provider.clock().now()),
        Ok((reply, Some(error))) => Err(Refusal::of_cut_reply(&reply, error)),
        Err(error) => Err(Refusal::without_reply(error)),
    }
}

/// Revokes a refresh token. Does nothing when no address for it is set.
///
/// RFC 7009 section 2.2: the reply to an unknown token is 200 as well.
pub(super) async fn revoke(provider: &Provider, token: &Secret) -> Result<()> {
    let Some(request) = revoke_request(provider, token) else {
        return Ok(());
    };
    let reply = provider.0.http.send(request).await?;
    match reply.status {
        200..=299 => Ok(()),
        _ => Err(reply.into_error()),
    }
    .map_err(|error: Error| error.with_operation("revoke"))
}

/// Spec 5.3 and 5.4.
fn exchange_request(callback: &CheckedCallback) -> Request {
    let settings = &callback.provider.0;
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", callback.code.expose()),
        ("code_verifier", callback.verifier.expose()),
        ("redirect_uri", &settings.redirect_uri),
    ];
    post(settings, settings.token_url.clone(), &fields)
}

/// Spec 5.5.
fn refresh_request(provider: &Provider, token: &Secret) -> Request {
    let settings = &provider.0;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token.expose()),
    ];
    post(settings, settings.token_url.clone(), &fields)
}

/// RFC 7009 section 2.1. `None` when no address is set.
fn revoke_request(provider: &Provider, token: &Secret) -> Option<Request> {
    let settings = &provider.0;
    let fields = [
        ("token", token.expose()),
        ("token_type_hint", "refresh_token"),
    ];
    Some(post(settings, settings.revoke_url.clone()?, &fields))
}

/// Spec 5.3 and 5.5 list the client's id and secret among the fields of the body.
fn post(settings: &Settings, url: Url, fields: &[(&str, &str)]) -> Request {
    let secret = settings.client_secret.as_ref();
    let secret = secret.map(|secret| ("client_secret", secret.expose()));
    let client = [("client_id", settings.client_id.as_str())];
    let fields = || fields.iter().copied().chain(client).chain(secret);
    // Three bytes for each at most, and room for all of them: a text that grows leaves copies behind.
    let sizes = fields().map(|(name, value)| 3 * (name.len() + value.len()) + 2);
    let mut form = Serializer::new(String::with_capacity(sizes.sum()));
    form.extend_pairs(fields());
    // Wiped when the request is dropped.
    let body = Bytes::from_owner(Zeroizing::new(form.finish().into_bytes()));
    let json = HeaderValue::from_static("application/json");
    Request::post_form(url, body).header(ACCEPT, json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::claims::ExpectedIdToken;

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
        let mut pairs: Vec<_> = url::form_urlencoded::parse(&request.body)
            .into_owned()
            .collect();
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
        let request = exchange_request(&CheckedCallback {
            provider: provider(None),
            code: "c/1".into(),
            verifier: verifier.into(),
            expected: ExpectedIdToken {
                is_required: true,
                nonce: Some("n".into()),
                subject: None,
            },
        });
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
        let plain = refresh_request(&provider(None), &"rt".into());
        let expected = [
            ("client_id", "app"),
            ("grant_type", "refresh_token"),
            ("refresh_token", "rt"),
        ];
        assert_eq!(form(plain), pairs(&expected));
        let confidential = refresh_request(&provider(Some("s")), &"rt".into());
        assert!(form(confidential).contains(&("client_secret".into(), "s".into())));
    }

    #[test]
    fn a_revocation_names_token_and_client() {
        let request = revoke_request(&provider(None), &"rt".into()).unwrap();
        assert_eq!(request.url.path(), "/oauth/revoke");
        let expected = [
            ("client_id", "app"),
            ("token", "rt"),
            ("token_type_hint", "refresh_token"),
        ];
        assert_eq!(form(request), pairs(&expected));
    }
}
