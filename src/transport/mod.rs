//! Sends one HTTP request. The only room that knows reqwest.
//!
//! A reply of any status is a reply; an error means that no complete reply came. Redirects are never followed, and
//! addresses are `https`, except on loopback (RFC 8252 section 8.3).

mod attempts;
mod chunks;
mod clock;
mod endpoint;
mod http;
mod options;
mod race;
mod retry;
mod safety;
mod wait;

pub use self::clock::Clock;
pub use self::options::HttpOptions;
pub use self::retry::RetryPolicy;

pub(crate) use self::attempts::with_retries;
pub(crate) use self::endpoint::{is_loopback, parse_endpoint};
pub(crate) use self::http::{Body, Http, Reply, Request, Watch};
pub(crate) use self::race::{First, first};
pub(crate) use self::retry::Budget;
pub(crate) use self::safety::Safety;
pub(crate) use self::wait::{retry_after, server_time};
pub(crate) use reqwest::header;
