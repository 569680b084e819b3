//! The laws of token stores, on ours.

#[cfg(feature = "keyring")]
mod keyring_store;
mod stores;
