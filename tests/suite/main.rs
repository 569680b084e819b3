//! Everything that is tested against the fake: one binary, a module a theme.

mod login;
mod manager;
mod processes;
mod register;
mod tokens_secrets;
