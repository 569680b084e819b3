//! Syncs against a small service whose list can do everything that the live one may do.

mod calibrating;
mod gone;
mod listing;
mod running;
mod schedules;
mod site;
mod together;
mod walks;
mod yard;
