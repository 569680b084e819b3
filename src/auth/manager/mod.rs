//! Keeps the tokens of one account fresh.
//!
//! `handle` is what users hold. `decide` tells under a short lock what a caller gets. `flight` runs a refresh apart
//! from its callers: the steps of `refresh`, the mark of `intent`, the consequences of `verdict`. `reconcile` and
//! `persist` keep memory and store in line. `login` and `logout` end an epoch; what belongs to it is discarded. `work` knows what is
//! under way, for the end of a program.

mod builder;
mod counters;
mod decide;
mod event;
mod flight;
mod handle;
mod intent;
mod login;
mod logout;
mod notice;
mod persist;
mod reconcile;
mod refresh;
mod shared;
mod snapshot;
mod verdict;
mod work;

#[cfg(test)]
mod tests;

pub use self::builder::TokenManagerBuilder;
pub use self::counters::Counters;
pub use self::event::{Event, Events};
pub use self::handle::TokenManager;
pub use self::logout::LogoutReport;
