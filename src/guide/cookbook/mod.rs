#![doc = include_str!("cookbook.md")]
#![doc = include_str!("dependencies.md")]

// A failed program is reported in `dependencies.md`, which comes last, with the module and the line of its page.

#[doc = include_str!("applications.md")]
#[doc = include_str!("dependencies.md")]
#[doc(alias("blocking", "proxy"))]
pub mod applications {}

#[doc = include_str!("consignments.md")]
#[doc = include_str!("dependencies.md")]
pub mod consignments {}

#[doc = include_str!("documents.md")]
#[doc = include_str!("dependencies.md")]
pub mod documents {}

#[doc = include_str!("logins.md")]
#[doc = include_str!("dependencies.md")]
#[doc(alias("login", "sign in"))]
pub mod logins {}

#[doc = include_str!("properties.md")]
#[doc = include_str!("dependencies.md")]
pub mod properties {}

#[doc = include_str!("traces.md")]
#[doc = include_str!("dependencies.md")]
#[doc(alias("logging", "OpenTelemetry", "telemetry"))]
pub mod traces {}
