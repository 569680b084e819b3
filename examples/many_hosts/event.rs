//! How a host got its token.

use envd_sdk::auth::{Event, Events};

/// Waits for the event of a refresh, or of the adoption of stored tokens.
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
