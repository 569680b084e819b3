//! Events of a manager.

use std::time::SystemTime;

use tokio::sync::broadcast;

use crate::error::Error;

/// A change of an account's tokens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The tokens were renewed.
    Refreshed {
        /// The [generation](crate::auth::AccessToken::generation) of the new tokens.
        generation: u64,
    },
    /// A refresh failed. A token that is still valid stays in use.
    RefreshFailed {
        /// The reason.
        error: Error,
        /// No request is sent before this time.
        retry_at: SystemTime,
    },
    /// New tokens could not be stored. They are in use, and storing is retried at least every 10 seconds; if the process
    /// ends before it succeeds, the user has to log in again. Until then the account's lock is kept, so that no other
    /// process uses the stored refresh token: others get lock time-outs.
    PersistFailed {
        /// The reason.
        error: Error,
    },
    /// Another process had renewed the tokens.
    Adopted {
        /// The [generation](crate::auth::AccessToken::generation) of the new tokens.
        generation: u64,
    },
    /// The user has to log in again, at the latest when the current access token expires.
    ReauthRequired {
        /// The reason.
        error: Error,
    },
    /// The tokens are gone: the user was logged out here or in another process.
    LoggedOut,
    /// The reply to a refresh was lost. The refresh token may be used up.
    RotationAmbiguous,
}

/// The events of a manager since the subscription; made by [`TokenManager::events`](super::TokenManager::events).
#[derive(Debug)]
pub struct Events(pub(super) broadcast::Receiver<Event>);

impl Events {
    /// The next event; `None` when the manager is dropped. A slow reader loses the oldest ones.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.0.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
