//! The temporary folder for all tests, [`TestFolder`], and a TCP server for them: it sends replies that a fake or wiremock
//! cannot send, and counts connections.
//!
//! | a test needs | |
//! |---|---|
//! | the same reply for every request | `Server::script([Reply::json(200, body)])` |
//! | a sequence of replies (the last is repeated) | `Server::script([Reply::close(), Reply::json(200, body)])` |
//! | a reply that depends on the request, or that the test triggers | `Server::start(move \|request\| async move { .. })` |
//! | bytes that are not HTTP | `Reply::raw(bytes)` |
//! | a connection that ends without a reply, or in the middle of a reply | `Reply::close()`, `Reply::json(200, body).cut(n)` |
//! | a reply that never comes | `Server::start(\|_\| std::future::pending())` |
//! | an HTTP proxy that stops at a request | `Server::start` with [`forward`] |
//! | connections below HTTP: a TCP proxy, a server that never reads | `Server::connections(\|connection\| async { .. })` |
//! | connections that the test serves itself, in any order | [`Listener`] |
//! | an address that refuses connections | [`refusing_address`] |
//!
//! A server listens on a free port of 127.0.0.1 and keeps connections alive. It runs in tasks of the current runtime. If there
//! is no runtime, it runs on its own thread, so that its allocations do not count as the test's. It ends with that runtime or
//! with the process. It records the received requests ([`Server::requests`]) and the maximum of concurrent connections
//! ([`Server::most_connections`]) and requests ([`Server::most_requests`]: complete requests without a reply yet).

mod folder;
pub mod plain_service;
pub mod schedules;
pub mod script;
pub mod seeded;
// WebAssembly has no sockets.
#[cfg(not(target_family = "wasm"))]
mod server;

use std::fmt::Debug;
use std::pin::Pin;

use tokio::runtime::Builder;

pub use crate::folder::TestFolder;
#[cfg(not(target_family = "wasm"))]
pub use crate::server::{Connection, Listener, Reply, Request, Server, forward, refusing_address};

/// Texts that are not valid timestamps, separated by bars: a day, other orders and zones, words, and a date that does not exist.
pub const UNREADABLE_INSTANTS: &str = "2020-01-01|01/01/2020|2020-01-01T00:00:00+1000|2020-01-01T00:00|2020-02-30T00:00:00Z|\
     +12020-01-01T00:00:00Z| 2020-01-01T00:00:00Z|1577836800|never|";

/// A text that tests plant where `Debug` must not show it.
pub const PLANTED: &str = "s3cr3t-of-sam";

/// Asserts that `Debug` of a value that holds [`PLANTED`] does not show it.
///
/// `tests/architecture` finds the tested types by name, so write the type: `hides::<Client>(&client)`.
#[track_caller]
pub fn hides<T: Debug>(value: &T) {
    hides_text(value, PLANTED);
}

/// Does the same for a text that a test cannot choose, such as a token of the fake.
#[track_caller]
pub fn hides_text<T: Debug>(value: &T, text: &str) {
    assert!(!text.is_empty());
    for shown in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!shown.contains(text), "{text} in {shown}");
    }
}

/// Runs an example of the documentation. Boxes its future, so that the runtime is compiled once for all examples: a separate
/// `main` for each doubled the build time.
///
/// # Panics
/// If the example returns an error.
pub fn example<'a>(example: impl Future<Output = Ended> + 'a) {
    run(Box::pin(example));
}

type Ended = Result<(), Box<dyn std::error::Error>>;

fn run(example: Pin<Box<dyn Future<Output = Ended> + '_>>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    if let Err(error) = runtime.expect("a runtime").block_on(example) {
        panic!("{error:?}");
    }
}
