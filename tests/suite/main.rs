//! Everything that is tested against the fake: one binary, a module a theme.

mod pages;
mod register;
