//! The events of a manager, and the session state for support.

use std::time::SystemTime;

use tokio::sync::broadcast;

use crate::error::Error;

/// A change to an account's tokens.
///
/// Changes by another process are reported at the first use of the tokens after [`store_check`](super::Timing::store_check), 60
/// seconds by default, or at an earlier read of the store, such as [`inspect`](super::TokenManager::inspect). Events do not
/// name the user: use [`inspect`](super::TokenManager::inspect) for that.
///
/// ```
/// use envd_sdk::auth::{Event, MemoryStore, TokenManager};
/// # use envd_sdk::fake::Fake;
///
/// # test_support::example(async {
/// # let fake = Fake::start().await;
/// // Two windows of a program, or two programs, that share a store.
/// let store = MemoryStore::new();
/// let window = || TokenManager::builder(fake.provider().build()?).store(store.clone()).build();
/// let first = window()?;
/// let second = window()?;
/// # let login = first.provider().authorization().start()?;
/// # let callback = fake.consent(login.url())?;
/// first.complete_login(login, callback.as_str()).await?;
/// second.access_token().await?;
///
/// let mut events = second.events();
/// first.logout(None).await;
/// second.inspect().await; // At the latest the first use after 60 seconds.
/// let screen = match events.next().await {
///     Some(Event::LoggedIn { elsewhere: true, .. }) => "you logged in in another window",
///     Some(Event::UserReplaced { .. }) => "another user logged in; log in again",
///     Some(Event::LoggedOut { elsewhere: true }) => "you logged out in another window",
///     _ => "",
/// };
/// assert_eq!(screen, "you logged out in another window");
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The tokens were renewed.
    Refreshed {
        /// The [generation](crate::auth::AccessToken::generation) of the new tokens.
        generation: u64,
    },
    /// A refresh failed. A valid token stays in use.
    RefreshFailed {
        /// The reason.
        error: Error,
        /// The earliest time of the next request.
        retry_at: SystemTime,
    },
    /// New tokens could not be stored. They are in use, and storing is retried at least every 10 seconds. If the process exits
    /// before it succeeds, the user has to log in again. Until then, the account's lock is kept, so that no other process uses
    /// the stored refresh token: others get lock time-outs.
    PersistFailed {
        /// The reason.
        error: Error,
    },
    /// A user logged in.
    LoggedIn {
        /// The [generation](crate::auth::AccessToken::generation) of the new tokens.
        generation: u64,
        /// Whether another process did this, for the same user, or for any user after a logout. This process now uses the new
        /// tokens.
        elsewhere: bool,
    },
    /// Another process logged in another user under the account's key. This process does not use those tokens until it performs
    /// a login or logout itself: [`ReauthRequired`](Self::ReauthRequired) follows, unless the session had already ended.
    UserReplaced {
        /// The [generation](crate::auth::AccessToken::generation) of the other user's tokens.
        generation: u64,
    },
    /// Another process has renewed the tokens of the same login.
    Adopted {
        /// The [generation](crate::auth::AccessToken::generation) of the new tokens.
        generation: u64,
    },
    /// The store has earlier tokens of the same login: its file or table was restored from a backup, a roaming profile or a
    /// synchronised folder. Their refresh token is used up, so it is not sent. The tokens in memory stay in use and are stored
    /// again.
    OlderRecord {
        /// The [generation](crate::auth::AccessToken::generation) of the stored tokens.
        generation: u64,
    },
    /// The user has to log in again, at the latest when the current access token expires.
    ReauthRequired {
        /// The reason.
        error: Error,
    },
    /// The user was logged out, and the tokens are deleted.
    LoggedOut {
        /// Whether another process did this.
        elsewhere: bool,
    },
    /// The reply to a refresh was lost, so the refresh token may be used up.
    RotationAmbiguous,
}

/// The events of a manager since the subscription, from [`TokenManager::events`](super::TokenManager::events).
///
/// See [`Event`] for an example.
#[derive(Debug)]
pub struct Events(pub(super) broadcast::Receiver<Event>);

impl Events {
    /// Returns the next event, or `None` once the manager is dropped. A slow reader loses the oldest events.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no event is lost: the next call returns it.
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

/// The state of an account's session, for support, from [`TokenManager::inspect`](super::TokenManager::inspect). Contains no
/// token.
///
/// The user, the account's key and the store may reveal a person or a path: print them only on request. `Debug` omits them.
///
/// See [`TokenManager::inspect`](super::TokenManager::inspect) for an example.
#[derive(Clone)]
#[non_exhaustive]
pub struct Inspection {
    /// Whether the tokens can be used.
    pub state: SessionState,
    /// The user, from the `sub` claim of the id token. After [`Event::UserReplaced`], the other user, who owns the stored
    /// tokens.
    pub subject: Option<String>,
    /// The key of the account's record in the store.
    pub account: String,
    /// The store's [description](crate::auth::TokenStore::describe) of itself.
    pub store: String,
    /// When the user logged in, if known.
    pub logged_in_at: Option<SystemTime>,
    /// When the current tokens were requested, at the login or the last refresh.
    pub renewed_at: Option<SystemTime>,
    /// When the access token expires. `None` if there is none, for example after the session has ended. A keyring does not keep
    /// access tokens for other processes.
    pub access_token_ends_at: Option<SystemTime>,
    /// When the refresh token expires, if the provider stated it.
    pub session_ends_at: Option<SystemTime>,
    /// The [generation](crate::auth::AccessToken::generation) of the tokens.
    pub generation: Option<u64>,
    /// Whether these tokens are stored. If not, they are lost when the process exits.
    pub is_stored: bool,
    /// When the refresh began whose mark is in the store without a stored reply. That refresh is running, or was interrupted.
    pub refresh_began_at: Option<SystemTime>,
    /// The last failure in this process, even if it is resolved. Other processes have their own.
    pub last_failure: Option<LastFailure>,
    /// Why the store could not be read just now. In that case, all other fields are from memory.
    pub store_error: Option<Error>,
}

/// The state of a session, in an [`Inspection`].
///
/// See [`TokenManager::inspect`](super::TokenManager::inspect) for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SessionState {
    /// The tokens are in use, and are renewed when due.
    LoggedIn,
    /// A refresh failed, and the next one is not sent before this time. A valid access token is served.
    BackingOff {
        /// The time of the next attempt.
        until: SystemTime,
    },
    /// The session has ended. A valid access token is served, unless it belongs to another user.
    NeedsLogin {
        /// Why it ended.
        reason: Error,
    },
    /// No user is logged in.
    LoggedOut,
    /// The store cannot be read, and there are no tokens in memory.
    Unknown,
}

/// A failure and its time, in an [`Inspection`].
///
/// See [`TokenManager::inspect`](super::TokenManager::inspect) for an example of the inspection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LastFailure {
    /// When it happened.
    pub at: SystemTime,
    /// The failure: of a refresh, a login, or a read or write of the store.
    pub error: Error,
}

debug_shows!(Inspection, |it|
    state: it.state,
    logged_in_at: it.logged_in_at,
    renewed_at: it.renewed_at,
    access_token_ends_at: it.access_token_ends_at,
    session_ends_at: it.session_ends_at,
    generation: it.generation,
    is_stored: it.is_stored,
    refresh_began_at: it.refresh_began_at,
    last_failure: it.last_failure,
    store_error: it.store_error,
);
