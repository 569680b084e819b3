//! Syncs against a small service whose list can behave in every way that the live one may.

mod listing;
mod running;
mod scenarios;
mod schedules;
mod site;
mod together;
mod words;
mod yard;
