//! Gathers the settings of an identity provider and checks them together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oauth2::basic::BasicClient;
use oauth2::{AuthUrl, ClientId, RedirectUrl};
use url::Url;

use super::Provider;
use super::provider::Settings;
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::{Clock, Http, HttpOptions, parse_endpoint};

/// Spec 5.2.
const SCOPES: [&str; 4] = ["openid", "profile", "email", "offline_access"];

/// Settings of a [`Provider`]; errors wait for [`build`](Self::build).
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
            // An identity provider that takes longer does not answer any more.
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

    /// The issuer's name, to the letter, as in `iss` of its tokens. Auth0's ends in a slash.
    ///
    /// Without it `iss` is not compared, neither in callbacks (RFC 9207) nor in id tokens.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// What the access token is for: the address of the service endpoint, as registered there (spec 5.2). Required.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Where the browser returns to, to the letter as registered: `https`, loopback, or a scheme of your own. Required.
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uri = Some(uri.into());
        self
    }

    /// The scopes to ask for; `openid profile email offline_access` unless set. No refresh token without the last.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Proxy, certificates and user agent for the token endpoint. Its time limits are fixed by what a refresh needs:
    /// 5 seconds to connect, [`timeout`](Self::timeout) in total, no connection used twice, 1 MiB a reply.
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
    /// Auth0 calls it the rotation overlap period. A refresh whose answer was lost is repeated at once inside it.
    pub fn rotation_overlap(mut self, overlap: Duration) -> Self {
        self.rotation_overlap = overlap;
        self
    }

    /// How long an access token lives when neither the server nor the token tells; one hour unless set.
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
        // Not the addresses before they were checked: they may carry credentials.
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

/// RFC 8252 section 7: `https`, loopback, or a private scheme. The text is kept as given: it must match to the letter.
fn redirect_uri(text: String) -> Result<RedirectUrl> {
    let url = Url::parse(&text)
        .map_err(|source| Error::config("redirect_uri is not an address").with_source(source))?;
    match url.scheme() {
        "http" | "https" => {
            parse_endpoint("redirect_uri", &text)?;
        }
        "javascript" | "data" | "file" | "about" | "blob" => {
            return Err(Error::config(
                "redirect_uri has a scheme that cannot be one",
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
        .map_err(|source| Error::config("redirect_uri is not an address").with_source(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> ProviderBuilder {
        Provider::builder("app")
            .authorize_url("https://id.example/authorize")
            .token_url("http://127.0.0.1:1/oauth/token")
            .audience("https://api.example")
            .redirect_uri("https://localhost:5021/callback")
    }

    /// Row 49.
    #[test]
    fn a_missing_or_unsafe_setting_is_named() {
        complete().build().unwrap();
        for (builder, name) in [
            (Provider::builder(" "), "client_id"),
            (Provider::builder("app"), "audience"),
            (complete().audience(""), "audience"),
            (complete().token_url("http://id.example/token"), "token_url"),
            (complete().authorize_url("id.example"), "authorize_url"),
            (complete().revoke_url("ftp://id.example"), "revoke_url"),
            (
                complete().redirect_uri("http://app.example/cb"),
                "redirect_uri",
            ),
            (
                complete().redirect_uri("https://app.example/cb#x"),
                "redirect_uri",
            ),
            (
                complete().redirect_uri("javascript:alert(1)"),
                "redirect_uri",
            ),
            (
                complete().token_url("https://sam:pw@id.example/token"),
                "token_url",
            ),
            (
                complete().authorize_url("https://sam@id.example/a"),
                "authorize_url",
            ),
            (
                complete().revoke_url("https://:pw@id.example/r"),
                "revoke_url",
            ),
            (
                complete().logout_url("https://sam:pw@id.example/l"),
                "logout_url",
            ),
            (
                complete().redirect_uri("https://sam:pw@app.example/cb"),
                "redirect_uri",
            ),
            (
                complete().redirect_uri("com.example.app://sam:pw@host/cb"),
                "redirect_uri",
            ),
            (
                complete().default_lifetime(Duration::ZERO),
                "default_lifetime",
            ),
        ] {
            let error = builder.build().unwrap_err();
            assert!(error.is_config());
            let said = error.to_string();
            assert!(said.contains(name) && !said.contains("pw"), "{said}");
        }
    }

    #[test]
    fn a_redirect_uri_may_be_loopback_or_a_private_scheme() {
        for good in [
            "http://127.0.0.1:0/cb",
            "http://[::1]/cb",
            "com.example.app:/cb",
        ] {
            complete().redirect_uri(good).build().unwrap();
        }
    }

    #[test]
    fn the_client_secret_is_hidden() {
        let builder = complete().client_secret("s3cr3t");
        assert!(!format!("{builder:?}").contains("s3cr3t"));
        assert!(!format!("{:?}", builder.build().unwrap()).contains("s3cr3t"));
    }

    /// Also before they were checked, and in all that holds a provider.
    #[test]
    fn of_addresses_debug_shows_the_host_only() {
        let builder = complete()
            .authorize_url("https://id.example/pr1vate/authorize?pr1vate=1")
            .token_url("https://id.example/pr1vate/token?pr1vate=1")
            .revoke_url("https://id.example/pr1vate")
            .logout_url("https://id.example/pr1vate?pr1vate=1")
            .audience("https://api.example/pr1vate?pr1vate=1")
            .issuer("https://id.example/pr1vate")
            .redirect_uri("https://app.example/pr1vate?pr1vate=1");
        let unchecked = builder.clone().token_url("https://sam:pr1vate@id.example/");
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
        let provider = complete()
            .logout_url("https://id.example/v2/logout")
            .build()
            .unwrap();
        let url = provider
            .logout_url(Some("https://app.example/bye?a=1&b=2"))
            .unwrap()
            .unwrap();
        assert_eq!(
            url.as_str(),
            "https://id.example/v2/logout?client_id=app&returnTo=https%3A%2F%2Fapp.example%2Fbye%3Fa%3D1%26b%3D2"
        );
        assert!(
            provider
                .logout_url(Some("nowhere"))
                .unwrap_err()
                .is_config()
        );
        assert!(
            complete()
                .build()
                .unwrap()
                .logout_url(None)
                .unwrap()
                .is_none()
        );
    }
}
