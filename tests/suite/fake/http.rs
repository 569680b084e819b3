//! Plain requests to a fake.

use std::time::SystemTime;

use envd_sdk::Clock;
use envd_sdk::fake::Fake;
use envd_sdk::model::Timestamp;
use serde_json::{Value, json};

use crate::wire::{self, Raw};

const JSON: (&str, &str) = ("content-type", "application/json");

/// The day on which the fixtures were written.
pub(super) fn fixture_day() -> Clock {
    Clock::manual(at("2026-11-20T03:00:00Z"))
}

pub(super) fn at(text: &str) -> SystemTime {
    Timestamp::from(text).to_time().unwrap()
}

/// Executes a document as the user who logs in.
pub(super) async fn call(fake: &Fake, query: &str, variables: Value) -> Raw {
    let body = json!({"query": query, "variables": variables}).to_string();
    let bearer = format!("Bearer {}", fake.access_token().expose());
    let headers = [JSON, ("authorization", bearer.as_str())];
    let url = fake.graphql_url();
    let sent = wire::send(&url, "POST", &headers, &body);
    sent.await.unwrap()
}

/// Executes a document without errors and returns its data.
pub(super) async fn data(fake: &Fake, query: &str, variables: Value) -> Value {
    let reply = call(fake, query, variables).await;
    let mut body = reply.json();
    assert_eq!(reply.status, 200, "{body}");
    assert_eq!(body["errors"], Value::Null, "{body}");
    body["data"].take()
}
