//! What the tests share: tables of scenarios, replies without a network, all that an error shows.

pub(crate) mod replies;

pub(crate) use equipment::script;

/// An error with all that is below it.
pub(crate) fn shown(error: &dyn std::error::Error) -> String {
    let below = error.source().map_or(String::new(), shown);
    format!("{error} {error:?} {below}")
}
