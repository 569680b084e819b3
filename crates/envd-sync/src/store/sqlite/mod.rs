//! A store in an `SQLite` file (feature `sqlite`).

mod schema;
mod sqlite_error;
mod sqlite_sync;
mod statements;

#[cfg(test)]
pub(crate) mod tests;

pub use self::sqlite_sync::SqliteSync;
