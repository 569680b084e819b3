//! Each failure point of the outbox, counted at the service.

mod bases;
mod by_id;
mod comments;
mod creation;
mod decide;
mod decisions;
mod edits;
mod farm;
mod leases;
mod looks;
mod lost_replies;
mod many;
mod model;
mod named_bases;
mod others;
mod secrets;
#[cfg(feature = "sqlite")]
mod sqlite_file;
mod stopped;
mod stores;
mod submits;
mod together;
mod twins;
mod waiting;
