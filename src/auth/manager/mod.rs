//! Keeps the tokens of one account fresh.
//!
//! `handle` is what users hold; `decide` tells under a short lock what a caller gets; `flight` runs a refresh apart
//! from its callers, with the steps of `refresh`; `persist` keeps the store in line; `login` and `logout` begin and
//! end an epoch, and what belongs to an earlier one is discarded.

mod builder;
mod decide;
mod event;
mod flight;
mod handle;
mod login;
mod logout;
mod persist;
mod race;
mod reconcile;
mod refresh;
mod shared;
mod snapshot;

#[cfg(test)]
mod tests;

pub use self::builder::TokenManagerBuilder;
pub use self::event::{Event, Events};
pub use self::handle::TokenManager;
pub use self::logout::LogoutReport;
