//! Stores that several processes use at once.

mod faulty_file;
pub(crate) mod host;
pub(crate) mod sessions;
mod sqlite;
mod tokens;
