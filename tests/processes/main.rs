//! Tests with real processes in one binary: programs as a user runs them, stores that several processes share and that are killed
//! while they write, and databases.
//!
//! * `cargo build --examples && cargo test -p processes`: an example that is older than its sources fails its tests.
//! * `cargo test -p processes --features postgres -- postgres::`: the stores in Postgres.

#[cfg(unix)]
mod environment;
#[cfg(feature = "postgres")]
mod postgres;
mod programs;
mod stores;
