//! Events of a manager, and the state of a session for support.

use std::time::SystemTime;

use tokio::sync::broadcast;

use crate::error::Error;

/// A change of an account's tokens.
///
/// Changes by another process show with the first use of the tokens after
/// [`store_check`](super::Timing::store_check), 60 seconds unless set, or with an earlier read of the store,
/// such as [`inspect`](super::TokenManager::inspect). No event names the user: [`inspect`](super::TokenManager::inspect)
/// does.
///
/// ```
/// use envd_sdk::auth::{Event, MemoryStore, TokenManager};
/// # use envd_sdk::fake::Fake;
///
/// # equipment::example(async {
/// # let fake = Fake::start().await;
/// // Two windows of a program, or two programs: what they have in common is the store.
/// let store = MemoryStore::new();
/// let window = || TokenManager::builder(fake.provider().build()?).store(store.clone()).build();
/// let (first, second) = (window()?, window()?);
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
    /// A user has logged in.
    LoggedIn {
        /// The [generation](crate::auth::AccessToken::generation) of the new tokens.
        generation: u64,
        /// In another process: the same user again, or any user after a logout. Its tokens are in use here from now on.
        elsewhere: bool,
    },
    /// Another user has logged in under the account's key, in another process. Those tokens are not used here before a
    /// login or a logout in this process: [`ReauthRequired`](Self::ReauthRequired) follows, unless the session had ended
    /// before.
    UserReplaced {
        /// The [generation](crate::auth::AccessToken::generation) of the other user's tokens.
        generation: u64,
    },
    /// Another process had renewed the tokens of the same login.
    Adopted {
        /// The [generation](crate::auth::AccessToken::generation) of the new tokens.
        generation: u64,
    },
    /// The store has earlier tokens of the same login: its file or table came back from a backup, a roaming profile or a
    /// synchronised folder. Their refresh token is used up, so it is not sent: the tokens in memory stay in use and are stored
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
    /// The tokens are gone: the user was logged out.
    LoggedOut {
        /// In another process.
        elsewhere: bool,
    },
    /// The reply to a refresh was lost. The refresh token may be used up.
    RotationAmbiguous,
}

/// The events of a manager since the subscription; made by [`TokenManager::events`](super::TokenManager::events).
///
/// See [`Event`] for an example.
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

/// The state of an account's session, for support; made by [`TokenManager::inspect`](super::TokenManager::inspect). It holds no token.
///
/// The user, the account's key and the store may name a person or a path: print them on request only. `Debug` leaves them
/// out.
///
/// See [`TokenManager::inspect`](super::TokenManager::inspect) for an example.
#[derive(Clone)]
#[non_exhaustive]
pub struct Inspection {
    /// Whether the tokens can be used.
    pub state: SessionState,
    /// The user, as the `sub` claim of the id token. After [`Event::UserReplaced`] the other
    /// user, whose tokens are in the store.
    pub subject: Option<String>,
    /// The key of the account's record in the store.
    pub account: String,
    /// The store, as it [describes](crate::auth::TokenStore::describe) itself.
    pub store: String,
    /// When the user logged in, if it is known.
    pub logged_in_at: Option<SystemTime>,
    /// When the current tokens were requested: at the login or at the last refresh.
    pub renewed_at: Option<SystemTime>,
    /// When the access token expires. `None` if there is none, as for a session that has ended; a keyring keeps none for
    /// other processes.
    pub access_token_ends_at: Option<SystemTime>,
    /// When the refresh token expires, if the provider has said so.
    pub session_ends_at: Option<SystemTime>,
    /// The [generation](crate::auth::AccessToken::generation) of the tokens.
    pub generation: Option<u64>,
    /// Whether the store has these tokens. If not, they are lost when the process ends.
    pub is_stored: bool,
    /// Since when the store has the mark of a refresh without a stored reply: a refresh that runs, or that was cut off.
    pub refresh_began_at: Option<SystemTime>,
    /// The last failure in this process, also when it has been overcome since. Other processes have their own.
    pub last_failure: Option<LastFailure>,
    /// Why the store could not be read just now. Everything else is from memory then.
    pub store_error: Option<Error>,
}

/// The state of a session, in an [`Inspection`].
///
/// See [`TokenManager::inspect`](super::TokenManager::inspect) for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SessionState {
    /// The tokens are in use, and are renewed when it is time.
    LoggedIn,
    /// A refresh failed, and no other one is sent before this time. An access token that is still valid is served.
    BackingOff {
        /// The time of the next attempt.
        until: SystemTime,
    },
    /// The session has ended. An access token that is still valid is served, unless it belongs to another user.
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
    /// What failed: a refresh, a login, or a read or write of the store.
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
