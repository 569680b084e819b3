//! Token stores on a real server of Postgres: `cargo test --features postgres --test postgres`.
//!
//! They run when `ENVD_SDK_TEST_POSTGRES` holds a connection string of a database that they may fill, without TLS on this
//! machine, and print a note otherwise. `.ci/run` always sets it. `ENVD_SDK_TEST_POSTGRES_RESTART` holds a command that
//! restarts the server and waits for it; without it the tests end all sessions of the server instead.

use envd_sdk::auth::{postgres, sealed};

#[path = "../suite/processes/child.rs"]
mod child;
mod database;
mod faults;
mod hostile;
mod hosts;
mod laws;
mod many;
mod outages;
#[cfg(unix)]
mod pooler;
mod proxy;
#[path = "../suite/processes/sessions.rs"]
mod sessions;
mod tables;

/// The store of a schema, for a child.
fn open(schema: &str) -> sealed::SealedStore<postgres::PostgresStore> {
    database::sealed(database::store(&database::pool(2), schema))
}
