//! How a host has come to its token.

use envd_sdk::auth::{Event, Events};

/// The next event tells it.
pub(crate) async fn how(events: &mut Events) -> &'static str {
    while let Some(event) = events.next().await {
        match event {
            Event::Refreshed { .. } => return "refreshed",
            Event::Adopted { .. } => return "adopted",
            _ => {}
        }
    }
    "ended"
}
