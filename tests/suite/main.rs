//! Everything that is tested against the fake: one binary, a module a theme.

mod accounts;
mod audits;
mod conditions;
mod documented;
mod drift;
mod faults;
mod hidden;
mod login;
mod main_job;
mod manager;
mod overrides;
mod pages;
mod processes;
mod provider;
mod register;
mod requests;
mod retries;
mod scripting;
mod statuses;
mod tokens_secrets;
mod traced;
mod traces;
mod unclear;
mod validator;
mod wire;
mod worlds;
