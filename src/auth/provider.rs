//! The settings of an identity provider.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oauth2::basic::BasicClient;
use oauth2::{AuthUrl, ClientId, EndpointSet, RedirectUrl};
use url::Url;

use super::{AuthorizationRequest, endpoint};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::{Clock, Http, HttpOptions, parse_endpoint};

/// Spec 5.2.
const SCOPES: [&str; 4] = ["openid", "profile", "email", "offline_access"];

/// An identity provider and the client that is registered with it (spec 5). Cheap to clone.
///
/// No address is derived from another: each is a setting.
///
/// ```
/// use envd_sdk::auth::Provider;
///
/// let provider = Provider::builder("my-client-id")
///     .authorize_url("https://sso.example.com/authorize")
///     .token_url("https://sso.example.com/oauth/token")
///     .revoke_url("https://sso.example.com/oauth/revoke")
///     .logout_url("https://sso.example.com/v2/logout")
///     .issuer("https://sso.example.com/")
///     .audience("https://api.example.com/graphql")
///     .redirect_uri("https://app.example.com/callback")
///     .build()?;
/// # let _ = provider;
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[derive(Clone)]
pub struct Provider(pub(super) Arc<Settings>);

/// oauth2's client with an authorization endpoint.
pub(super) type OAuth = BasicClient<EndpointSet>;

pub(super) struct Settings {
    pub(super) oauth: OAuth,
    pub(super) client_id: String,
    pub(super) client_secret: Option<Secret>,
    pub(super) redirect_uri: String,
    pub(super) token_url: Url,
    pub(super) revoke_url: Option<Url>,
    pub(super) logout_url: Option<Url>,
    pub(super) issuer: Option<String>,
    pub(super) audience: String,
    pub(super) scopes: Vec<String>,
    pub(super) http: Http,
    pub(super) clock: Clock,
    pub(super) timeout: Duration,
    pub(super) rotation_overlap: Duration,
    pub(super) default_lifetime: Duration,
}

impl Provider {
    /// Starts the settings; the service's support team issues the client id.
    pub fn builder(client_id: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(client_id.into())
    }

    /// Starts a login: the address to open in the user's browser, and the state to keep until the callback.
    pub fn authorization(&self) -> AuthorizationRequest {
        AuthorizationRequest::new(self.clone())
    }

    /// The address that ends the session at the identity provider (spec 5.8), with the client id and `return_to`;
    /// `None` when none is set.
    pub(super) fn logout_url(&self, return_to: Option<&str>) -> Result<Option<Url>> {
        if let Some(address) = return_to {
            Url::parse(address).map_err(|source| {
                Error::config("return_to is not a valid address").with_source(source)
            })?;
        }
        let Some(mut url) = self.0.logout_url.clone() else {
            return Ok(None);
        };
        url.query_pairs_mut()
            .append_pair("client_id", &self.0.client_id)
            .extend_pairs(return_to.map(|address| ("returnTo", address)));
        Ok(Some(url))
    }

    /// Revokes a refresh token that no manager holds, and its session (RFC 7009). A manager revokes its own at
    /// [`logout`](super::TokenManager::logout). Does nothing when no [`revoke_url`](ProviderBuilder::revoke_url) is set.
    ///
    /// A token that the server does not know is not an error (section 2.2).
    ///
    /// # Errors
    ///
    /// [`is_retryable`](Error::is_retryable) when the server could not be reached or has a temporary problem.
    pub async fn revoke(&self, refresh_token: &Secret) -> Result<()> {
        endpoint::revoke(self, refresh_token).await
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only the host of the address: the rest may be private.
        f.debug_struct("Provider")
            .field("client_id", &self.0.client_id)
            .field("host", &self.0.token_url.host_str())
            .finish_non_exhaustive()
    }
}

/// Settings of a [`Provider`], checked by [`build`](Self::build).
#[derive(Clone)]
#[must_use]
pub struct ProviderBuilder {
    client_id: String,
    client_secret: Option<Secret>,
    authorize_url: Option<String>,
    token_url: Option<String>,
    revoke_url: Option<String>,
    logout_url: Option<String>,
    issuer: Option<String>,
    audience: Option<String>,
    redirect_uri: Option<String>,
    scopes: Vec<String>,
    http: HttpOptions,
    timeout: Duration,
    clock: Clock,
    rotation_overlap: Duration,
    default_lifetime: Duration,
}

impl ProviderBuilder {
    pub(super) fn new(client_id: String) -> Self {
        Self {
            client_id,
            client_secret: None,
            authorize_url: None,
            token_url: None,
            revoke_url: None,
            logout_url: None,
            issuer: None,
            audience: None,
            redirect_uri: None,
            scopes: SCOPES.map(str::to_owned).to_vec(),
            http: HttpOptions::default(),
            // An identity provider that takes longer is most likely down.
            timeout: Duration::from_secs(30),
            clock: Clock::system(),
            // Auth0's default.
            rotation_overlap: Duration::ZERO,
            // Well under the usual 24 hours (spec 5.6): a wrong guess costs a refresh, not a failed call.
            default_lifetime: Duration::from_secs(3_600),
        }
    }

