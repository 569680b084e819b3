//! Tests with real processes, in one binary: programs as a user runs them, stores that several processes share, kills during
//! writes, and databases.
//!
//! * `cargo build --examples && cargo test -p processes`: the tests fail if an example is older than its sources.
//! * `cargo test -p processes --features postgres -- postgres::`: the stores in Postgres.

#[cfg(unix)]
mod environment;
#[cfg(feature = "postgres")]
mod postgres;
mod programs;
mod stores;
