//! A store in a file (feature `sqlite`).

mod account_reads;
mod batch_commit;
mod schema;
mod sqlite_connections;
mod sqlite_error;
mod sqlite_sync;

#[cfg(test)]
pub(crate) mod tests;

pub use self::sqlite_sync::SqliteSync;
