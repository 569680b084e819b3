//! Settings of the client.

use std::fmt;
use std::sync::Arc;

use super::Client;
use super::run::Runner;
use crate::auth::TokenSource;
use crate::error::{Error, Result};
use crate::transport::{Budget, Clock, Http, HttpOptions, RetryPolicy, parse_endpoint};

/// Settings of a [`Client`]; endpoint and token source are required, the rest has a default.
#[must_use]
pub struct ClientBuilder {
    endpoint: String,
    tokens: Option<Arc<dyn TokenSource>>,
    http: HttpOptions,
    retry: RetryPolicy,
    clock: Clock,
}

impl ClientBuilder {
    pub(super) fn new(endpoint: String) -> Self {
        Self {
            endpoint,
            tokens: None,
            http: HttpOptions::default(),
            retry: RetryPolicy::default(),
            clock: Clock::system(),
        }
    }

    /// Where access tokens come from: a [`TokenManager`](crate::auth::TokenManager), a
    /// [`StaticToken`](crate::auth::StaticToken) or a source of the caller's.
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.tokens = Some(Arc::new(source));
        self
    }

    /// How HTTP requests are made.
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.http = options;
        self
    }

    /// How often and for how long a call is tried.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The clock for waits and deadlines.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Makes the client; nothing is sent.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the endpoint is not an https (or loopback) address, no token source was
    /// given, or TLS or the proxy cannot be set up.
    pub fn build(self) -> Result<Client> {
        let endpoint = parse_endpoint("the endpoint", &self.endpoint)?;
        let tokens = self.tokens.ok_or_else(|| {
            Error::config("no token source was given: every request needs a token")
        })?;
        let http = Http::new(&self.http, &[&endpoint])?;
        Ok(Client(Arc::new(Runner {
            endpoint,
            tokens,
            http,
            retry: self.retry,
            budget: Budget::default(),
            clock: self.clock,
        })))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder").finish_non_exhaustive()
    }
}
