//! Keeps the tokens of one account fresh.

mod builder;
mod decide;
mod login;
mod memory;
mod refresh;
mod report;
mod shared;
mod token_manager;

#[cfg(test)]
pub(in crate::auth) mod tests;

pub use self::builder::TokenManagerBuilder;
pub(super) use self::login::Login;
pub use self::login::LogoutReport;
pub use self::report::{Event, Events, Inspection, LastFailure, SessionState};
pub use self::token_manager::TokenManager;
