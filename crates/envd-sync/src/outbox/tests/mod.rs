//! Tests of the outbox against the fake service: scenarios as lists of steps, and tests in Rust.

pub(super) mod cases;
mod ends;
mod farm;
mod formats;
mod keys;
mod model;
mod processes;
mod scenarios;
mod sentences;
mod settings;
mod shown;
