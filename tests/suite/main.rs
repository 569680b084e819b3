//! Everything that is tested against the fake: one binary, a module a theme.

mod accounts;
mod audits;
// `/proc` shows the arguments of processes.
#[cfg(target_os = "linux")]
mod browser;
mod candidates;
mod conditions;
mod dated;
mod documented;
mod drift;
mod faults;
mod foreign;
mod hidden;
mod login;
mod main_job;
mod manager;
mod overrides;
mod pages;
mod processes;
mod provider;
mod proxies;
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
