//! Token stores on a Postgres server: `cargo test --features postgres --test postgres`.
//!
//! They run if `ENVD_SDK_TEST_POSTGRES` has the connection string of a test database on this machine, without TLS, and print
//! a note otherwise. `.ci/run` always sets it. `ENVD_SDK_TEST_POSTGRES_RESTART` has a command that restarts the server and
//! waits for it; without the command the tests end all sessions of the server instead.

use envd_sdk::auth::{postgres, sealed};

#[path = "../suite/processes/child.rs"]
mod child;
mod database;
mod faults;
mod fleet;
mod fleet_faults;
mod hostile;
mod hosts;
mod laws;
mod many_users;
mod outages;
#[cfg(unix)]
mod pooler;
mod proxy;
#[path = "../suite/processes/sessions.rs"]
mod sessions;
mod sync_cost;
mod sync_faults;
mod sync_hostile;
mod sync_laws;
mod sync_processes;
mod sync_tables;
mod tables;
mod wire;

/// The store of a schema, for a child process.
fn open(schema: &str) -> sealed::SealedStore<postgres::PostgresStore> {
    database::sealed(database::store(&database::pool(2), schema))
}
