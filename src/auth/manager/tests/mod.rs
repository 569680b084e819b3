//! The manager against a scripted token endpoint, on a clock that is moved by hand.

pub(in crate::auth) mod bench;
mod damage;
mod decisions;
mod hidden;
mod network;
mod requests;
mod runtimes;
mod scenarios;
mod schedules;
