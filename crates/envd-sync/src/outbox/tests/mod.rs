//! The outbox against the service: scenarios as lists of steps, and what is none.

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
