//! Sends one HTTP request. Only this room uses reqwest.
//!
//! A reply of any status is a reply; an error means that no complete reply came. Redirects are never followed, and
//! addresses are `https`, except on loopback (RFC 8252 section 8.3).

mod chunks;
mod clock;
mod failure;
mod gzip;
mod http;
#[cfg(test)]
mod in_process;
mod message;
mod options;
mod retry;
pub(crate) mod tls;

pub use self::clock::Clock;
pub(crate) use self::clock::Moment;
pub use self::options::HttpOptions;
pub use self::retry::RetryPolicy;

pub(crate) use self::http::Http;
#[cfg(test)]
pub(crate) use self::in_process::InProcess;
pub(crate) use self::message::{Reply, Request, Watch, max_age, retry_after, server_time};
pub(crate) use self::options::{is_loopback, is_private, parse_endpoint};
pub(crate) use self::retry::{RetryBudget, Safety};
pub(crate) use reqwest::header;
