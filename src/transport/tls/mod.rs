//! TLS, by the library that the features choose.

#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls")))]
mod none;
#[cfg(all(
    not(feature = "rustls"),
    any(feature = "rustls-aws-lc", feature = "native-tls")
))]
mod reqwest_default;
#[cfg(feature = "rustls")]
mod ring;

#[cfg(not(any(feature = "rustls", feature = "rustls-aws-lc", feature = "native-tls")))]
pub(super) use self::none::configure;
#[cfg(all(
    not(feature = "rustls"),
    any(feature = "rustls-aws-lc", feature = "native-tls")
))]
pub(super) use self::reqwest_default::configure;
#[cfg(feature = "rustls")]
pub(super) use self::ring::configure;