    /// The secret of a confidential client. Leave it out in programs that users install.
    pub fn client_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.client_secret = Some(secret.into());
        self
    }

    /// Where the user logs in, such as `https://sso.example.com/authorize`. Required.
    pub fn authorize_url(mut self, url: impl Into<String>) -> Self {
        self.authorize_url = Some(url.into());
        self
    }

    /// Where codes and refresh tokens are exchanged, such as `https://sso.example.com/oauth/token`. Required.
    pub fn token_url(mut self, url: impl Into<String>) -> Self {
        self.token_url = Some(url.into());
        self
    }

    /// Where refresh tokens are revoked (RFC 7009). Without it a logout leaves the refresh token alive at the server.
    pub fn revoke_url(mut self, url: impl Into<String>) -> Self {
        self.revoke_url = Some(url.into());
        self
    }

    /// Where the session at the identity provider ends, such as `https://sso.example.com/v2/logout` (spec 5.8).
    pub fn logout_url(mut self, url: impl Into<String>) -> Self {
        self.logout_url = Some(url.into());
        self
    }

    /// The issuer, exactly as in `iss` of its tokens. Auth0's ends in a slash.
    ///
    /// Without it `iss` is not compared, neither in callbacks (RFC 9207) nor in id tokens.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// The audience of the access token: the address of the service endpoint, as registered there (spec 5.2). Required.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Where the browser is redirected after the login, exactly as registered: `https`, loopback, or a scheme of the
    /// application. Required.
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uri = Some(uri.into());
        self
    }

    /// The scopes to request; `openid profile email offline_access` unless set. The last one is needed for a refresh token.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Proxy, certificates and user agent for the token endpoint. Its limits are fixed: 5 seconds to connect,
    /// [`timeout`](Self::timeout) in total, a new connection for each request, 1 MiB for a reply.
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.http = options;
        self
    }

    /// The time limit of one request to the token endpoint; 30 seconds unless set.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// The clock by which tokens and logins expire.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// How long the server accepts a refresh token again after it was used; zero unless set.
    ///
    /// Auth0 calls it the rotation overlap period. A refresh whose reply was lost is repeated at once within it.
    pub fn rotation_overlap(mut self, overlap: Duration) -> Self {
        self.rotation_overlap = overlap;
        self
    }

    /// The lifetime of an access token when neither the reply nor the token has one; one hour unless set.
    pub fn default_lifetime(mut self, lifetime: Duration) -> Self {
        self.default_lifetime = lifetime;
        self
    }

    /// Checks all settings.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) names the setting that is missing or cannot be used.
    pub fn build(self) -> Result<Provider> {
        if self.client_id.trim().is_empty() {
            return Err(Error::config("client_id is empty"));
        }
        if self.default_lifetime.is_zero() {
            return Err(Error::config("default_lifetime is zero"));
        }
        let audience = required("audience", self.audience)?;
        let authorize_url = required("authorize_url", self.authorize_url)?;
        let token_url = parse_endpoint("token_url", &required("token_url", self.token_url)?)?;
        let authorize_url = parse_endpoint("authorize_url", &authorize_url)?;
        let revoke_url = optional("revoke_url", self.revoke_url)?;
        let logout_url = optional("logout_url", self.logout_url)?;
        let redirect_uri = redirect_uri(required("redirect_uri", self.redirect_uri)?)?;

        let mut endpoints = vec![&token_url];
        endpoints.extend(&revoke_url);
        let http = self
            .http
            .connect_timeout(Duration::from_secs(5))
            .timeout(self.timeout)
            .max_body_bytes(1 << 20)
            .no_keep_alive();
        let http = Http::new(&http, &endpoints)?;

        let oauth = BasicClient::new(ClientId::new(self.client_id.clone()))
            .set_auth_uri(AuthUrl::from_url(authorize_url))
            .set_redirect_uri(redirect_uri.clone());
        Ok(Provider(Arc::new(Settings {
            oauth,
            client_id: self.client_id,
            client_secret: self.client_secret,
            redirect_uri: redirect_uri.to_string(),
            token_url,
            revoke_url,
            logout_url,
            issuer: self.issuer,
            audience,
            scopes: self.scopes,
            http,
            clock: self.clock,
            timeout: self.timeout,
            rotation_overlap: self.rotation_overlap,
            default_lifetime: self.default_lifetime,
        })))
    }
}

impl fmt::Debug for ProviderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the unchecked addresses: they may contain credentials.
        f.debug_struct("ProviderBuilder")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

fn required(name: &str, value: Option<String>) -> Result<String> {
    value
        .filter(|value| !value.trim().is_empty())
        .ok_or_else(|| Error::config(format!("{name} is not set")))
}

fn optional(name: &str, value: Option<String>) -> Result<Option<Url>> {
    value.map(|url| parse_endpoint(name, &url)).transpose()
}

/// RFC 8252 section 7: `https`, loopback, or a private scheme. The text is kept as given: it must match exactly.
fn redirect_uri(text: String) -> Result<RedirectUrl> {
    let url = Url::parse(&text).map_err(|source| {
        Error::config("redirect_uri is not a valid address").with_source(source)
    })?;
    match url.scheme() {
        "http" | "https" => {
            parse_endpoint("redirect_uri", &text)?;
        }
        "javascript" | "data" | "file" | "about" | "blob" => {
            return Err(Error::config(
                "redirect_uri must not have the scheme javascript, data, file, about or blob",
            ));
        }
        _ if !url.username().is_empty() || url.password().is_some() => {
            return Err(Error::config(
                "redirect_uri must not hold a user name or password",
            ));
        }
        _ => {}
    }
    if url.fragment().is_some() {
        // RFC 6749 section 3.1.2.
        return Err(Error::config("redirect_uri must not have a fragment"));
    }
    RedirectUrl::new(text)
        .map_err(|source| Error::config("redirect_uri is not a valid address").with_source(source))
}

#[cfg(test)]
mod tests;
