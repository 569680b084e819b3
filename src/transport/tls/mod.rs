//! TLS, by the library that the features choose.

#[cfg(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls"))]
mod client_certificate;
#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls")))]
mod none;
#[cfg(all(
    not(feature = "rustls"),
    any(feature = "rustls-aws-lc", feature = "native-tls")
))]
mod reqwest_default;
#[cfg(feature = "rustls")]
mod ring;
#[cfg(all(test, feature = "rustls"))]
mod tests;

#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls")))]
pub(super) use self::none::{configure, refuses_certificate};
#[cfg(all(
    not(feature = "rustls"),
    any(feature = "rustls-aws-lc", feature = "native-tls")
))]
pub(super) use self::reqwest_default::{configure, refuses_certificate};
#[cfg(feature = "rustls")]
pub(super) use self::ring::{configure, refuses_certificate};
#[cfg(all(test, feature = "rustls"))]
pub(crate) use self::tests::TlsServer;
