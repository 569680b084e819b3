//! Syncs against a small service whose list can do everything that the live one may do.

mod listing;
mod running;
mod scenarios;
mod schedules;
mod site;
mod together;
mod yard;
