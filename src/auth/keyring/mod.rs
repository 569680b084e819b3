//! A token store in the keyring of the operating system (feature `keyring`).
//!
//! Mounted by `lib.rs`, where the features are; it belongs to `auth`.

mod entry;
mod handle;

#[cfg(test)]
mod tests;

pub use self::handle::KeyringStore;
