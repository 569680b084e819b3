//! The fake over HTTP, without the client of this crate.

mod client_authentication;
mod consignments;
mod device;
mod http;
#[cfg(feature = "keyring")]
mod keyring_store;
mod listing;
mod login;
mod properties;
mod records;
mod refusals;
mod stores;
mod website;
