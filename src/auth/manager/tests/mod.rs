//! The manager against a scripted token endpoint, with a manual clock.

pub(in crate::auth) mod bench;
mod damage;
mod decisions;
mod hidden;
mod network;
mod requests;
mod runtimes;
mod scenarios;
mod schedules;
