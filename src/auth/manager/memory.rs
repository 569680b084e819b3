//! The memory of a manager: its settings, the tokens, and the known state of the stored record. No I/O.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::builder::Timing;
use super::report::{LastFailure, SessionState};
use crate::auth::failure::reauth;
use crate::auth::{AccessToken, TokenSet, Version};
use crate::error::{Error, Result};
use crate::transport::ClockReading;

/// Times and switches; the [builder](super::TokenManagerBuilder) describes them.
#[derive(Clone, Debug, Default)]
pub(super) struct RefreshPolicy {
    pub(super) timing: Timing,
    /// Whether a token is renewed only when no valid one is left, and not ahead of time.
    pub(super) no_background: bool,
    pub(super) strict: bool,
}

/// An access token as it is served, without a lock: a refresh that hangs never stops a reader.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) token: AccessToken,
    renew_at: ClockReading,
    expires_at: ClockReading,
    /// When a reader takes the lock again to see whether there is something to start, in nanoseconds of the monotonic
    /// clock. Early is harmless.
    look_at: AtomicU64,
}

impl Snapshot {
    /// `renew_now`: it is not known whether the refresh token is used up.
    pub(super) fn new(
        tokens: &TokenSet,
        now: ClockReading,
        policy: &RefreshPolicy,
        renew_now: bool,
    ) -> Result<Self> {
        let life = tokens.lifetime;
        let margin = (life / 10).min(policy.timing.expiry_margin);
        let renew_after = match life {
            _ if renew_now => Duration::ZERO,
            // A short life leaves time for a second attempt only if the first is made at half of it.
            _ if life < Duration::from_secs(300) => life / 2,
            // Drawn once for each token, so that clients with tokens of the same age spread out.
            _ => life.mul_f64(0.8 - 0.1 * fastrand::f64()),
        };
        // A clock that was set back must not make the token older or younger than it can be.
        let age = now
            .wall
            .duration_since(tokens.issued_at)
            .unwrap_or_default()
            .min(life);
        let limit = |after: Duration| ClockReading {
            wall: tokens.issued_at + after,
            monotonic: now.monotonic + after.saturating_sub(age),
        };
        Ok(Self {
            token: AccessToken::new(tokens.access_token.expose())?.numbered(tokens.generation),
            renew_at: limit(renew_after),
            expires_at: limit(life.saturating_sub(margin)),
            look_at: AtomicU64::default(),
        })
    }

    pub(super) fn generation(&self) -> u64 {
        self.token.generation()
    }

    /// Before the limit on both clocks: the wall clock may be set back, and the monotonic clock is not stored.
    pub(super) fn is_usable(&self, now: ClockReading) -> bool {
        now.is_before(self.expires_at)
    }

    /// Whether it can be served and there is nothing to start.
    pub(super) fn is_fresh(&self, now: ClockReading) -> bool {
        self.is_usable(now) && nanos(now.monotonic) < self.look_at.load(Ordering::Relaxed)
    }

    pub(super) fn is_renewal_due(&self, now: ClockReading) -> bool {
        !now.is_before(self.renew_at)
    }

    /// Sets the next look to this time, or to the renewal if that is still to come and earlier.
    pub(super) fn look_again(&self, now: ClockReading, at: Duration) {
        let renewal = Some(self.renew_at.monotonic).filter(|renewal| *renewal > now.monotonic);
        let at = renewal.map_or(at, |renewal| renewal.min(at));
        self.look_at.store(nanos(at), Ordering::Relaxed);
    }
}

/// Saturates after 584 years. Not `as_nanos`: its 128 bits take longer than the rest of a read.
fn nanos(time: Duration) -> u64 {
    time.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(time.subsec_nanos().into())
}

