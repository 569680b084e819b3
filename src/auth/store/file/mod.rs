//! A store in a file, shared by the processes of a user.

pub(crate) mod file_access;
mod file_store;
mod token_file;

#[cfg(test)]
mod tests;

pub use self::file_store::FileStore;

#[cfg(test)]
pub(in crate::auth) use self::tests::Folder;
