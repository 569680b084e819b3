//! Sends one HTTP request. Only this module uses reqwest.
//!
//! [`Http`] is a pool of connections, configured by [`HttpOptions`]. It sends a [`Request`] and returns a [`Reply`] of any
//! status. An error means that there is no complete reply, and says whether the request may have arrived. Tests of applications
//! may replace the network by an [`InProcessHandler`]. [`RetryPolicy`], [`RetryBudget`] and [`Safety`] decide whether a request
//! is sent again. All waits use a [`Clock`], which tests can move.
//!
//! [`Http::slot`] waits for a free connection, [`Http::send`] passes the request to reqwest, and `gather` in `http` collects the
//! body, which `gzip` decompresses. Bodies with tokens are wiped. `failure` describes errors, using the time from `server_clock`.
//! Redirects are never followed, and addresses must be `https`, except on loopback (RFC 8252 section 8.3).

mod addresses;
mod clock;
mod failure;
mod gzip;
mod http;
mod message;
mod options;
mod retry;
mod server_clock;
pub(crate) mod tls;

pub use self::clock::Clock;
pub(crate) use self::clock::{ClockReading, later};
pub use self::options::HttpOptions;
pub use self::retry::RetryPolicy;

pub(crate) use self::addresses::{is_loopback, is_private};
pub(crate) use self::http::Http;
pub(crate) use self::message::{Reply, Request, Watch, max_age, retry_after, server_time};
pub(crate) use self::options::{InProcessHandler, parse_endpoint};
pub(crate) use self::retry::{RetryBudget, Safety};
pub(crate) use reqwest::header;
