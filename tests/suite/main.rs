//! Everything that is tested against the fake: one binary, a module a theme.

mod processes;
mod register;
