//! Helpers shared by the unit tests of several modules.

#[cfg(any(feature = "chrono04", feature = "jiff02", feature = "time03"))]
pub(crate) mod dates;
pub(crate) mod reading;
