//! Plain requests to a fake.

use std::time::SystemTime;

use envd_sdk::Clock;
use envd_sdk::fake::Fake;
use envd_sdk::model::Timestamp;
use serde_json::{Value, json};

use crate::wire;

const JSON: (&str, &str) = ("content-type", "application/json");

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
}

/// Executes a document as the user who logs in.
pub(super) async fn call(fake: &Fake, query: &str, variables: Value) -> Response {
    let body = json!({"query": query, "variables": variables}).to_string();
    let bearer = format!("Bearer {}", fake.access_token().expose());
    let headers = [JSON, ("authorization", bearer.as_str())];
    let raw = wire::send(&fake.graphql_url(), "POST", &headers, &body)
        .await
        .unwrap();
    Response {
        status: raw.status,
        body: raw.json(),
    }
}

/// Executes a document and returns its data. There must be no error.
pub(super) async fn data(fake: &Fake, query: &str, variables: Value) -> Value {
    let response = call(fake, query, variables).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert_eq!(response.body["errors"], Value::Null, "{}", response.body);
    response.body["data"].clone()
}
