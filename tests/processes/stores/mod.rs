//! Stores that several processes have open.

mod faulty_file;
pub(crate) mod host;
pub(crate) mod sessions;
mod sqlite;
mod tokens;
