//! A store in an `SQLite` file (feature `sqlite`).

#[cfg(any(test, windows))]
mod long_path;
mod schema;
mod sqlite_error;
mod sqlite_sync;
mod statements;

#[cfg(test)]
pub(crate) mod tests;

pub use self::sqlite_sync::SqliteSync;
