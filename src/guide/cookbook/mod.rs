#![doc = include_str!("cookbook.md")]

#[doc = include_str!("offline.md")]
#[cfg(feature = "sync")]
pub mod offline {}

#[doc = include_str!("applications.md")]
#[doc(alias("blocking", "proxy"))]
pub mod applications {}

#[doc = include_str!("consignments.md")]
pub mod consignments {}

#[doc = include_str!("documents.md")]
pub mod documents {}

#[doc = include_str!("logins.md")]
#[doc(alias("login", "sign in"))]
pub mod logins {}

#[doc = include_str!("properties.md")]
pub mod properties {}

#[doc = include_str!("traces.md")]
#[doc(alias("logging", "OpenTelemetry", "telemetry"))]
pub mod traces {}
