//! Everything that is tested against the fake: one binary, a module a theme.

mod accounts;
mod conditions;
mod drift;
mod hidden;
mod login;
mod main_job;
mod manager;
mod overrides;
mod pages;
mod processes;
mod register;
mod requests;
mod retries;
mod statuses;
mod tokens_secrets;
mod traces;
mod validator;
