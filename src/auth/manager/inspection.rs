//! What is known of a session, for support.

use std::time::SystemTime;

use super::TokenManager;
use super::epoch::Epoch;
use super::shared::{Shared, StoreRead};
use super::state::{State, Stop};
use crate::auth::failure::{reauth, unavailable};
use crate::auth::{Record, TokenSet};
use crate::error::Error;
use crate::transport::Moment;

/// What is known of an account's session, for support; made by [`TokenManager::inspect`]. It holds no token.
///
/// The user, the account's key and the store may name a person or a path: print them on request only. `Debug` leaves them
/// out.
///
/// See [`TokenManager::inspect`] for an example.
#[derive(Clone)]
#[non_exhaustive]
pub struct Inspection {
    /// Whether the tokens can be used.
    pub state: SessionState,
    /// The user, as the `sub` claim of the id token. After [`Event::UserReplaced`](super::Event::UserReplaced) the other
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
    /// Since when a refresh is marked in the store whose reply is not stored yet: one that runs, or that was cut off.
    pub refresh_began_at: Option<SystemTime>,
    /// The last failure in this process, also when it has been overcome since. Other processes have their own.
    pub last_failure: Option<LastFailure>,
    /// Why the store could not be read just now. Everything else is from memory then.
    pub store_error: Option<Error>,
}

/// The state of a session, in an [`Inspection`].
///
/// See [`TokenManager::inspect`] for an example.
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
/// See [`TokenManager::inspect`] for an example of the inspection.
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

impl TokenManager {
    /// The session for support: its user, its times, its store and its last failure, but no token.
    ///
    /// Reads the store once, at most for the caller's [`wait`](super::TokenManagerBuilder::wait), and notices what other
    /// processes did, as the [check of the store](super::TokenManagerBuilder::store_check) does. Nothing is sent to the
    /// provider, nothing is renewed and nothing is written. Why a session ended is stored with it, so a new process reports
    /// the reason as well.
    ///
    /// ```
    /// use envd_sdk::auth::{SessionState, TokenManager};
    /// # use envd_sdk::fake::Fake;
    ///
    /// # equipment::example(async {
    /// # let fake = Fake::start().await;
    /// let manager = TokenManager::builder(fake.provider().build()?).build()?;
    /// let before = manager.inspect().await;
    /// assert!(matches!(before.state, SessionState::LoggedOut));
    ///
    /// # let login = manager.provider().authorization().start()?;
    /// # let callback = fake.consent(login.url())?;
    /// manager.complete_login(login, callback.as_str()).await?;
    /// let session = manager.inspect().await;
    /// assert!(matches!(session.state, SessionState::LoggedIn) && session.is_stored);
    /// assert_eq!(session.subject, manager.subject());
    /// println!("{} in the {}", session.account, session.store);
    /// # assert_eq!(session.store, "memory of this process");
    /// # Ok(())
    /// # });
    /// ```
    pub async fn inspect(&self) -> Inspection {
        let shared = &self.0;
        let epoch = Epoch::current(shared, &shared.state());
        let (record, store_error) = match read_store(shared).await {
            Ok(read) => {
                let record = read.stored.as_ref().map(|stored| stored.record.clone());
                match epoch.reconcile(read) {
                    Err(Stop::Failed(error)) if !error.is_reauth_required() => {
                        (record, Some(error))
                    }
                    // The state has the end of a session, and what a login or logout has changed meanwhile.
                    _ => (record, None),
                }
            }
            Err(error) => {
                shared.note_failure(&error);
                (None, Some(error))
            }
        };
        let now = shared.now();
        let can_serve = shared.usable_token(None).is_some();
        let state = shared.state();
        let session = session_state(&state, now, can_serve, store_error.is_some());
        let cached = state.cached.as_ref();
        let needs_login = matches!(session, SessionState::NeedsLogin { .. });
        // Memory has no tokens of a session that had ended, or belonged to another user, when it was read.
        let ended = record.as_ref().filter(|_| cached.is_none() && needs_login);
        let tokens = cached
            .map(|cached| &*cached.tokens)
            .or(ended.map(Record::tokens));
        Inspection {
            state: session,
            subject: tokens.and_then(|tokens| tokens.subject.clone()),
            account: shared.key.to_string(),
            store: shared.store.describe(),
            logged_in_at: tokens.and_then(|tokens| tokens.logged_in_at),
            renewed_at: tokens.map(TokenSet::issued_at),
            access_token_ends_at: tokens
                .filter(|tokens| !tokens.lifetime.is_zero())
                .map(TokenSet::expires_at),
            session_ends_at: tokens.and_then(|tokens| tokens.session_ends_at),
            generation: tokens.map(TokenSet::generation),
            is_stored: cached.map_or(ended.is_some(), |cached| cached.saved),
            refresh_began_at: record.as_ref().and_then(Record::refresh_began_at),
            last_failure: state.last_failure.clone(),
            store_error,
        }
    }
}

async fn read_store(shared: &Shared) -> Result<StoreRead, Error> {
    let read = shared.clock().within(shared.policy.wait, shared.load());
    let slow = || unavailable("the token store takes longer than the caller waits");
    Ok(read.await.ok_or_else(slow)??)
}

fn session_state(state: &State, now: Moment, can_serve: bool, is_unread: bool) -> SessionState {
    if let Some(reason) = state.dead.clone() {
        return SessionState::NeedsLogin { reason };
    }
    let Some(cached) = &state.cached else {
        return if is_unread {
            SessionState::Unknown
        } else {
            SessionState::LoggedOut
        };
    };
    match &state.pause {
        Some(pause) if now.monotonic < pause.until => {
            if pause.error.is_reauth_required() {
                let reason = pause.error.clone();
                return SessionState::NeedsLogin { reason };
            }
            let until = now.wall + pause.until.saturating_sub(now.monotonic);
            SessionState::BackingOff { until }
        }
        _ if cached.tokens.refresh_token.is_none() && !can_serve => SessionState::NeedsLogin {
            reason: reauth("there is no refresh token"),
        },
        _ => SessionState::LoggedIn,
    }
}