/// Everything that is read and changed under one lock.
#[derive(Default)]
pub(super) struct State {
    /// Counts logins and logouts.
    pub(super) epoch: u64,
    /// Counts logouts: one aborts a login that is under way, while of two logins the later one wins.
    pub(super) logouts: u64,
    pub(super) cached: Option<CachedTokens>,
    /// The user of the tokens. Kept when they are dead, so that tokens of another user are never served.
    pub(super) account: Option<String>,
    /// What refreshes of this epoch have left.
    pub(super) trials: Trials,
    /// The store's versions that this manager wrote or deleted, counted: a read that began before one is out of date.
    pub(super) writes: u64,
    /// After a shutdown no refresh starts.
    pub(super) closed: bool,
    pub(super) last_generation: u64,
    /// The login of the tokens that were seen last, kept after its end; `None` until the store was read or written.
    pub(super) login: Option<SeenLogin>,
    /// Kept after a success, for support.
    pub(super) last_failure: Option<LastFailure>,
    /// When the store is read again while tokens are served from memory.
    pub(super) check_at: Duration,
    pub(super) check: Option<JoinHandle<()>>,
    /// The task that stores the cached tokens later.
    pub(super) saver: Option<JoinHandle<()>>,
    /// Alive while a logout deletes the stored record, which may be read until then.
    pub(super) deletion: Weak<()>,
}

/// The state of the refreshes between two logins or logouts.
#[derive(Default)]
pub(super) struct Trials {
    /// Why the cached tokens can never be renewed.
    pub(super) dead: Option<Error>,
    /// A failure that is returned to callers until it is time to try again.
    pub(super) pause: Option<(Duration, Error)>,
    /// Failures in a row.
    pub(super) failures: u32,
    /// When a token that the server refused was last renewed.
    pub(super) forced_at: Option<Duration>,
    /// The mark of another process on the cached tokens.
    pub(super) foreign_mark: Option<ForeignMark>,
    /// The refresh that was started last, until it ends.
    pub(super) refresh: Option<Completion>,
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

/// Tells one login from another.
#[derive(Default)]
pub(super) struct SeenLogin {
    subject: Option<String>,
    at: Option<SystemTime>,
}

impl SeenLogin {
    pub(super) fn of(tokens: &TokenSet) -> Self {
        Self {
            subject: tokens.subject.clone(),
            at: tokens.logged_in_at,
        }
    }

    /// A refresh may be the first reply that names the user.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let users = self.subject.as_ref().zip(other.subject.as_ref());
        self.at == other.at && users.is_none_or(|(one, two)| one == two)
    }
}

impl State {
    /// Remembers the login of some tokens; returns whether another one, or none, was seen before.
    pub(super) fn note_login(&mut self, tokens: &TokenSet) -> bool {
        let login = SeenLogin::of(tokens);
        let seen = self.login.as_ref();
        let is_other = seen.is_some_and(|seen| !seen.is_same(&login));
        self.login = Some(login);
        is_other
    }

    /// Whether tokens in memory are not stored.
    pub(super) fn has_unsaved(&self) -> bool {
        self.cached.as_ref().is_some_and(|cached| !cached.saved)
    }

    /// The failure to return now.
    pub(super) fn paused(&self, monotonic: Duration) -> Option<&(Duration, Error)> {
        let pause = self.trials.pause.as_ref();
        pause.filter(|(until, _)| monotonic < *until)
    }

    /// The refresh that runs. One that panicked, or whose runtime has ended, does not.
    pub(super) fn running(&self) -> Option<&Completion> {
        let started = self.trials.refresh.as_ref();
        started.filter(|refresh| refresh.has_changed().is_ok())
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
            base,
            ..CachedTokens::unsaved(tokens, old.version)
        };
        self.cached.insert(new).clone()
    }

    /// The state for support. `has_token`: one can be served; `is_unread`: the store could not be read.
    pub(super) fn session(
        &self,
        now: ClockReading,
        has_token: bool,
        is_unread: bool,
    ) -> SessionState {
        if let Some(reason) = self.trials.dead.clone() {
            return SessionState::NeedsLogin { reason };
        }
        let has_refresh_token = match &self.cached {
            None if is_unread => return SessionState::Unknown,
            None => return SessionState::LoggedOut,
            Some(cached) => cached.tokens.refresh_token.is_some(),
        };
        match self.paused(now.monotonic).cloned() {
            Some((_, reason)) if reason.is_reauth_required() => SessionState::NeedsLogin { reason },
            Some((until, _)) => SessionState::BackingOff {
                until: now.wall + until.saturating_sub(now.monotonic),
            },
            None if has_refresh_token || has_token => SessionState::LoggedIn,
            None => SessionState::NeedsLogin {
                reason: reauth("there is no refresh token"),
            },
        }
    }
}

