//! What a manager keeps under its lock.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use super::LastFailure;
use crate::auth::{AccessToken, TokenSet, Version};
use crate::error::Error;

#[derive(Default)]
pub(super) struct State {
    /// Counts logins and logouts; see [`Epoch`](super::epoch::Epoch).
    pub(super) epoch: u64,
    /// Counts logouts alone: a logout aborts a login that is under way, while of two logins the later one wins.
    pub(super) logouts: u64,
    pub(super) cached: Option<CachedTokens>,
    /// The user of the tokens. Kept when they are dead, so that tokens of another user are never served.
    pub(super) account: Option<String>,
    /// Why the cached tokens can never be renewed.
    pub(super) dead: Option<Error>,
    pub(super) pause: Option<RefreshPause>,
    /// Failures in a row.
    pub(super) failures: u32,
    /// When a token that the server refused was last renewed.
    pub(super) forced_at: Option<Duration>,
    /// The refresh that is registered or running.
    pub(super) refresh: Option<Completion>,
    /// Alive while a task stores the cached tokens later.
    pub(super) saver: Weak<()>,
    /// Alive while the store is read in the background.
    pub(super) store_check: Weak<()>,
    /// Alive while a logout deletes the stored record, which may be read until then.
    pub(super) deletion: Weak<()>,
    /// The mark of another process on the cached tokens.
    pub(super) foreign_mark: Option<ForeignMark>,
    /// The marked version that the application has declared abandoned.
    pub(super) abandoned: Option<Version>,
    /// Counts the writes of this manager: a read that began before one is out of date.
    pub(super) writes: u64,
    /// After a shutdown no refresh starts.
    pub(super) closed: bool,
    pub(super) last_generation: u64,
    /// The login of the tokens that were seen last, kept after its end; `None` until the store was read or written.
    pub(super) login: Option<SeenLogin>,
    /// Kept after a success, for support.
    pub(super) last_failure: Option<LastFailure>,
}

/// Tells one login from another.
#[derive(Default)]
pub(super) struct SeenLogin {
    subject: Option<String>,
    at: Option<SystemTime>,
}

impl SeenLogin {
    fn of(tokens: &TokenSet) -> Self {
        Self {
            subject: tokens.subject.clone(),
            at: tokens.logged_in_at,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        // A refresh may be the first reply that names the user.
        let users = self.subject.as_ref().zip(other.subject.as_ref());
        self.at == other.at && users.is_none_or(|(one, two)| one == two)
    }
}

/// Tokens in memory, and how they relate to the record in the store.
#[derive(Clone)]
pub(super) struct CachedTokens {
    pub(super) tokens: Arc<TokenSet>,
    /// The version of the record that they replace or that holds them.
    pub(super) version: Option<Version>,
    /// Whether the store has them.
    pub(super) saved: bool,
    /// Whether their refresh token was sent and no reply came.
    pub(super) possibly_used: bool,
    /// The stored tokens from which a refresh made these; `None` for those of a login, and for stored ones.
    pub(super) base: Option<Arc<TokenSet>>,
}

/// Another process began to refresh the cached tokens, and no reply is stored.
#[derive(Clone, Copy)]
pub(super) struct ForeignMark {
    pub(super) version: Version,
    /// When it was first read.
    pub(super) since: Duration,
}

/// A failure that is returned to callers until it is time to try again.
#[derive(Clone)]
pub(super) struct RefreshPause {
    pub(super) until: Duration,
    pub(super) error: Error,
}

/// The outcome of a refresh, once there is one. All callers wait on the same channel.
pub(super) type Completion = watch::Receiver<Option<Result<AccessToken, Stop>>>;

/// Why a task ended without tokens.
#[derive(Clone)]
pub(super) enum Stop {
    /// A login or a logout came in between.
    Superseded,
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl State {
    /// Remembers the login of some tokens; returns whether another one, or none, was seen before.
    pub(super) fn note_login(&mut self, tokens: &TokenSet) -> bool {
        let login = SeenLogin::of(tokens);
        let is_other = self
            .login
            .as_ref()
            .is_some_and(|seen| !seen.is_same(&login));
        self.login = Some(login);
        is_other
    }

    /// Whether tokens in memory are not stored.
    pub(super) fn has_unsaved(&self) -> bool {
        self.cached.as_ref().is_some_and(|cached| !cached.saved)
    }

    /// The failure to return now.
    pub(super) fn paused(&self, monotonic: Duration) -> Option<Error> {
        let pause = self.pause.as_ref()?;
        (monotonic < pause.until).then(|| pause.error.clone())
    }

    /// Caches new tokens in the place of old ones; they are not stored yet.
    pub(super) fn replace_tokens(&mut self, old: &CachedTokens, tokens: TokenSet) -> CachedTokens {
        // The old tokens may have been stored since they were read.
        let old = self
            .cached
            .as_ref()
            .filter(|cached| Arc::ptr_eq(&cached.tokens, &old.tokens))
            .unwrap_or(old);
        let base = if old.saved {
            Some(old.tokens.clone())
        } else {
            old.base.clone()
        };
        let new = CachedTokens {
            tokens: Arc::new(tokens),
            version: old.version,
            saved: false,
            possibly_used: false,
            base,
        };
        self.cached.insert(new).clone()
    }
}
