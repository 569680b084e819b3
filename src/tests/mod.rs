//! What unit tests of several rooms share.

#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
pub(crate) mod dates;
#[cfg(feature = "rustls")]
mod dead_connections;
pub(crate) mod reading;