impl CachedTokens {
    /// Tokens that belong in the place of this version.
    pub(super) fn unsaved(tokens: TokenSet, version: Option<Version>) -> Self {
        Self {
            tokens: Arc::new(tokens),
            version,
            saved: false,
            possibly_used: false,
            base: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    use crate::auth::store::tokens;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn snapshot(lifetime: Duration, now: ClockReading) -> Snapshot {
        let mut tokens = tokens(1);
        tokens.issued_at = UNIX_EPOCH + 1_000 * HOUR;
        tokens.lifetime = lifetime;
        Snapshot::new(&tokens, now, &RefreshPolicy::default(), false).unwrap()
    }

    fn at(wall: Duration, monotonic: Duration) -> ClockReading {
        ClockReading {
            wall: UNIX_EPOCH + 1_000 * HOUR + wall,
            monotonic,
        }
    }

    #[test]
    fn a_token_of_a_day_is_renewed_early_and_not_served_until_its_end() {
        for _ in 0..100 {
            let day = snapshot(24 * HOUR, at(Duration::ZERO, HOUR));
            let after = |time: Duration| at(time, HOUR + time);
            assert!(!day.is_renewal_due(after(16 * HOUR)));
            assert!(day.is_renewal_due(after(20 * HOUR)) && day.is_usable(after(20 * HOUR)));
            assert!(day.is_usable(after(Duration::from_secs(86_400 - 31))));
            assert!(!day.is_usable(after(Duration::from_secs(86_400 - 30))));
        }
    }

    /// Row 38.
    #[test]
    fn renewals_of_tokens_of_the_same_second_spread_out() {
        let mut seconds = std::collections::HashMap::new();
        for _ in 0..1_000 {
            let soft = snapshot(24 * HOUR, at(Duration::ZERO, HOUR))
                .renew_at
                .monotonic;
            *seconds.entry(soft.as_secs()).or_insert(0) += 1;
        }
        // 5 % of them. Spread over 8,640 seconds, a second gets one of them or none.
        assert!(seconds.values().all(|clients| *clients <= 50));
        assert!(seconds.len() > 500, "{}", seconds.len());
    }

    /// Row 42.
    #[test]
    fn a_short_lived_token_is_served_and_renewed() {
        let short = snapshot(Duration::from_secs(10), at(Duration::ZERO, HOUR));
        let after = |secs| at(Duration::from_secs(secs), HOUR + Duration::from_secs(secs));
        assert!(!short.is_renewal_due(after(4)));
        assert!(short.is_renewal_due(after(5)) && short.is_usable(after(8)));
        assert!(!short.is_usable(after(9)));
    }

    /// Row 39.
    #[test]
    fn a_token_past_the_limit_of_either_clock_is_not_used() {
        let day = snapshot(24 * HOUR, at(Duration::ZERO, HOUR));
        // The calendar jumped ahead; the calendar was set back while the machine slept.
        assert!(!day.is_usable(at(25 * HOUR, HOUR)));
        assert!(!day.is_usable(at(HOUR, 26 * HOUR)));
    }

    #[test]
    fn a_stored_token_has_the_rest_of_its_lifetime() {
        let day = snapshot(24 * HOUR, at(20 * HOUR, HOUR));
        assert!(day.is_usable(at(20 * HOUR, 4 * HOUR)));
        assert!(!day.is_usable(at(20 * HOUR, 5 * HOUR)));
        // Issued "in the future": not longer than a whole life.
        let set_back = |monotonic| ClockReading {
            wall: UNIX_EPOCH + 900 * HOUR,
            monotonic,
        };
        assert!(!snapshot(24 * HOUR, set_back(HOUR)).is_usable(set_back(25 * HOUR)));
    }

    #[test]
    fn the_mark_wait_covers_two_requests_and_the_time_to_store_the_reply() {
        let secs = Duration::from_secs;
        let wait = |timeout, signing| Timing::default().wait_at_mark(secs(timeout), secs(signing));
        assert_eq!(wait(30, 0), secs(120));
        assert_eq!(wait(10, 0), secs(100));
        assert_eq!(wait(60, 0), secs(180));
        // A first request that is sent when its assertion is signed.
        assert_eq!(wait(30, 10), secs(130));
        assert_eq!(wait(60, 10), secs(180));
    }
}
