//! TLS, by the library that the features choose.

use std::time::SystemTime;

#[cfg(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls"))]
mod client_certificate;
#[cfg(any(feature = "rustls", feature = "rustls-aws-lc"))]
mod failures;
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

#[cfg(any(feature = "rustls", feature = "rustls-aws-lc"))]
pub(super) use self::failures::{certificate_fault, refuses_certificate};
#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls")))]
pub(super) use self::none::configure;
#[cfg(all(
    not(feature = "rustls"),
    any(feature = "rustls-aws-lc", feature = "native-tls")
))]
pub(super) use self::reqwest_default::configure;
#[cfg(feature = "rustls")]
pub(super) use self::ring::configure;
#[cfg(all(test, feature = "rustls"))]
pub(crate) use self::tests::{Http2Server, TlsServer};

/// Why the client refused the certificate of a server.
#[derive(Debug, PartialEq)]
#[cfg_attr(
    not(any(feature = "rustls", feature = "rustls-aws-lc")),
    allow(dead_code)
)]
pub(super) enum CertificateFault {
    /// By the clock of this computer, it was valid until this instant.
    Expired(SystemTime),
    /// By the clock of this computer, it is valid from this instant.
    NotValidYet(SystemTime),
    /// By the clock of this computer, it is not valid now. Windows does not say more.
    Dates,
    Name,
    Authority,
    Other,
}

/// The error types of native-tls are private to reqwest, so such a refusal is reported as a lost connection.
#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc")))]
pub(super) fn refuses_certificate(_: &std::io::Error) -> bool {
    false
}

/// As [`refuses_certificate`].
#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc")))]
pub(super) fn certificate_fault(_: &std::io::Error) -> Option<CertificateFault> {
    None
}
