//! Guide pages.

#[doc = include_str!("decisions.md")]
pub mod decisions {}

#[doc = include_str!("many_hosts.md")]
#[doc(alias("Kubernetes", "cluster", "scale", "many hosts"))]
pub mod many_hosts {}
