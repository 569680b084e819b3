//! The settings of a provider, and their validation.

use std::sync::Arc;
use std::time::Duration;

use oauth2::basic::BasicClient;
use oauth2::{AuthUrl, ClientId, RedirectUrl};
use url::Url;

use super::discovery::MetadataCache;
use super::metadata::Metadata;
use super::{Provider, ProviderSettings};
use crate::auth::AssertionSigner;
use crate::auth::client_authentication::AuthenticationSettings;
use crate::auth::id_token::IdTokenCheck;
use crate::error::{Error, Result};
use crate::profile::ServiceProfile;
use crate::secret::Secret;
use crate::transport::{Clock, Http, HttpOptions, parse_endpoint};

/// Spec 5.2.
const SCOPES: [&str; 4] = ["openid", "profile", "email", "offline_access"];

/// Settings of a [`Provider`], checked by [`build`](Self::build).
#[derive(Clone, Default)]
#[must_use]
pub struct ProviderBuilder {
    client_id: String,
    authentication: AuthenticationSettings,
    pub(super) authorize_url: Option<String>,
    pub(super) token_url: Option<String>,
    pub(super) revoke_url: Option<String>,
    logout_url: Option<String>,
    pub(super) device_authorization_url: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) require_iss: Option<bool>,
    pub(super) private_addresses: bool,
    pub(super) metadata_cache: MetadataCache,
    /// Values for settings that are not set.
    pub(super) found: Option<Arc<Metadata>>,
    audience: Option<String>,
    redirect_uri: Option<String>,
    scopes: Vec<String>,
    pub(super) http: HttpOptions,
    timeout: Duration,
    pub(super) clock: Clock,
    /// Zero by default, like Auth0.
    rotation_overlap: Duration,
    default_lifetime: Duration,
    pub(in crate::auth) id_token_check: Option<IdTokenCheck>,
}

impl ProviderBuilder {
    pub(super) fn new(client_id: String) -> Self {
        Self {
            client_id,
            scopes: SCOPES.map(str::to_owned).to_vec(),
            // An identity provider that takes longer is probably down.
            timeout: Duration::from_secs(30),
            // Well below the usual 24 hours (spec 5.6): a wrong guess costs a refresh, not a failed call.
            default_lifetime: Duration::from_secs(3_600),
            ..Self::default()
        }
    }

    /// Applies the addresses of a profile that has them: those for logins, the issuer, the audience and the redirect. Later
    /// settings override them.
    ///
    /// ```
    /// use envd_sdk::auth::Provider;
    /// use envd_sdk::profile::ServiceProfile;
    ///
    /// let provider = Provider::builder("my-client-id")
    ///     .profile(&ServiceProfile::test_environment())
    ///     .redirect_uri("https://localhost:5021/callback/envd/")
    ///     .build()?;
    /// # let _ = provider;
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    pub fn profile(mut self, profile: &ServiceProfile) -> Self {
        let known = &profile.addresses;
        // profile: addresses.issuer
        if let Some(issuer) = &known.issuer {
            self = self.issuer(&*issuer.value);
        }
        for (setting, known) in [
            // profile: addresses.authorize
            (&mut self.authorize_url, &known.authorize),
            // profile: addresses.token
            (&mut self.token_url, &known.token),
            // profile: addresses.revoke
            (&mut self.revoke_url, &known.revoke),
            // profile: addresses.logout
            (&mut self.logout_url, &known.logout),
            // profile: addresses.deviceAuthorization
            (
                &mut self.device_authorization_url,
                &known.device_authorization,
            ),
            // profile: addresses.audience
            (&mut self.audience, &known.audience),
            // profile: addresses.redirect
            (&mut self.redirect_uri, &known.redirect),
        ] {
            if let Some(known) = known {
                *setting = Some(known.value.clone());
            }
        }
        self
    }

