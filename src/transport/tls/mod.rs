//! TLS, by the library that the features choose.

#[cfg(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls"))]
mod client_certificate;
#[cfg(all(not(feature = "rustls"), feature = "native-tls"))]
mod identity_native;
#[cfg(all(
    not(any(feature = "rustls", feature = "native-tls")),
    feature = "rustls-aws-lc"
))]
mod identity_rustls;
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
mod tls_server;

#[cfg(all(not(feature = "rustls"), feature = "native-tls"))]
use self::identity_native::with_identity;
#[cfg(all(
    not(any(feature = "rustls", feature = "native-tls")),
    feature = "rustls-aws-lc"
))]
use self::identity_rustls::with_identity;
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
pub(crate) use self::tls_server::TlsServer;
