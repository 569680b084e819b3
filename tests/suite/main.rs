//! Everything that is tested against the fake: one binary, a module a theme.

mod accounts;
mod conditions;
mod drift;
mod hidden;
mod main_job;
mod overrides;
mod pages;
mod register;
mod requests;
mod retries;
mod statuses;
mod traces;
mod validator;
