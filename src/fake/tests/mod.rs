//! The laws of token stores, on ours, the sample world, and the end of a fake.

mod dropping;
#[cfg(feature = "keyring")]
mod keyring_store;
mod seed;
mod stores;
