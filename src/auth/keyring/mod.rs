//! A token store in the keyring of the operating system (feature `keyring`).

mod keyring_store;

#[cfg(test)]
mod tests;

#[doc(alias("keychain", "credential manager", "secret service"))]
pub use self::keyring_store::KeyringStore;
