//! Plain HTTP requests to a fake.

use std::time::SystemTime;

use envd_sdk::fake::Fake;
use envd_sdk::model::Timestamp;
use envd_sdk::{Clock, Secret};
use serde_json::{Value, json};
use url::Url;

use crate::wire;

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// The day on which the fixtures were written.
pub(super) fn fixture_day() -> Clock {
    Clock::manual(at("2026-11-20T03:00:00Z"))
}

pub(super) fn at(text: &str) -> SystemTime {
    Timestamp::from(text).to_time().unwrap()
}

pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: Value,
    raw: wire::Raw,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.raw.header(name)
    }
}

pub(super) async fn send(
    method: &str,
    url: &Url,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let raw = wire::send(url, method, headers, body).await.unwrap();
    Response {
        status: raw.status,
        body: serde_json::from_slice(&raw.body).unwrap_or_default(),
        raw,
    }
}

pub(super) async fn get(url: Url) -> Response {
    send("GET", &url, &[], "").await
}

/// Posts a form, perhaps with an `Authorization`.
pub(super) async fn form_with(url: Url, authorization: Option<&str>, body: &str) -> Response {
    let authorization = authorization.map(|value| ("authorization", value));
    let headers: Vec<_> = authorization.into_iter().chain([FORM]).collect();
    send("POST", &url, &headers, body).await
}

pub(super) async fn form(url: Url, fields: &[(&str, &str)]) -> Response {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    let body = text.extend_pairs(fields).finish();
    form_with(url, None, &body).await
}

pub(super) async fn post(url: Url, token: &Secret, body: impl AsRef<str>) -> Response {
    let bearer = format!("Bearer {}", token.expose());
    send(
        "POST",
        &url,
        &[JSON, ("authorization", &bearer)],
        body.as_ref(),
    )
    .await
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
