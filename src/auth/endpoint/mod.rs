//! The endpoints for tokens: builds the requests, sends them, and reads the replies.
//!
//! [`Issued`] are the tokens of a reply, [`DeviceCodes`] the codes of a login on another device. A [`Refusal`] is why there are
//! none, and its [`Class`] what that means for the code or refresh token that was sent. `post` makes each request,
//! `send` sends it, and [`refusal`] reads the reply, without I/O.
//!
//! oauth2 makes the address and the secrets of a login, and not these requests. Its forms grow, and leave copies of the
//! tokens behind; its tokens are not wiped; its errors lose status and headers, which decide whether a refresh token is
//! used up, and keep the body; and it signs no assertions. A request function of ours would mend the headers only: the
//! reading of replies (`issued`, `refusal`) would stay as it is, and about forty lines of forms would become an adapter.

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
    /// Revokes a refresh token that no manager holds, and its session (RFC 7009). A manager revokes its own at
    /// [`logout`](super::TokenManager::logout). Does nothing when no [`revoke_url`](super::ProviderBuilder::revoke_url) is set.
    ///
    /// A token that the server does not know is not an error (section 2.2).
    ///
    /// # Errors
    ///
    /// [`Connect`](crate::ErrorKind::Connect), [`Timeout`](crate::ErrorKind::Timeout) and
    /// [`Transport`](crate::ErrorKind::Transport) when no reply came, and the kind of the reply's status; all may pass where
    /// [`is_retryable`](Error::is_retryable) says so.
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

/// A request to the provider, with the credentials of the client. All of them are made here, and each is sent once: an
/// assertion among the credentials is good for one request.
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
    // Signing counts, since other processes wait no longer for a refresh than its requests take.
    let signing = settings.clock.monotonic().saturating_sub(began);
    request.timeout = Some(settings.timeout.saturating_sub(signing));
    Ok(request)
}

/// A form that is wiped when the request is dropped.
fn form<'a>(fields: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Bytes {
    // Allocated once, with three bytes for each: a text that grows leaves copies behind.
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
