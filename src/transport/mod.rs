//! Sends one HTTP request. Only this room uses reqwest.
//!
//! [`Http`] is a pool of connections, made from [`HttpOptions`]. A [`Request`] goes out, and a [`Reply`] of any status comes
//! back; an error means that no complete reply came, and whether the request may have arrived. A test of an application may put an
//! [`InProcessHandler`] in the place of the network. [`RetryPolicy`],
//! [`RetryBudget`] and [`Safety`] decide whether it is sent again. A [`Clock`] has the time for all waits, and a test moves it.
//!
//! [`Http::slot`] waits for a free connection, [`Http::send`] passes the request to reqwest, `chunks` gathers the body (decompressed
//! by `gzip`, or wiped where it holds tokens), and `failure` names what went wrong, with the time by `server_clock`. Redirects are never followed, and
//! addresses are `https`, except on loopback (RFC 8252 section 8.3).

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
pub(crate) use self::clock::ClockReading;
pub use self::options::HttpOptions;
pub use self::retry::RetryPolicy;

pub(crate) use self::http::{Http, InProcessHandler};
pub(crate) use self::message::{Reply, Request, Watch, max_age, retry_after, server_time};
pub(crate) use self::options::{is_loopback, is_private, parse_endpoint};
pub(crate) use self::retry::{RetryBudget, Safety};
pub(crate) use reqwest::header;
