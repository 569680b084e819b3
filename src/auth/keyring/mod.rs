//! A token store in the keyring of the operating system (feature `keyring`).

mod entry;
mod handle;

#[cfg(test)]
mod tests;

pub use self::handle::KeyringStore;
