//! Hosts of a fleet fail while they send: each is a process of its own, and what was sent is counted at the fake.
//!
//! Each declaration is created and submitted. The fake must receive both requests exactly once, whichever hosts had the
//! account: it carries out what it receives, so a second one would be a second sender. The leases last three seconds of the
//! database's clock, which is real.

mod host_process;
mod hosts;
mod network;
mod schemas;
#[cfg(target_os = "linux")]
mod suspended;
mod yard;
