//! Each failure point of the outbox, counted at the service.

mod by_id;
mod creation;
mod decisions;
mod edits;
mod farm;
mod leases;
mod lost_replies;
mod model;
mod stopped;
mod submits;
mod together;
mod twins;
mod waiting;
