//! The fake over HTTP, without the client of this crate's upper rooms.

mod caller;
mod consignments;
mod login;
mod properties;
mod records;
mod refusals;
