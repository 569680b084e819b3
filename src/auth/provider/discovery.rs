//! Finds the addresses of a provider by its issuer.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use url::Url;

use super::ProviderBuilder;
use super::metadata::{self, Metadata};
use crate::error::{Error, ErrorKind, Result};
use crate::transport::header::{ACCEPT, HeaderValue};
use crate::transport::{Http, Reply, Request};

/// How long stale metadata is used before another attempt after a failed one, so that callers do not each wait for a time-out
/// during an outage.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// The metadata of one issuer, shared by clones of a builder.
///
/// The lock is held during a fetch, so that concurrent callers cause one request.
pub(super) type MetadataCache = Arc<Mutex<Option<Cached>>>;

pub(super) struct Cached {
    metadata: Arc<Metadata>,
    /// Measured on the monotonic clock.
    fresh_until: Duration,
}

impl ProviderBuilder {
    /// Fills in missing addresses from the metadata that the provider publishes for the [`issuer`](Self::issuer), using the
    /// [`http`](Self::http) settings. Set both first. Not needed if you set the addresses yourself.
    ///
    /// The metadata is read from `/.well-known/openid-configuration` below the issuer (OIDC Discovery 1.0 section 4) or, if
    /// that returns 4xx, from `/.well-known/oauth-authorization-server` before the issuer's path (RFC 8414 section 3).
    /// Redirects are not followed. It provides [`authorize_url`](Self::authorize_url), [`token_url`](Self::token_url),
    /// [`revoke_url`](Self::revoke_url), [`device_authorization_url`](Self::device_authorization_url) and
    /// [`require_iss`](Self::require_iss). With a [`client_certificate`](crate::HttpOptions::client_certificate), addresses
    /// from `mtls_endpoint_aliases` take precedence (RFC 8705 section 5). It does not provide the
    /// [`logout_url`](Self::logout_url): a published `end_session_endpoint` takes different parameters from the service's
    /// logout (spec 5.8).
    ///
    /// **If users may enter the issuer**, the application must check it against a list of allowed hosts: a request goes to any
    /// host that the issuer names, and the login to the addresses that it publishes. Private and link-local IP addresses are
    /// rejected ([`allow_private_addresses`](Self::allow_private_addresses)), but a name may resolve to any address.
    ///
    /// The builder and its clones cache the metadata for the reply's `Cache-Control: max-age`, up to one day, or for one hour
    /// without it (assumed); `no-store` and `no-cache` count as zero. An application that builds providers repeatedly keeps one
    /// builder and calls this on a clone each time. If the provider is unreachable, or its reply cannot be decoded, the old
    /// metadata stays in use, and the next attempt is a minute later. A built [`Provider`](super::Provider) never changes.
    ///
    /// ```
    /// use envd_sdk::auth::Provider;
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::HttpOptions;
    ///
    /// # test_support::example(async {
    /// # let fake = Fake::start().await;
    /// # let issuer = fake.issuer();
    /// # let client_id = fake.client_id();
    /// # let audience = fake.audience();
    /// let settings = Provider::builder(client_id)
    ///     .issuer(issuer)
    ///     .http(HttpOptions::default().user_agent("saleyard-desk/2.1"))
    ///     .audience(audience)
    ///     .redirect_uri("http://127.0.0.1:8400/callback");
    /// let provider = settings.clone().discover().await?.build()?;
    /// // From memory.
    /// let again = settings.clone().discover().await?.build()?;
    /// # assert_eq!(fake.requests().len(), 1);
    /// # drop((provider, again));
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the request is cancelled. Metadata in memory stays in use.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the issuer is missing or not an https address, or if the metadata is refused: it
    /// names another issuer (RFC 8414 section 3.3), has an address that is not https or is private, or lists PKCE methods
    /// without S256; [`NotFound`](crate::ErrorKind::NotFound) if the issuer has no metadata;
    /// [`Protocol`](crate::ErrorKind::Protocol) if it cannot be decoded; [`is_retryable`](Error::is_retryable) if the provider
    /// is unreachable or has a temporary problem; [`NoAnswer`](crate::ErrorKind::NoAnswer) if it redirects.
    pub async fn discover(mut self) -> Result<Self> {
        let named = |error: Error| error.with_operation("discover");
        let issuer = self.issuer.clone().unwrap_or_default();
        if issuer.is_empty() {
            return Err(named(Error::config("issuer is not set")));
        }
        let addresses = metadata::addresses(&issuer, self.private_addresses).map_err(named)?;
        let cache = Arc::clone(&self.metadata_cache);
        let mut cached = cache.lock().await;
        let now = self.clock.monotonic();
        if let Some(held) = cached.as_ref().filter(|held| now < held.fresh_until) {
            self.found = Some(Arc::clone(&held.metadata));
            return Ok(self);
        }
        let fetched = self.fetch(addresses).await.and_then(|reply| {
            let metadata = Metadata::read(&reply.body, &issuer, self.private_addresses)?;
            Ok((Arc::new(metadata), metadata::lifetime(&reply.headers)))
        });
        let (metadata, lifetime) = match (fetched, cached.take()) {
            (Ok(fetched), _) => fetched,
            // Refused metadata is not an outage: the old metadata may be just as wrong.
            (Err(error), Some(held)) if error.kind() != ErrorKind::Config => {
                tracing::warn!("the provider's metadata could not be renewed: {error}");
                (held.metadata, RETRY_INTERVAL)
            }
            (Err(error), _) => return Err(named(error)),
        };
        self.found = Some(Arc::clone(&metadata));
        *cached = Some(Cached {
            metadata,
            fresh_until: self.clock.monotonic().saturating_add(lifetime),
        });
        Ok(self)
    }

