//! The requests that the fake received, and the operations that they call.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document, Selection};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wiremock::Request;

use crate::error::Error;
use crate::transport::header::HeaderName;

/// Benchmarks send millions of requests.
const CAPACITY: usize = 1_000;

/// The newest requests, oldest first, and the number of all.
#[derive(Default)]
pub(in crate::fake) struct Log {
    newest: VecDeque<Received>,
    /// By the name of the operation.
    counts: BTreeMap<String, usize>,
}

impl Log {
    pub(in crate::fake) fn push(&mut self, request: &Request) {
        if self.newest.len() >= CAPACITY {
            self.newest.pop_front();
        }
        let received = Received::of(request);
        if let Some(name) = received.name() {
            match self.counts.get_mut(&*name) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(name.into_owned(), 1)),
            }
        }
        self.newest.push_back(received);
    }

    pub(super) fn count(&self, operation: &str) -> usize {
        let matching = self.counts.iter();
        matching
            .filter(|(name, _)| name.eq_ignore_ascii_case(operation))
            .map(|(_, count)| count)
            .sum()
    }

    pub(in crate::fake) fn all(&self) -> Vec<Received> {
        self.newest.iter().cloned().collect()
    }

    /// The received operations and paths with their numbers, for a message.
    pub(super) fn summary(&self) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for received in &self.newest {
            let name = received
                .operation()
                .unwrap_or_else(|| format!("{} {}", received.0.method, received.path()));
            *counts.entry(name).or_default() += 1;
        }
        if counts.is_empty() {
            return "nothing".to_owned();
        }
        let counts = counts.iter().map(|(name, n)| format!("{name} {n}"));
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// A request that the fake received. `Debug` shows no header values, query or body: they may contain tokens.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::Fake;
///
/// let fake = Fake::start().await;
/// fake.client().build().unwrap().user_details().await.unwrap();
/// let requests = fake.requests();
/// assert_eq!(requests[0].operation().as_deref(), Some("UserDetails"));
/// assert!(requests[0].header("authorization").is_some());
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct Received(Arc<Request>);

impl Received {
    pub(in crate::fake) fn of(request: &Request) -> Self {
        Self(Arc::new(request.clone()))
    }

    /// The method, such as `GET`.
    pub fn method(&self) -> &str {
        self.0.method.as_str()
    }

    /// The path of the address.
    pub fn path(&self) -> &str {
        self.0.url.path()
    }

    /// The query of the address, as it was sent.
    pub fn query(&self) -> Option<&str> {
        self.0.url.query()
    }

    /// The value of a header, when it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers.get(name)?.to_str().ok()
    }

    /// The body, as it was sent.
    pub fn body(&self) -> &[u8] {
        &self.0.body
    }

    /// The name of the GraphQL operation; none for other requests and for documents without a name.
    pub fn operation(&self) -> Option<String> {
        operation_name(&self.graphql())
    }

    /// The variables of the GraphQL operation, as any type that reads them.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the variables do not fit the type; the message names the JSON path.
    pub fn variables<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_path_to_error::deserialize(self.graphql()["variables"].take()).map_err(|error| {
            let path = error.path();
            Error::config(format!(
                "the received variables do not fit the type at {path}"
            ))
        })
    }

    fn graphql(&self) -> Value {
        graphql_body(&self.0)
    }

    /// As [`operation`](Self::operation), without reading the document where the body names the operation.
    fn name(&self) -> Option<Cow<'_, str>> {
        if !is_graphql(self.path()) {
            return None;
        }
        let named: Result<NamedBody<'_>, _> = serde_json::from_slice(&self.0.body);
        match named {
            Ok(NamedBody { name: Some(name) }) if !name.is_empty() => Some(name),
            _ => self.operation().map(Cow::Owned),
        }
    }
}

/// The part of a body that names its operation.
#[derive(Deserialize)]
struct NamedBody<'b> {
    #[serde(borrow, default, rename = "operationName")]
    name: Option<Cow<'b, str>>,
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.0.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Received")
            .field("method", &self.0.method)
            .field("path", &self.path())
            .field("operation", &self.operation())
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

