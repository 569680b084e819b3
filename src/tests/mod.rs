//! What unit tests of several rooms share.

#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
pub(crate) mod dates;
pub(crate) mod reading;
