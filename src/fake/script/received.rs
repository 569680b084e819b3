//! What the fake received.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use wiremock::Request;

use super::called::named;
use crate::error::Error;
use crate::transport::header::HeaderName;

/// Benchmarks send millions; a test looks at a few.
const KEPT: usize = 1_000;

/// The newest requests, oldest first.
#[derive(Default)]
pub(in crate::fake) struct Log(VecDeque<Received>);

impl Log {
    pub(in crate::fake) fn push(&mut self, request: &Request) {
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Received(Arc::new(request.clone())));
    }

    pub(in crate::fake) fn all(&self) -> Vec<Received> {
        self.0.iter().cloned().collect()
    }

    /// Names and counts, for a message.
    pub(super) fn summary(&self) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for received in &self.0 {
            let name = received
                .operation()
                .unwrap_or_else(|| format!("{} {}", received.method(), received.path()));
            *counts.entry(name).or_default() += 1;
        }
        if counts.is_empty() {
            return "nothing".to_owned();
        }
        let counts: Vec<String> = counts
            .iter()
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        counts.join(", ")
    }
}

/// A request that the fake received. `Debug` shows neither header values nor query nor body: there may be tokens in them.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use envd_sdk::fake::Fake;
///
/// let fake = Fake::start().await;
/// fake.client().build().unwrap().user_details().await.unwrap();
/// let requests = fake.requests();
/// assert_eq!(requests[0].operation().as_deref(), Some("UserDetails"));
/// assert!(requests[0].header("authorization").is_some());
/// # });
/// ```
#[derive(Clone)]
pub struct Received(Arc<Request>);

impl Received {
    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.0.method.as_str()
    }

    /// The path of the address.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.url.path()
    }

    /// The query of the address, as it was sent.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.0.url.query()
    }

    /// The value of a header, when it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers.get(name)?.to_str().ok()
    }

    /// The body, as it was sent.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.0.body
    }

    /// The name of the GraphQL operation; none for other requests and for documents without a name.
    #[must_use]
    pub fn operation(&self) -> Option<String> {
        named(&self.graphql()).0
    }

    /// The GraphQL document.
    #[must_use]
    pub fn document(&self) -> Option<String> {
        self.graphql()["query"].as_str().map(str::to_owned)
    }

    /// The variables of the GraphQL operation, as any type that reads them.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the variables do not fit the type; the message names the place.
    pub fn variables<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_path_to_error::deserialize(self.graphql()["variables"].take()).map_err(|error| {
            let place = error.path();
            Error::config(format!(
                "the variables that were received do not fit at {place}"
            ))
        })
    }

    fn graphql(&self) -> Value {
        if is_graphql(self.path()) {
            serde_json::from_slice(&self.0.body).unwrap_or_default()
        } else {
            Value::Null
        }
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.0.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Received")
            .field("method", &self.method())
            .field("path", &self.path())
            .field("operation", &self.operation())
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

/// The addresses of the declaration interface.
pub(in crate::fake) fn is_graphql(path: &str) -> bool {
    matches!(path, "/v2/graphql" | "/graphql")
}
