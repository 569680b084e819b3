//! Everything that is tested against the fake: one binary, a module a theme.

mod conditions;
mod drift;
mod hidden;
mod main_job;
mod register;
mod statuses;
