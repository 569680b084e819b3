//! Syncs against a small service whose list can do everything that the live one may do.

mod calibrating;
mod gone;
mod running;
mod schedules;
#[cfg(feature = "postgres")]
mod schedules_on_postgres;
mod site;
mod together;
mod walks;
