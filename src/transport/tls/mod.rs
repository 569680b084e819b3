//! TLS, with the library selected by the features.

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

/// Why the client refused a server's certificate.
#[derive(Debug, PartialEq)]
#[cfg_attr(
    not(any(feature = "rustls", feature = "rustls-aws-lc")),
    allow(dead_code)
)]
pub(super) enum CertificateFault {
    /// It was valid until this instant, by this computer's clock.
    Expired(SystemTime),
    /// It is valid from this instant, by this computer's clock.
    NotValidYet(SystemTime),
    /// It is not valid now, by this computer's clock; Windows gives no more detail.
    Dates,
    Name,
    Authority,
    Other,
}

/// reqwest hides the error types of native-tls, so such a refusal is reported as a lost connection.
#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc")))]
pub(super) fn refuses_certificate(_: &std::io::Error) -> bool {
    false
}

/// As [`refuses_certificate`].
#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc")))]
pub(super) fn certificate_fault(_: &std::io::Error) -> Option<CertificateFault> {
    None
}
