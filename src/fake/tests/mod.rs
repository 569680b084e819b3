//! The laws of token stores, on ours, and the end of a fake.

mod dropping;
#[cfg(feature = "keyring")]
mod keyring_store;
mod stores;
