//! Stores that keep tokens between runs and share them between processes.
//!
//! A store holds one [`Record`] per account, and replaces it atomically. Implement [`TokenStore`] for your own database;
//! [`FileStore`] keeps the tokens of a user's machine in a file; [`MemoryStore`] loses them when the process exits. A
//! [`PrivateFile`] is a file that no other user can read or replace.

pub(in crate::auth) mod file;
mod held_file;
mod memory_store;
mod private_file;
pub(crate) mod record;
mod store_error;
pub(super) mod token_store;
mod windows_name;

#[cfg(test)]
mod tests;

pub use self::file::FileStore;
pub use self::memory_store::MemoryStore;
pub use self::private_file::PrivateFile;
pub use self::record::Record;
pub use self::store_error::{StoreError, StoreErrorKind};
pub use self::token_store::{StoreGuard, TokenStore, Version, Versioned};

pub(super) use self::record::{Ended, RecordClient, StoredMark, read_stored};
#[cfg(test)]
pub(super) use self::tests::{Gate, HookedStore, StoreCall, fault, generation, tokens};
