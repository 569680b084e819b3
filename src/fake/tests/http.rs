//! Plain HTTP requests to a fake.

use std::time::SystemTime;

use crate::transport::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use bytes::Bytes;
use serde_json::{Value, json};
use url::Url;

use crate::fake::{Fake, FakeBuilder, instant};
use crate::secret::Secret;
use crate::transport::{Clock, Http, HttpOptions, Request};

/// The day on which the fixtures were written.
pub(super) fn fixture_day() -> Clock {
    Clock::manual(at("2026-11-20T03:00:00Z"))
}

/// Settings of a fake with a running clock that starts on that day, whatever the date of the machine.
pub(super) fn fake_builder() -> FakeBuilder {
    Fake::builder().clock(Clock::starting_at(at("2026-11-20T12:00:00Z")))
}

pub(super) async fn start_fake() -> Fake {
    fake_builder().start().await.unwrap()
}

pub(super) fn at(text: &str) -> SystemTime {
    instant::parse(text).unwrap().into()
}

pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

pub(super) async fn get(url: Url) -> Response {
    send(Request::get(url)).await
}

pub(super) async fn form(url: Url, fields: &[(&str, &str)]) -> Response {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    let body = text.extend_pairs(fields).finish();
    send(Request::post_form(url, body.into())).await
}

pub(super) async fn post(url: Url, token: &Secret, body: impl Into<Bytes>) -> Response {
    let bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose())).unwrap();
    let request = Request::post_json(url, body.into());
    send(request.header(AUTHORIZATION, bearer)).await
}

pub(super) async fn send(request: Request) -> Response {
    let http = Http::new(&HttpOptions::default(), &[&request.url]).unwrap();
    let reply = http.send(request).await.unwrap();
    Response {
        status: reply.status,
        headers: reply.headers,
        body: serde_json::from_slice(&reply.body).unwrap_or_default(),
    }
}

/// Executes a document as the user who logs in.
pub(super) async fn call(fake: &Fake, query: &str, variables: Value) -> Response {
    let body = json!({"query": query, "variables": variables}).to_string();
    post(fake.graphql_url(), &fake.access_token(), body).await
}

/// Executes a document and returns its data. There must be no error.
pub(super) async fn data(fake: &Fake, query: &str, variables: Value) -> Value {
    let response = call(fake, query, variables).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert_eq!(response.body["errors"], Value::Null, "{}", response.body);
    response.body["data"].clone()
}

/// A file below tests/fixtures.
pub(super) fn fixture(path: &str) -> Value {
    let path = format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}
