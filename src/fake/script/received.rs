//! The requests that the fake received, and the operations they call.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document, Selection};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;
use wiremock::Request;

use crate::error::Error;
use crate::transport;
use crate::transport::header::HeaderName;

/// Benchmarks send millions of requests.
const CAPACITY: usize = 1_000;

/// The latest requests, oldest first, and the number of all requests.
#[derive(Default)]
pub(in crate::fake) struct Log {
    newest: VecDeque<Received>,
    /// Counts by operation name, or by method and path.
    counts: BTreeMap<String, usize>,
}

impl Log {
    pub(in crate::fake) fn push(&mut self, request: &Request) {
        if self.newest.len() >= CAPACITY {
            self.newest.pop_front();
        }
        let received = Received::of(request);
        let name = received.operation();
        let name = name.unwrap_or_else(|| format!("{} {}", received.method(), received.path()));
        *self.counts.entry(name).or_default() += 1;
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

    /// The received operations and paths with their counts, for a message.
    pub(super) fn summary(&self) -> String {
        if self.counts.is_empty() {
            return "nothing".to_owned();
        }
        let counts = self.counts.iter().map(|(name, n)| format!("{name} {n}"));
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// A request that a [`Fake`](crate::fake::Fake) or an [`InProcess`](crate::fake::InProcess) service received. `Debug` hides
/// header values, query and body, which may contain tokens.
///
/// ```
/// # test_support::example(async {
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

    /// A request as the client passes it to the transport.
    pub(in crate::fake) fn sent(request: transport::Request) -> Self {
        Self(Arc::new(Request {
            url: request.url,
            method: request.method,
            headers: request.headers,
            body: request.body.into(),
        }))
    }

    /// The method, such as `GET`.
    pub fn method(&self) -> &str {
        self.0.method.as_str()
    }

    /// The address.
    pub fn url(&self) -> &Url {
        &self.0.url
    }

    /// The path of the address.
    pub fn path(&self) -> &str {
        self.0.url.path()
    }

    /// The query of the address, as sent.
    pub fn query(&self) -> Option<&str> {
        self.0.url.query()
    }

    /// The value of a header, if it is present and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers.get(name)?.to_str().ok()
    }

    /// The body, as sent.
    pub fn body(&self) -> &[u8] {
        &self.0.body
    }

    /// The name of the GraphQL operation in the body; `None` for other requests and for documents without a name.
    pub fn operation(&self) -> Option<String> {
        GraphqlBody::read(&self.0.body).operation()
    }

    /// Deserializes the variables of the GraphQL operation.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the variables do not fit the type; the message names the JSON path.
    pub fn variables<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let body = GraphqlBody::read(&self.0.body);
        let mut variables = serde_json::Deserializer::from_str(body.variables());
        serde_path_to_error::deserialize(&mut variables).map_err(|error| {
            let path = error.path();
            Error::config(format!(
                "the received variables do not fit the type at {path}"
            ))
        })
    }
}

debug_shows!(Received, |it|
    method: it.method(),
    path: it.path(),
    operation: it.operation(),
    headers: it.0.headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
);

/// Whether a path belongs to the declaration interface.
pub(in crate::fake) fn is_graphql(path: &str) -> bool {
    matches!(path, "/v2/graphql" | "/graphql")
}

/// The body of a GraphQL request; empty for other bodies.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::fake) struct GraphqlBody {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<Box<RawValue>>,
}

impl GraphqlBody {
    pub(in crate::fake) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    fn variables(&self) -> &str {
        self.variables.as_ref().map_or("null", |json| json.get())
    }

    fn operation_name(&self) -> Option<&str> {
        let name = self.operation_name.as_deref();
        name.filter(|name| !name.is_empty())
    }

    /// The name of the operation. Parses the document only if the body does not name it.
    pub(in crate::fake) fn operation(&self) -> Option<String> {
        match self.operation_name() {
            Some(name) => Some(name.to_owned()),
            None => self.operation_and_fields().0,
        }
    }

    /// The name of the operation, and its root fields.
    fn operation_and_fields(&self) -> (Option<String>, Vec<String>) {
        let text = self.query.as_deref().unwrap_or_default();
        let document = match Document::parse(text, "request.graphql") {
            Ok(document) => document,
            Err(broken) => broken.partial,
        };
        let wanted = self.operation_name();
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
}

/// The target of a request: a path and, for the declaration interface, an operation, which need not match the schema.
pub(in crate::fake) struct ParsedRequest {
    pub(super) path: String,
    pub(super) operation: Option<String>,
    body: GraphqlBody,
    fields: Vec<String>,
}

impl ParsedRequest {
    pub(in crate::fake) fn of(request: &Request) -> Self {
        // Scripts of operations apply to requests to the declaration interface.
        let is_graphql = is_graphql(request.url.path());
        let body = if is_graphql {
            GraphqlBody::read(&request.body)
        } else {
            GraphqlBody::default()
        };
        let (operation, fields) = body.operation_and_fields();
        Self {
            path: request.url.path().to_owned(),
            operation,
            body,
            fields,
        }
    }

    pub(super) fn variables(&self) -> Value {
        serde_json::from_str(self.body.variables()).unwrap_or_default()
    }

    /// The first root field.
    pub(super) fn first_field(&self) -> &str {
        self.fields.first().map_or("", String::as_str)
    }

    /// Whether the operation, or one of its root fields, has this name.
    pub(super) fn calls(&self, name: &str) -> bool {
        let mut names = self.operation.iter().chain(&self.fields);
        names.any(|known| known.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_operation_is_named_by_the_body_or_by_the_document() {
        let read = |body: Value| {
            let body = GraphqlBody::read(body.to_string().as_bytes());
            let (operation, fields) = body.operation_and_fields();
            assert_eq!(body.operation(), operation);
            (operation, fields)
        };
        let two = "query A { a } mutation B { b: save c }";
        let (name, fields) = read(json!({"query": two, "operationName": "B"}));
        assert_eq!(
            (name.as_deref(), fields),
            (Some("B"), vec!["save".into(), "c".into()])
        );
        let name = |body| read(body).0;
        let named = name(json!({"query": "query A { a }"}));
        assert_eq!(named.as_deref(), Some("A"));
        assert_eq!(name(json!({"query": "{ a }"})), None);
        let named = name(json!({"operationName": "Gone"}));
        assert_eq!(named.as_deref(), Some("Gone"));
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
