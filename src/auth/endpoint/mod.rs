//! The provider's token endpoints: builds the requests, sends them, and decodes the replies.
//!
//! [`Issued`] has the tokens of a reply, [`DeviceCodes`] the codes for a login on another device. A [`Refusal`] states why
//! there are none, and its [`Class`] the consequence for the code or refresh token that was sent. `post` builds each request,
//! `send` sends it, and [`refusal`] classifies the reply without I/O.
//!
//! The oauth2 crate builds the address and the secrets of a login, but not these requests, for several reasons. Its form
//! buffers grow and leave copies of the tokens in memory, and it does not wipe tokens. Its errors drop the status and headers,
//! which decide whether a refresh token is used up, and keep the body. It does not sign assertions. Passing our own request
//! function would solve only the headers: the decoding of replies (`issued`, `refusal`) would stay, and an adapter would
//! replace about forty lines of form code.

#[cfg(all(test, feature = "rustls"))]
mod certificate_tests;
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
use super::provider::ProviderSettings;
use super::{CheckedCallback, Provider};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::Request;
use crate::transport::header::{ACCEPT, AUTHORIZATION, HeaderValue};

pub(super) async fn exchange(callback: &CheckedCallback) -> Result<Issued, Refusal> {
    let request = exchange_request(callback).await;
    send(&callback.provider, Grant::Code, request).await
}

pub(super) async fn refresh(provider: &Provider, token: &Secret) -> Result<Issued, Refusal> {
    let request = refresh_request(provider, token).await;
    send(provider, Grant::RefreshToken, request).await
}

async fn send(
    provider: &Provider,
    grant: Grant,
    request: Result<Request>,
) -> Result<Issued, Refusal> {
    let request = request.map_err(Refusal::without_request)?;
    match provider.0.http.send_and_keep(request).await {
        Ok((reply, None)) => read_reply(&reply, grant, provider.clock().now())
            .map_err(|refusal| refusal.with_clock_problem(provider, &reply)),
        Ok((reply, Some(error))) => Err(Refusal::of_cut_reply(&reply, error)),
        Err(error) => Err(Refusal::without_reply(error)),
    }
}

impl Provider {
    /// Revokes a refresh token that no manager holds, and ends its session (RFC 7009). A manager revokes its own token at
    /// [`logout`](super::TokenManager::logout). Does nothing if no [`revoke_url`](super::ProviderBuilder::revoke_url) is set.
    ///
    /// A token that the server does not know is not an error (section 2.2).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the token may have been revoked. Repeating the call is harmless.
    ///
    /// # Errors
    ///
    /// [`Connect`](crate::ErrorKind::Connect), [`Timeout`](crate::ErrorKind::Timeout) and
    /// [`Transport`](crate::ErrorKind::Transport) if no reply arrived; otherwise the kind of the reply's status. The failure is
    /// temporary if [`is_retryable`](Error::is_retryable) is true.
    pub async fn revoke(&self, refresh_token: &Secret) -> Result<()> {
        let Some(url) = &self.0.revoke_url else {
            return Ok(());
        };
        let request = revoke_request(self, url, refresh_token).await?;
        let reply = self.0.http.send(request).await?;
        match reply.status {
            200..=299 => Ok(()),
            _ => Err(reply.into_error()),
        }
        .map_err(|error: Error| error.with_operation("revoke"))
    }
}

/// Spec 5.3 and 5.4.
async fn exchange_request(callback: &CheckedCallback) -> Result<Request> {
    let settings = &callback.provider.0;
    let redirect_uri = settings.browser()?.redirect_uri();
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", callback.code.expose()),
        ("code_verifier", callback.verifier.expose()),
        ("redirect_uri", redirect_uri.map_or("", |uri| uri)),
    ];
    post(settings, &settings.token_url, &fields).await
}

/// Spec 5.5.
async fn refresh_request(provider: &Provider, token: &Secret) -> Result<Request> {
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token.expose()),
    ];
    post(&provider.0, &provider.0.token_url, &fields).await
}

/// RFC 7009 section 2.1.
async fn revoke_request(provider: &Provider, url: &Url, token: &Secret) -> Result<Request> {
    let fields = [
        ("token", token.expose()),
        ("token_type_hint", "refresh_token"),
    ];
    post(&provider.0, url, &fields).await
}

/// Builds a request to the provider, with the client's credentials. Every request to the provider is built here and sent only
/// once, because an assertion is valid for a single request.
async fn post(settings: &ProviderSettings, url: &Url, fields: &[(&str, &str)]) -> Result<Request> {
    let began = settings.clock.monotonic();
    let credentials = settings
        .authentication
        .credentials(&settings.client_id, &settings.clock)
        .await?;
    let fields = fields.iter().copied().chain(credentials.fields());
    let json = HeaderValue::from_static("application/json");
    let mut request = Request::post_form(url.clone(), form(fields)).header(ACCEPT, json);
    if let Some(header) = &credentials.header {
        request = request.header(AUTHORIZATION, header.clone());
    }
    // Includes the time for signing, because other processes wait for a refresh only as long as its requests may take.
    let signing = settings.clock.monotonic().saturating_sub(began);
    request.timeout = Some(settings.timeout.saturating_sub(signing));
    Ok(request)
}

/// Encodes a form into a buffer that is wiped when the request is dropped.
fn form<'a>(fields: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Bytes {
    // Allocated once with three bytes per byte, because a growing buffer leaves copies in memory.
    let size = fields
        .clone()
        .map(|(name, value)| 3 * (name.len() + value.len()) + 2)
        .sum();
    let mut form = Serializer::new(String::with_capacity(size));
    form.extend_pairs(fields);
    Bytes::from_owner(Zeroizing::new(form.finish().into_bytes()))
}

#[cfg(test)]
mod tests;
