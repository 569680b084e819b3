//! The settings of an identity provider.
//!
//! A [`Provider`] has the validated settings, a [`ProviderBuilder`] the unvalidated ones. `Metadata` is the document that a
//! provider publishes for its issuer. Discovery fetches it and uses it for the settings that are not set.

mod builder;
mod discovery;
mod metadata;

use std::sync::Arc;
use std::time::Duration;

use oauth2::EndpointSet;
use oauth2::basic::BasicClient;
use url::Url;

pub use self::builder::ProviderBuilder;
use super::client_authentication::ClientAuthentication;
use super::id_token::IdTokenCheck;
use crate::error::{Error, Result};
use crate::transport::{Clock, Http};

/// An identity provider, and the client registered with it (spec 5). Cheap to clone.
///
/// No address is derived from another: each is a setting, or comes from the provider's published metadata
/// ([`discover`](Self::discover)).
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
pub struct Provider(pub(super) Arc<ProviderSettings>);

/// An oauth2 client with an authorization endpoint.
pub(super) type OAuth = BasicClient<EndpointSet>;

pub(super) struct ProviderSettings {
    /// The settings for browser logins.
    pub(super) browser: Option<OAuth>,
    pub(super) client_id: String,
    pub(super) authentication: ClientAuthentication,
    pub(super) token_url: Url,
    pub(super) revoke_url: Option<Url>,
    pub(super) logout_url: Option<Url>,
    pub(super) device_authorization_url: Option<Url>,
    pub(super) issuer: Option<String>,
    pub(super) require_iss: bool,
    pub(super) audience: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) http: Http,
    pub(super) clock: Clock,
    pub(super) timeout: Duration,
    pub(super) rotation_overlap: Duration,
    pub(super) default_lifetime: Duration,
    pub(super) id_token_check: Option<IdTokenCheck>,
}

impl ProviderSettings {
    pub(super) fn browser(&self) -> Result<&OAuth> {
        self.browser.as_ref().ok_or_else(|| {
            Error::config(
                "redirect_uri is not set: a login in a browser needs it, and authorize_url",
            )
        })
    }
}

impl Provider {
    /// Starts the settings. The service's support team issues the client id.
    pub fn builder(client_id: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(client_id.into())
    }

    /// Starts the settings with the metadata that the provider publishes for its issuer. Short for
    /// [`ProviderBuilder::discover`], which describes the details, and which you can call after other settings, such as a
    /// proxy.
    ///
    /// ```
    /// use envd_sdk::auth::Provider;
    /// # use envd_sdk::fake::Fake;
    ///
    /// # test_support::example(async {
    /// # let fake = Fake::start().await;
    /// # let issuer = fake.issuer();
    /// # let client_id = fake.client_id();
    /// # let audience = fake.audience();
    /// // For example "https://sso.example.com/", exactly as the provider writes it.
    /// let provider = Provider::discover(client_id, issuer)
    ///     .await?
    ///     .audience(audience)
    ///     .redirect_uri("http://127.0.0.1:8400/callback")
    ///     .build()?;
    /// # let login = provider.authorization().start()?;
    /// # let callback = fake.consent(login.url())?;
    /// # let manager = envd_sdk::auth::TokenManager::builder(provider).build()?;
    /// # manager.complete_login(login, callback.as_str()).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// As [`ProviderBuilder::discover`].
    ///
    /// # Errors
    ///
    /// As [`ProviderBuilder::discover`].
    pub async fn discover(
        client_id: impl Into<String>,
        issuer: impl Into<String>,
    ) -> Result<ProviderBuilder> {
        Self::builder(client_id).issuer(issuer).discover().await
    }

    /// The address that ends the session at the identity provider (spec 5.8), with the client id and `return_to`; `None` if not
    /// configured.
    // profile: addresses.returnTo
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

    pub(super) fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

// Shows only the host of the address, because the rest may be private.
debug_shows!(Provider, |it| client_id: it.0.client_id, host: it.0.token_url.host_str());

#[cfg(test)]
pub(crate) mod tests;
