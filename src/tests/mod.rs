//! What unit tests of several rooms share.

#[cfg(any(feature = "chrono04", feature = "jiff02", feature = "time03"))]
pub(crate) mod dates;
pub(crate) mod reading;
