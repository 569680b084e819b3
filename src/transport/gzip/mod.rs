//! gzip bodies (RFC 1952), if the feature is on.

#[cfg(feature = "gzip")]
mod decoder;
#[cfg(not(feature = "gzip"))]
mod none;

#[cfg(feature = "gzip")]
pub(super) use self::decoder::{Decoder, IS_DEFAULT, decoder};
#[cfg(not(feature = "gzip"))]
pub(super) use self::none::{Decoder, IS_DEFAULT, decoder};
