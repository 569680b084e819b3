//! Syncs against a small service with every listing behaviour that the live service may show.

mod listing;
mod running;
mod scenarios;
mod schedules;
mod site;
mod together;
mod yard;