    /// The secret of a confidential client. Omit it in programs that users install.
    ///
    /// It is sent in the body with the client id, as the service expects it (spec 5.5; `client_secret_post` in OIDC Core
    /// 9). For providers that expect another method, use [`client_secret_basic`](Self::client_secret_basic) or
    /// [`private_key_jwt`](Self::private_key_jwt). Only one may be set (RFC 6749 section 2.3). A client that authenticates
    /// with a certificate (`tls_client_auth`, RFC 8705 section 2) sets none of them, and passes the certificate to
    /// [`http`](Self::http). All requests to the provider use the same method: logins, refreshes and revocations.
    #[doc(alias("client credentials", "client secret"))]
    pub fn client_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.authentication.secret_post = Some(secret.into());
        self
    }

    /// The secret of a confidential client, for providers that expect it in the `authorization` header
    /// (`client_secret_basic`, RFC 6749 section 2.3.1). The client id is also in the header, and not in the body.
    ///
    /// ```
    /// use envd_sdk::auth::Provider;
    ///
    /// # let secret = "s3cr3t";
    /// let provider = Provider::builder("my-client-id")
    ///     .client_secret_basic(secret)
    ///     .authorize_url("https://sso.example.com/authorize")
    ///     .token_url("https://sso.example.com/oauth/token")
    ///     .audience("https://api.example.com/graphql")
    ///     .redirect_uri("https://app.example.com/callback")
    ///     .build()?;
    /// # let _ = provider;
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    pub fn client_secret_basic(mut self, secret: impl Into<Secret>) -> Self {
        self.authentication.secret_basic = Some(secret.into());
        self
    }

    /// Signs requests with a key instead of a secret: each request of this confidential client contains a short-lived JWT
    /// from this signer (`private_key_jwt`, RFC 7523 section 2.2 and OIDC Core 9). [`AssertionSigner`] has an example.
    ///
    /// The audience of the JWT is the [`issuer`](Self::issuer), which must be set, or the
    /// [`assertion_audience`](Self::assertion_audience). It is valid for two minutes and for one request.
    pub fn private_key_jwt(mut self, signer: impl AssertionSigner) -> Self {
        self.authentication.signer = Some(Arc::new(signer));
        self
    }

    /// The audience (`aud`) of the JWTs of [`private_key_jwt`](Self::private_key_jwt); defaults to the
    /// [`issuer`](Self::issuer).
    ///
    /// The update of RFC 7523 (`draft-ietf-oauth-rfc7523bis`, section 4) allows only the issuer. With another value, a
    /// malicious provider can make a client that takes its addresses from metadata sign JWTs intended for another provider.
    /// Set it only for providers that follow the older text and expect the address of the token endpoint.
    pub fn assertion_audience(mut self, audience: impl Into<String>) -> Self {
        self.authentication.audience = Some(audience.into());
        self
    }

    /// Where the user logs in, such as `https://sso.example.com/authorize`. Required for browser logins, unless
    /// [discovered](Self::discover).
    pub fn authorize_url(mut self, url: impl Into<String>) -> Self {
        self.authorize_url = Some(url.into());
        self
    }

    /// Where codes and refresh tokens are exchanged, such as `https://sso.example.com/oauth/token`. Required, unless
    /// [discovered](Self::discover).
    pub fn token_url(mut self, url: impl Into<String>) -> Self {
        self.token_url = Some(url.into());
        self
    }

    /// Where refresh tokens are revoked (RFC 7009). Without it, the refresh token stays valid at the server after a logout.
    pub fn revoke_url(mut self, url: impl Into<String>) -> Self {
        self.revoke_url = Some(url.into());
        self
    }

    /// Where the session at the identity provider ends, such as `https://sso.example.com/v2/logout` (spec 5.8).
    pub fn logout_url(mut self, url: impl Into<String>) -> Self {
        self.logout_url = Some(url.into());
        self
    }

    /// Where a device without a browser starts its login (RFC 8628 section 3.1), such as
    /// `https://sso.example.com/oauth/device/code`.
    pub fn device_authorization_url(mut self, url: impl Into<String>) -> Self {
        self.device_authorization_url = Some(url.into());
        self
    }

    /// The issuer, exactly as in the `iss` of its tokens. Auth0's ends in a slash.
    ///
    /// Without it, `iss` is checked neither in callbacks (RFC 9207) nor in id tokens. [`discover`](Self::discover) uses it to
    /// find the provider's addresses. Setting it discards metadata discovered earlier, which belongs to the previous issuer.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self.metadata_cache = MetadataCache::default();
        self.found = None;
        self
    }

    /// Rejects callbacks without the parameter `iss` (RFC 9207 section 2.4). A program that logs in at several providers
    /// needs it to tell their callbacks apart. Requires the [`issuer`](Self::issuer).
    ///
    /// Defaults to the result of [`discover`](Self::discover): on if the provider announces that it sends `iss`. Without
    /// discovery, it is off. A mismatching `iss` is always rejected.
    pub fn require_iss(mut self, require: bool) -> Self {
        self.require_iss = Some(require);
        self
    }

    /// Allows [`discover`](Self::discover) to use an issuer and published addresses that are non-public IP addresses (IANA's
    /// registries of special-purpose addresses) or names below `localhost`, for a provider in your own network. Defaults to
    /// off, and does not affect addresses that you set. Discards metadata discovered earlier.
    pub fn allow_private_addresses(mut self, allowed: bool) -> Self {
        self.private_addresses = allowed;
        // The cached metadata was checked with the old setting.
        self.metadata_cache = MetadataCache::default();
        self.found = None;
        self
    }

    /// The audience of the access token: the address of the service endpoint as registered with the provider. The service
    /// requires it (spec 5.2): without it, Auth0 issues tokens that the service refuses. Omit it only for other providers
    /// that do not use one; then no `audience` is sent. In the test environment, its host differs from that of the endpoint
    /// ([`guide::going_live`](crate::guide::going_live#the-audience)).
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Where the browser is redirected after the login, exactly as registered: `https`, loopback, or an
    /// application-specific scheme. Required for browser logins.
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uri = Some(uri.into());
        self
    }

    /// The scopes to request; defaults to `openid profile email offline_access`. The last one is required to get a refresh
    /// token.
    #[doc(alias = "offline_access")]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Proxy, certificates and user agent for requests to the provider. The limits are fixed: 5 seconds to connect,
    /// [`timeout`](Self::timeout) in total, a new connection per request, and 1 MiB per reply.
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.http = options;
        self
    }

    /// The time limit for each request to the provider; defaults to 30 seconds.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// The clock that decides when tokens and logins expire.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        // The cache uses times of the old clock.
        self.metadata_cache = MetadataCache::default();
        self
    }

    /// How long the server accepts a refresh token again after its first use; defaults to zero.
    ///
    /// Auth0 calls this the rotation overlap period. Within it, a refresh with a lost reply is repeated immediately.
    pub fn rotation_overlap(mut self, overlap: Duration) -> Self {
        self.rotation_overlap = overlap;
        self
    }

    /// The lifetime of an access token if neither the reply nor the token states one; defaults to one hour.
    pub fn default_lifetime(mut self, lifetime: Duration) -> Self {
        self.default_lifetime = lifetime;
        self
    }

    /// Checks all settings.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) names the missing or invalid setting.
    pub fn build(mut self) -> Result<Provider> {
        self = self.with_found();
        self.check_texts()?;
        let http = self.http_options();
        let token_url = parse_endpoint("token_url", &required("token_url", self.token_url)?)?;
        let authorize_url = optional("authorize_url", self.authorize_url)?;
        let revoke_url = optional("revoke_url", self.revoke_url)?;
        let logout_url = optional("logout_url", self.logout_url)?;
        let device_authorization_url =
            optional("device_authorization_url", self.device_authorization_url)?;
        let authentication =
            self.authentication
                .check(&self.client_id, self.issuer.as_deref(), self.timeout)?;
        let redirect_uri = self.redirect_uri.map(redirect_uri).transpose()?;
        if redirect_uri.is_some() && authorize_url.is_none() {
            return Err(Error::config("authorize_url is not set"));
        }

        let mut endpoints = vec![&token_url];
        endpoints.extend(&revoke_url);
        endpoints.extend(&device_authorization_url);
        let http = Http::new(&http, &endpoints)?;

        let browser = authorize_url
            .zip(redirect_uri)
            .map(|(authorize, redirect)| {
                BasicClient::new(ClientId::new(self.client_id.clone()))
                    .set_auth_uri(AuthUrl::from_url(authorize))
                    .set_redirect_uri(redirect)
            });
        Ok(Provider(Arc::new(ProviderSettings {
            browser,
            client_id: self.client_id,
            authentication,
            token_url,
            revoke_url,
            logout_url,
            device_authorization_url,
            issuer: self.issuer,
            require_iss: self.require_iss.unwrap_or(false),
            audience: self.audience,
            scopes: self.scopes,
            http,
            clock: self.clock,
            timeout: self.timeout,
            rotation_overlap: self.rotation_overlap,
            default_lifetime: self.default_lifetime,
            id_token_check: self.id_token_check,
        })))
    }

    fn check_texts(&self) -> Result<()> {
        let is_blank = |text: &String| text.trim().is_empty();
        let problem = if is_blank(&self.client_id) {
            "client_id is empty"
        } else if self.default_lifetime.is_zero() {
            "default_lifetime is zero"
        } else if self.audience.as_ref().is_some_and(is_blank) {
            "audience is empty"
        } else if self.require_iss == Some(true) && self.issuer.is_none() {
            "require_iss needs the issuer"
        } else {
            return Ok(());
        };
        Err(Error::config(problem))
    }

    /// The HTTP settings, with the limits documented at [`http`](Self::http).
    pub(super) fn http_options(&self) -> HttpOptions {
        self.http
            .clone()
            .connect_timeout(Duration::from_secs(5))
            .timeout(self.timeout)
            .max_body_bytes(1 << 20)
            .no_keep_alive()
    }
}

// Hides the unchecked addresses, which may contain credentials.
debug_shows!(ProviderBuilder, |it| client_id: it.client_id);

fn required(name: &str, value: Option<String>) -> Result<String> {
    value
        .filter(|value| !value.trim().is_empty())
        .ok_or_else(|| Error::config(format!("{name} is not set")))
}

fn optional(name: &str, value: Option<String>) -> Result<Option<Url>> {
    value.map(|url| parse_endpoint(name, &url)).transpose()
}

/// RFC 8252 section 7: `https`, loopback, or a private scheme. The text is kept verbatim, because it must match exactly.
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
