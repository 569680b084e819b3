//! Clients for a scripted server.

use std::time::{Duration, SystemTime};

use envd_sdk::auth::StaticToken;
use envd_sdk::register::{Register, RegisterBuilder};
use envd_sdk::{Client, ClientBuilder, Clock, RetryPolicy};
use serde_json::Value;
use test_support::{Reply, Request, Server};

use crate::watchdog::watch;

/// A client for an address.
#[track_caller]
pub(crate) fn client_at(address: impl Into<String>) -> ClientBuilder {
    watch();
    Client::builder(address)
}

/// A register client for an address.
#[track_caller]
pub(crate) fn register_at(address: impl Into<String>) -> RegisterBuilder {
    watch();
    Register::builder(address)
}

/// A client that retries without waiting unless the reply has `Retry-After`.
#[track_caller]
pub(crate) fn client(server: &Server) -> ClientBuilder {
    client_at(server.url())
        .token_source(StaticToken::new("b34r3r").unwrap())
        .clock(Clock::manual(SystemTime::UNIX_EPOCH))
        .retry(RetryPolicy::default().base_wait(Duration::ZERO))
}

/// A client for the property register, without a token, that retries in the same way.
#[track_caller]
pub(crate) fn register(server: &Server) -> RegisterBuilder {
    register_at(server.url()).retry(RetryPolicy::default().base_wait(Duration::ZERO))
}

pub(crate) fn ok(body: impl Into<Value>) -> Reply {
    Reply::json(200, body.into())
}

/// A reply with a media type, unless the media type is empty.
pub(crate) fn typed(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Reply {
    let reply = Reply::new(status).body(body);
    if media_type.is_empty() {
        return reply;
    }
    reply.header("content-type", media_type)
}

pub(crate) fn body(request: &Request) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

/// Lets other tasks run, so that they send their pending requests.
pub(crate) async fn take_turns() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// Lets other tasks run until the condition holds.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}