/// Whether a path is one of the declaration interface.
pub(in crate::fake) fn is_graphql(path: &str) -> bool {
    matches!(path, "/v2/graphql" | "/graphql")
}

/// The body of a GraphQL request; null for other requests.
fn graphql_body(request: &Request) -> Value {
    let is_graphql = is_graphql(request.url.path());
    let body = is_graphql.then(|| serde_json::from_slice(&request.body).ok());
    body.flatten().unwrap_or_default()
}

/// What a request calls: a path and, at the declaration interface, an operation, which need not fit the schema.
pub(in crate::fake) struct ParsedRequest {
    pub(super) path: String,
    pub(super) operation: Option<String>,
    body: Value,
    fields: Vec<String>,
}

impl ParsedRequest {
    pub(in crate::fake) fn of(request: &Request) -> Self {
        let body = graphql_body(request);
        let (operation, fields) = operation_and_fields(&body);
        Self {
            path: request.url.path().to_owned(),
            operation,
            body,
            fields,
        }
    }

    pub(super) fn variables(&self) -> Value {
        self.body["variables"].clone()
    }

    /// The first field of the root.
    pub(super) fn first_field(&self) -> &str {
        self.fields.first().map_or("", String::as_str)
    }

    /// Whether the operation, or a field of its root, has this name.
    pub(super) fn calls(&self, name: &str) -> bool {
        let mut names = self.operation.iter().chain(&self.fields);
        names.any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The name of the operation of a body.
pub(in crate::fake) fn operation_name(body: &Value) -> Option<String> {
    operation_and_fields(body).0
}

/// The name of the operation of a body, and the fields of its root.
fn operation_and_fields(body: &Value) -> (Option<String>, Vec<String>) {
    let text = body["query"].as_str().unwrap_or_default();
    let document = match Document::parse(text, "request.graphql") {
        Ok(document) => document,
        Err(broken) => broken.partial,
    };
    let wanted = body["operationName"]
        .as_str()
        .filter(|name| !name.is_empty());
    let mut operations = document.definitions.iter().filter_map(|definition| {
        let Definition::OperationDefinition(operation) = definition else {
            return None;
        };
        let name = operation.name.as_ref().map(Name::as_str);
        (wanted.is_none() || name == wanted).then_some((name, operation))
    });
    let Some((name, operation)) = operations.next() else {
        return (wanted.map(str::to_owned), Vec::new());
    };
    let fields = operation
        .selection_set
        .iter()
        .filter_map(|selection| match selection {
            Selection::Field(field) => Some(field.name.as_str().to_owned()),
            _ => None,
        });
    (name.map(str::to_owned), fields.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_operation_is_named_by_the_body_or_by_the_document() {
        let two = "query A { a } mutation B { b: save c }";
        let (name, fields) = operation_and_fields(&json!({"query": two, "operationName": "B"}));
        assert_eq!(
            (name.as_deref(), fields),
            (Some("B"), vec!["save".into(), "c".into()])
        );
        assert_eq!(
            operation_and_fields(&json!({"query": "query A { a }"}))
                .0
                .as_deref(),
            Some("A")
        );
        assert_eq!(operation_and_fields(&json!({"query": "{ a }"})).0, None);
        assert_eq!(
            operation_and_fields(&json!({"operationName": "Gone"}))
                .0
                .as_deref(),
            Some("Gone")
        );
    }

    #[test]
    fn all_requests_are_counted_and_the_newest_are_kept() {
        let request = |body: Value| Request {
            url: "http://127.0.0.1/v2/graphql".parse().unwrap(),
            method: "POST".parse().unwrap(),
            headers: wiremock::http::HeaderMap::new(),
            body: body.to_string().into_bytes(),
        };
        let mut log = Log::default();
        let named = request(json!({"query": "query B { b }", "operationName": "Ab"}));
        for _ in 0..=CAPACITY {
            log.push(&named);
        }
        for query in ["query AB { a }", "query C { c }", "{ d }"] {
            log.push(&request(json!({"query": query})));
        }
        assert_eq!(log.all().len(), CAPACITY);
        assert_eq!(log.count("aB"), CAPACITY + 2);
        assert_eq!((log.count("C"), log.count("B")), (1, 0));
    }
}
