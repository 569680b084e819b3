//! The manager against a scripted token endpoint, on a clock that is moved by hand.

mod bench;
mod failures;
mod persistence;
mod secrets;
mod sessions;
mod single_flight;
