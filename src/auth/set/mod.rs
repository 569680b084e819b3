//! The managers of many users.
//!
//! `handle` is what users hold, `shelf` keeps the managers in the order of their last use, `builder` has the settings.

mod builder;
mod handle;
mod shelf;

#[cfg(test)]
mod tests;

pub use self::builder::TokenManagerSetBuilder;
pub use self::handle::TokenManagerSet;
