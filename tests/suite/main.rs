//! Everything that is tested against the fake: one binary, a module a theme.

mod hidden;
mod main_job;
mod register;
