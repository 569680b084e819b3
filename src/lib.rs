//! SDK for the Australian livestock consignment declaration API and property register API.

// Tests may unwrap; the library says `// OK because ...` on the line above where it must.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

#[cfg(feature = "client")]
pub mod auth;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod error;
#[cfg(feature = "fake")]
pub mod fake;
#[cfg(feature = "client")]
pub mod graphql;
pub mod model;
#[cfg(feature = "client")]
pub mod ops;
#[cfg(feature = "postgres")]
#[path = "auth/store/postgres/mod.rs"]
pub mod postgres;
#[cfg(feature = "client")]
pub mod register;
#[cfg(feature = "sealed")]
#[path = "auth/store/sealed/mod.rs"]
pub mod sealed;
mod secret;
#[cfg(all(feature = "client", feature = "rustls"))]
#[path = "transport/tls/ring.rs"]
mod tls;
#[cfg(all(
    feature = "client",
    not(feature = "rustls"),
    any(feature = "rustls-aws-lc", feature = "native-tls")
))]
#[path = "transport/tls/reqwest_default.rs"]
mod tls;
#[cfg(all(
    feature = "client",
    not(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls"))
))]
#[path = "transport/tls/none.rs"]
mod tls;
#[cfg(feature = "client")]
mod transport;
pub mod validate;

#[cfg(feature = "client")]
pub use crate::client::{Account, Client, ClientBuilder};
#[cfg(feature = "client")]
pub use crate::error::{Error, Result};
#[cfg(feature = "client")]
pub use crate::graphql::Outcome;
pub use crate::secret::Secret;
#[cfg(feature = "client")]
pub use crate::transport::{Clock, HttpOptions, RetryPolicy};

#[cfg(all(doctest, feature = "fake"))]
#[doc = include_str!("../README.md")]
struct Readme;
