//! Stores on a Postgres server: `cargo test -p processes --features postgres -- postgres::`.
//!
//! `ENVD_SDK_TEST_POSTGRES` has the connection string of a test database on this machine, without TLS. `PgBouncer` must be
//! installed. `ENVD_SDK_TEST_POSTGRES_RESTART` is a command that restarts the server and waits for it; without it the tests
//! terminate all sessions of the server instead.

use envd_postgres::PostgresStore;
use envd_sdk::auth::sealed::SealedStore;

mod both;
mod conformance;
mod copies;
mod database;
mod faults;
mod hostile;
mod outages;
#[cfg(unix)]
mod pooler;
mod round_trips;
mod sync_cost;
mod sync_faults;
mod sync_processes;
mod tables;

/// The store of a schema, for a child process.
pub(crate) fn open(schema: &str) -> SealedStore<PostgresStore> {
    database::sealed(database::store(&database::pool(2), schema))
}
