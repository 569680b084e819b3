//! Syncs against a small service whose list can do everything that the live one may do.

mod gaps;
mod listing;
mod profile;
mod running;
mod scenarios;
mod schedules;
mod site;
mod together;
mod walks;
mod yard;
