//! Sends plain requests to a fake.

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

/// Settings of a fake whose calendar begins on that day, whatever the date of the machine. Its clock runs.
pub(super) fn fake_builder() -> FakeBuilder {
    Fake::builder().clock(Clock::starting_at(at("2026-11-20T12:00:00Z")))
}

pub(super) async fn start_fake() -> Fake {
    fake_builder().start().await.unwrap()
}

pub(super) fn at(text: &str) -> SystemTime {
    instant::parse(text).unwrap().into()
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

pub(super) async fn get(url: Url) -> Answer {
    send(Request::get(url)).await
}

pub(super) async fn form(url: Url, fields: &[(&str, &str)]) -> Answer {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    let body = text.extend_pairs(fields).finish();
    send(Request::post_form(url, body.into())).await
}

pub(super) async fn post(url: Url, token: &Secret, body: impl Into<Bytes>) -> Answer {
    let bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose())).unwrap();
    let request = Request::post_json(url, body.into());
    send(request.header(AUTHORIZATION, bearer)).await
}

pub(super) async fn send(request: Request) -> Answer {
    let http = Http::new(&HttpOptions::default(), &[&request.url]).unwrap();
    let reply = http.send(request).await.unwrap();
    Answer {
        status: reply.status,
        headers: reply.headers,
        body: serde_json::from_slice(&reply.body).unwrap_or_default(),
    }
}

/// A document for the user who logs in.
pub(super) async fn call(fake: &Fake, query: &str, variables: Value) -> Answer {
    let body = json!({"query": query, "variables": variables}).to_string();
    post(fake.graphql_url(), &fake.access_token(), body).await
}

/// A document that must go well; its data.
pub(super) async fn data(fake: &Fake, query: &str, variables: Value) -> Value {
    let answer = call(fake, query, variables).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["errors"], Value::Null, "{}", answer.body);
    answer.body["data"].clone()
}

/// A file below tests/fixtures.
pub(super) fn fixture(path: &str) -> Value {
    let path = format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}
