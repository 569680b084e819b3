//! Keeps the tokens of one account fresh.
//!
//! `handle` is what users hold. `decide` finds under a short lock what a caller gets. `refresh_task` runs a refresh apart
//! from its callers: the steps of `refresh`, under the lock of `lease`, with the mark of `mark`, the consequences of
//! `verdict`. `reconcile` and `persist` keep memory and store in line; `saving` stores later what could not be stored at
//! once, and `store_check` notices what other processes did. `login` and `logout` end an epoch; what belongs to it is
//! discarded. `work` counts what is under way, for the end of a program.

mod builder;
mod counters;
mod decide;
mod event;
mod handle;
mod lease;
mod login;
mod logout;
mod mark;
mod notice;
mod persist;
mod reconcile;
mod refresh;
mod refresh_task;
mod saving;
mod shared;
mod snapshot;
mod store_check;
mod verdict;
mod work;

#[cfg(test)]
mod tests;

pub use self::builder::TokenManagerBuilder;
pub use self::counters::Counters;
pub use self::event::{Event, Events};
pub use self::handle::TokenManager;
pub use self::logout::LogoutReport;
