//! Where tokens are kept between runs and between processes.
//!
//! A store holds one [`Record`] an account, written whole or not at all. [`TokenStore`] is for you to implement on your
//! database; [`FileStore`] keeps the tokens of a user's machine in a file; [`MemoryStore`] forgets everything at the end of
//! the process.

mod file;
#[cfg(test)]
mod hooked;
mod memory_store;
mod record;
mod seal;
mod store_error;
mod token_store;

pub use self::file::FileStore;
pub use self::memory_store::MemoryStore;
pub use self::record::Record;
pub use self::seal::Seal;
pub use self::store_error::StoreError;
pub use self::token_store::{StoreGuard, TokenStore, Version, Versioned};

#[cfg(test)]
pub(super) use self::hooked::{Call, HookedStore, counts_down};
pub(super) use self::record::{Ended, Intent};
pub(super) use self::store_error::StoreErrorKind;
