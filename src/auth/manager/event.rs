//! What a manager tells about its work.

use std::time::SystemTime;

use tokio::sync::broadcast;

use crate::error::Error;

/// Something that happened to an account's tokens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// New tokens came and are in use.
    Refreshed {
        /// Their number.
        generation: u64,
    },
    /// A refresh failed. A token that still works stays in use.
    RefreshFailed {
        /// Why.
        error: Error,
        /// No request is sent before.
        retry_at: SystemTime,
    },
    /// New tokens could not be stored. They are in use, and storing is tried again, at least every 10 seconds; should the
    /// process end before it works, the user has to log in again. Until then the account's lock is kept, so that no other
    /// process uses the stored refresh token: others get lock time-outs.
    PersistFailed {
        /// Why.
        error: Error,
    },
    /// Another process had renewed the tokens.
    Adopted {
        /// Their number.
        generation: u64,
    },
    /// The user has to log in again, at the latest when the current access token expires.
    ReauthRequired {
        /// Why.
        error: Error,
    },
    /// The tokens are gone: the user was logged out here or in another process.
    LoggedOut,
    /// The answer to a refresh was lost. The refresh token may be used up.
    RotationAmbiguous,
}

/// The events of a manager from the moment of asking on; made by [`TokenManager::events`](super::TokenManager::events).
#[derive(Debug)]
pub struct Events(pub(super) broadcast::Receiver<Event>);

impl Events {
    /// The next event; `None` when the manager is gone. Who reads too slowly loses the oldest ones.
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
