//! A store in a file, shared by the processes of a user.
//!
//! [`FileStore`] is the store, with a lock file for each account. A `TokenFile` is the file on the disk, replaced as a whole at
//! each write, and `FileContents` are its records. `file_access` refuses files and folders that other users can change.

pub(crate) mod file_access;
mod file_store;
mod token_file;

#[cfg(test)]
mod tests;

pub use self::file_store::FileStore;

#[cfg(test)]
pub(in crate::auth) use self::tests::Folder;
