//! Settings of the client.

use std::sync::Arc;

use super::{Client, Endpoint};
use crate::auth::TokenSource;
use crate::error::{Error, Result};
use crate::graphql::Overrides;
use crate::profile::{OperationProfile, ServiceProfile, Sourced};
use crate::secret::Secret;
use crate::send::{SenderOptions, TokenUser};
use crate::transport::{Clock, HttpOptions, RetryPolicy, parse_endpoint};

/// Settings of a [`Client`]; endpoint and token source are required, the rest has a default.
///
/// ```
/// use std::time::Duration;
///
/// use envd_sdk::auth::StaticToken;
/// use envd_sdk::{Client, HttpOptions};
///
/// let client = Client::builder("https://api.example.com/graphql")
///     .token_source(StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln")?)
///     .http(HttpOptions::default().timeout(Duration::from_secs(30)))
///     .build()?;
/// # let _ = client;
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[must_use]
pub struct ClientBuilder {
    // profile: addresses.graphql
    endpoint: String,
    options: SenderOptions,
    profile: ServiceProfile,
    overrides: Vec<(String, String)>,
}

impl ClientBuilder {
    pub(super) fn new(endpoint: String) -> Self {
        Self {
            endpoint,
            options: SenderOptions::default(),
            profile: ServiceProfile::default(),
            overrides: Vec::new(),
        }
    }

    /// The source of access tokens: a [`TokenManager`](crate::auth::TokenManager), a
    /// [`StaticToken`](crate::auth::StaticToken) or your own implementation.
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.options.user = Some(TokenUser::new(source));
        self
    }

    /// A header for every request, such as the key of an API gateway. Headers that the client sets itself cannot be
    /// replaced. The value appears neither in `Debug` nor in traces.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// let client = fake.client().header("x-gateway-key", "s3cr3t").build()?;
    /// let headers = client.questions().dry_run()?.headers;
    /// assert!(headers.contains(&("x-gateway-key".to_owned(), "s3cr3t".to_owned())));
    /// # Ok(()) });
    /// ```
    pub fn header(mut self, name: &str, value: impl Into<Secret>) -> Self {
        self.options.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The options of the HTTP client.
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.options.http = options;
        self
    }

    /// How often, and for how long, a failed call is retried.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.options.retry = policy;
        self
    }

    /// The clock for waits and deadlines.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.options.clock = clock;
        self
    }

    /// The profile of the service: its operations, how an update names its record, roles, lists. Without a profile, the
    /// client uses the assumptions of this crate.
    ///
    /// [`Client::profile`] returns it, together with what the client has learned from the service.
    pub fn profile(mut self, profile: &ServiceProfile) -> Self {
        self.profile = profile.clone();
        self
    }

    /// Sends this document for an operation, named as in spec 4.1, instead of this crate's document. It is a shortcut for an
    /// entry in a [`ServiceProfile`], which can also set the location of the record in the reply.
    ///
    /// Use it if the live schema differs from the assumptions of this crate; if only the names of fields differ, the
    /// [`fields`](ServiceProfile::fields) of a profile are enough. Aliases keep this crate's types: if a name
    /// differs, select `ourName: theirName`. The document must have one operation of the same kind, with the same variables
    /// or fewer. A call fails if it sets a variable that the document does not take. For servers that take the fields of
    /// `input` as plain arguments, each field counts as a variable. The result of a change is found with and without the
    /// `data` wrapper of spec 2.5, provided that the document selects the id of the record. A delete may return `true`
    /// instead.
    ///
    /// ```
    /// # test_support::example(async {
    /// let fake = envd_sdk::fake::Fake::start().await;
    /// let client = fake
    ///     .client()
    ///     .override_operation("userDetails", "{ userDetails: userDetailsQuery { data { firstName } } }")
    ///     .build()?;
    /// assert_eq!(client.user_details().await?.value.first_name.as_deref(), Some("Sam"));
    /// # Ok(()) });
    /// ```
    pub fn override_operation(
        mut self,
        name: impl Into<String>,
        document: impl Into<String>,
    ) -> Self {
        self.overrides.push((name.into(), document.into()));
        self
    }

    /// Builds the client; nothing is sent.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the endpoint is not an https (or loopback) address or has a user name, no token
    /// source is set, a header is invalid or reserved for the client, the proxy is not an http or https address, a certificate
    /// cannot be read, TLS cannot be set up, or an override or the profile does not fit its operation.
    pub fn build(mut self) -> Result<Client> {
        let url = parse_endpoint("the endpoint", &self.endpoint)?;
        if self.options.user.is_none() {
            let what = "no token source was given: every request needs a token";
            return Err(Error::config(what));
        }
        for (name, document) in self.overrides {
            // profile: operations.document
            let operation = OperationProfile::of_document(document);
            let operations = &mut self.profile.operations;
            operations.insert(name, Sourced::seen(operation));
        }
        self.profile.check().map_err(Error::config)?;
        Ok(Client {
            sender: self.options.build(&url)?,
            endpoint: Arc::new(Endpoint {
                url,
                overrides: Overrides::new(&self.profile)?,
                profile: self.profile,
            }),
            settings: Arc::default(),
        })
    }
}

debug_shows!(ClientBuilder);