    async fn fetch(&self, [openid, oauth]: [Url; 2]) -> Result<Reply> {
        let http = Http::new(&self.http_options(), &[&openid])?;
        let request = |url| {
            let json = HeaderValue::from_static("application/json");
            Request::get(url).header(ACCEPT, json)
        };
        let mut reply = http.send(request(openid)).await?;
        // Some servers return 403 for a missing page.
        if matches!(reply.status, 400..=499) && !matches!(reply.status, 408 | 429) {
            reply = http.send(request(oauth)).await?;
        }
        if matches!(reply.status, 200..=299) {
            return Ok(reply);
        }
        // assumed: an identity provider may also use a web page to report that it has no metadata.
        let error = Error::http(reply.received().of_service());
        Err(reply.with_wait(error, self.clock.now()))
    }

    /// Fills in the settings that are not set.
    pub(super) fn with_found(mut self) -> Self {
        let Some(found) = self.found.take() else {
            return self;
        };
        let fill = |setting: &mut Option<String>, found: &Option<String>| {
            if setting.is_none() {
                setting.clone_from(found);
            }
        };
        let aliases = found.mtls_endpoint_aliases.as_ref();
        if let Some(aliases) = aliases.filter(|_| self.http.has_client_certificate()) {
            fill(&mut self.token_url, &aliases.token_endpoint);
            fill(&mut self.revoke_url, &aliases.revocation_endpoint);
            let device = &aliases.device_authorization_endpoint;
            fill(&mut self.device_authorization_url, device);
        }
        fill(&mut self.authorize_url, &found.authorization_endpoint);
        fill(&mut self.token_url, &found.token_endpoint);
        fill(&mut self.revoke_url, &found.revocation_endpoint);
        let device = &found.device_authorization_endpoint;
        fill(&mut self.device_authorization_url, device);
        self.require_iss.get_or_insert(found.announces_iss());
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::auth::Provider;
    use crate::transport::HttpOptions;

    #[test]
    fn rfc_8705_5_a_client_with_a_certificate_uses_the_aliases() {
        let document = json!({
            "issuer": "https://id.example/",
            "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://id.example/token",
            "revocation_endpoint": "https://id.example/revoke",
            "device_authorization_endpoint": "https://id.example/device",
            "mtls_endpoint_aliases": {
                "token_endpoint": "https://mtls.id.example/token",
                "device_authorization_endpoint": "https://mtls.id.example/device",
            },
        });
        let document = document.to_string();
        let metadata = Metadata::read(document.as_bytes(), "https://id.example/", false);
        let mut builder = Provider::builder("app");
        builder.found = Some(Arc::new(metadata.unwrap()));
        let addresses = |builder: ProviderBuilder| {
            let filled = builder.with_found();
            let revoke = filled.revoke_url;
            let device = filled.device_authorization_url;
            [filled.authorize_url, filled.token_url, revoke, device].map(Option::unwrap)
        };
        let certificate = HttpOptions::default().client_certificate("PEM");
        let with = builder.clone().http(certificate);
        let expected = [
            "https://id.example/authorize",
            "https://mtls.id.example/token",
            // Has no alias.
            "https://id.example/revoke",
            "https://mtls.id.example/device",
        ];
        assert_eq!(addresses(with.clone()), expected);
        let [_, token, _, device] = addresses(builder);
        assert_eq!(token, "https://id.example/token");
        assert_eq!(device, "https://id.example/device");
        let set = with.token_url("https://set.example/token");
        assert_eq!(addresses(set)[1], "https://set.example/token");
    }
}
