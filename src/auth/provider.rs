//! The identity provider's settings, once checked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oauth2::EndpointSet;
use oauth2::basic::BasicClient;
use url::Url;

use super::{AuthorizationRequest, ProviderBuilder, endpoint};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::{Clock, Http};

/// An identity provider and the client that is registered with it (spec 5). Cheap to clone.
///
/// Nothing is guessed: each address is a setting of its own.
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
    /// Starts the settings; the client id is what the service's support team gave you.
    pub fn builder(client_id: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(client_id.into())
    }

    /// Starts a login: the address to open in the user's browser, and what to remember until it comes back.
    pub fn authorization(&self) -> AuthorizationRequest {
        AuthorizationRequest::new(self.clone())
    }

    /// The address that ends the session at the identity provider; open it in the user's browser (spec 5.8).
    ///
    /// `return_to` is where the user lands afterwards and must be on the list of the registered client. `None` when no
    /// logout address is set.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when `return_to` is not an address.
    pub fn logout_url(&self, return_to: Option<&str>) -> Result<Option<Url>> {
        if let Some(address) = return_to {
            Url::parse(address).map_err(|source| {
                Error::config("return_to is not an address").with_source(source)
            })?;
        }
        let Some(mut url) = self.0.logout_url.clone() else {
            return Ok(None);
        };
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("client_id", &self.0.client_id);
            if let Some(address) = return_to {
                query.append_pair("returnTo", address);
            }
        }
        Ok(Some(url))
    }

    /// Revokes a refresh token that no manager holds (RFC 7009); with it goes the session that it belongs to. A manager
    /// revokes its own at [`logout`](super::TokenManager::logout). Does nothing when no address for it is set.
    ///
    /// A token that the server does not know is no error (section 2.2).
    ///
    /// # Errors
    ///
    /// [`is_retryable`](Error::is_retryable) when the server could not be reached or has a passing problem.
    pub async fn revoke(&self, refresh_token: &Secret) -> Result<()> {
        endpoint::revoke(self, refresh_token).await
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of addresses the host only: the rest may be private.
        f.debug_struct("Provider")
            .field("client_id", &self.0.client_id)
            .field("host", &self.0.token_url.host_str())
            .finish_non_exhaustive()
    }
}
