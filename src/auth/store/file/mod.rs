//! A store in a file, shared by the processes of a user.
//!
//! [`FileStore`] is the store, with one lock file per account. A `TokenFile` is the file on disk, replaced atomically by each
//! write, and `FileContents` are its records. A [`PrivateFile`](super::PrivateFile) rejects files and folders that other users
//! can change.

mod file_store;
mod token_file;

#[cfg(test)]
mod tests;

pub use self::file_store::FileStore;

#[cfg(test)]
pub(in crate::auth) use self::tests::Folder;
