//! Shared by the tests: tables of scenarios, replies without a network, and the complete text of an error.

pub(crate) mod replies;

pub(crate) use test_support::script;

/// The text of an error and of all its sources.
pub(crate) fn shown(error: &dyn std::error::Error) -> String {
    let below = error.source().map_or(String::new(), shown);
    format!("{error} {error:?} {below}")
}
