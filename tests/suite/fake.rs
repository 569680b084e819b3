//! The fake over HTTP, without the client of this crate.

mod dialogues;
mod fixtures;
mod http;
mod in_process;
mod reception;
mod website;
