//! The fake over HTTP, without the client of this crate's upper rooms.

mod caller;
mod consignments;
mod independence;
#[cfg(feature = "keyring")]
mod keyring_store;
mod login;
mod properties;
mod records;
mod refusals;
mod stores;
