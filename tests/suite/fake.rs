//! The fake over HTTP, without the client of this crate.

mod client_authentication;
mod consignments;
mod device;
mod http;
mod in_process;
mod listing;
mod login;
mod properties;
mod reception;
mod records;
mod refusals;
mod website;
