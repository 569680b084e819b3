//! Everything that is tested against the fake: one binary, a module a theme.

mod accounts;
mod overrides;
mod pages;
mod register;
mod requests;
mod retries;
mod traces;
