//! Events of a manager.

use std::time::SystemTime;

use tokio::sync::broadcast;

use crate::error::Error;

/// A change of an account's tokens.
///
/// What another process does is noticed with the first use of the tokens after
/// [`store_check`](super::TokenManagerBuilder::store_check), 60 seconds unless set, or with an earlier read of the store,
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
