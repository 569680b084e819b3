//! Everything that is tested against the fake: one binary, a module a theme.

mod audits;
mod documented;
mod faults;
mod hidden;
mod main_job;
mod provider;
mod register;
mod scripting;
mod wire;
mod worlds;
