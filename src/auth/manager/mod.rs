//! Keeps the tokens of one account fresh.
//!
//! [`token_manager`] is what callers use: it serves the [`snapshot`], or starts and awaits a [`refresh_task`]. [`refresh`]
//! is one refresh from the lock to the new tokens, with the marks of unfinished ones; [`lease`] has the store's lock and stores
//! later what could not be stored at once. [`login`], which [`device_polling`] uses too, and [`logout`] start a new
//! [`epoch`]: tasks of an earlier one change nothing. [`state`] is what they all read and change under one lock, and
//! [`inspection`] reports it for support.

mod builder;
mod device_polling;
mod epoch;
mod event;
mod inspection;
mod lease;
mod login;
mod logout;
mod policy;
mod refresh;
mod refresh_task;
mod shared;
mod snapshot;
mod state;
mod token_manager;

#[cfg(test)]
pub(in crate::auth) mod tests;

pub use self::builder::TokenManagerBuilder;
pub use self::event::{Event, Events};
pub use self::inspection::{Inspection, LastFailure, SessionState};
pub use self::logout::LogoutReport;
pub use self::token_manager::TokenManager;
