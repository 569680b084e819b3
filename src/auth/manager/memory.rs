//! The in-memory state of a manager: its settings, the tokens, and the known state of the stored record. No I/O.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::report::{LastFailure, SessionState};
use super::timing::Timing;
use crate::auth::failure::reauth;
use crate::auth::{AccessToken, TokenSet, Version};
use crate::error::{Error, Result};
use crate::transport::{ClockReading, later};

/// Times and switches. The [builder](super::TokenManagerBuilder) documents them.
#[derive(Clone, Debug, Default)]
pub(super) struct RefreshPolicy {
    pub(super) timing: Timing,
    /// Renew a token only when no valid one is left, never in advance.
    pub(super) no_background: bool,
    pub(super) strict: bool,
}

/// The access token being served. Readers need no lock, so a hanging refresh never blocks them.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) token: AccessToken,
    renew_at: ClockReading,
    expires_at: ClockReading,
    /// When a reader should take the lock to see whether there is a task to start, in nanoseconds of the monotonic clock.
    /// Checking early is harmless.
    look_at: AtomicU64,
}

impl Snapshot {
    /// `renew_now`: the refresh token may be used up.
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
            // With a short lifetime, a second attempt is possible only if the first one is made halfway.
            _ if life < Duration::from_secs(300) => life / 2,
            // Random per token, so that clients with tokens of the same age spread out.
            _ => life.mul_f64(0.8 - 0.1 * fastrand::f64()),
        };
        // If the clock was set back, the token must still get a plausible age.
        let age = now
            .wall
            .duration_since(tokens.issued_at)
            .unwrap_or_default()
            .min(life);
        let limit = |after: Duration| ClockReading {
            wall: later(tokens.issued_at, after),
            monotonic: now.monotonic.saturating_add(after.saturating_sub(age)),
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

    /// Checks both clocks: the wall clock may be set back, and the monotonic clock is not stored.
    pub(super) fn is_usable(&self, now: ClockReading) -> bool {
        now.is_before(self.expires_at)
    }

    /// Whether the token can be served and there is no task to start.
    pub(super) fn is_fresh(&self, now: ClockReading) -> bool {
        self.is_usable(now) && nanos(now.monotonic) < self.look_at.load(Ordering::Relaxed)
    }

    pub(super) fn is_renewal_due(&self, now: ClockReading) -> bool {
        !now.is_before(self.renew_at)
    }

    /// Schedules the next check at this time, or at the renewal if that is earlier and still to come.
    pub(super) fn check_again(&self, now: ClockReading, at: Duration) {
        let renewal = Some(self.renew_at.monotonic).filter(|renewal| *renewal > now.monotonic);
        let at = renewal.map_or(at, |renewal| renewal.min(at));
        self.look_at.store(nanos(at), Ordering::Relaxed);
    }
}

/// Saturates after 584 years. `as_nanos` is slower: its 128-bit arithmetic takes longer than the rest of a read.
fn nanos(time: Duration) -> u64 {
    time.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(time.subsec_nanos().into())
}

/// All state under the manager's lock.
#[derive(Default)]
pub(super) struct State {
    /// The number of logins and logouts.
    pub(super) session: u64,
    /// The number of logouts. A logout aborts a running login, whereas a later login merely replaces an earlier one.
    pub(super) logouts: u64,
    pub(super) cached: Option<CachedTokens>,
    /// The user of the tokens. Kept when the tokens are dead, so that another user's tokens are never served.
    pub(super) account: Option<String>,
    /// The state left by the refreshes of this session.
    pub(super) refreshes: RefreshState,
    /// The number of writes and deletions by this manager. A read that began before the latest one is outdated.
    pub(super) writes: u64,
    /// Set by a shutdown: no refresh starts afterwards.
    pub(super) closed: bool,
    pub(super) last_generation: u64,
    /// The login of the latest tokens seen, kept after its end; `None` until the store was read or written.
    pub(super) login: Option<SeenLogin>,
    /// Kept after a success, for support.
    pub(super) last_failure: Option<LastFailure>,
    /// When to read the store again while serving tokens from memory.
    pub(super) check_at: Duration,
    pub(super) check: Option<JoinHandle<()>>,
    /// The task that retries storing the cached tokens.
    pub(super) saver: Option<JoinHandle<()>>,
    /// Alive until a logout has deleted the stored record, which may be read in the meantime.
    pub(super) deletion: Weak<()>,
}

/// The state of refreshes between two logins or logouts.
#[derive(Default)]
pub(super) struct RefreshState {
    /// Why the cached tokens can never be renewed.
    pub(super) dead: Option<Error>,
    /// A failure to return to callers until the next attempt.
    pub(super) pause: Option<(Duration, Error)>,
    /// The number of consecutive failures.
    pub(super) failures: u32,
    /// When a refresh for a refused token last started.
    pub(super) forced_at: Option<Duration>,
    /// Another process's mark on the cached tokens.
    pub(super) foreign_mark: Option<ForeignMark>,
    /// The latest refresh, until it ends.
    pub(super) refresh: Option<Completion>,
}

/// Tokens in memory, and their relation to the record in the store.
#[derive(Clone)]
pub(super) struct CachedTokens {
    pub(super) tokens: Arc<TokenSet>,
    /// The version of the record that they replace or that contains them.
    pub(super) version: Option<Version>,
    /// Whether they are stored.
    pub(super) saved: bool,
    /// Whether their refresh token was sent without getting a reply.
    pub(super) possibly_used: bool,
    /// The stored tokens that a refresh exchanged for these; `None` for tokens of a login, and for stored tokens.
    pub(super) base: Option<Arc<TokenSet>>,
}

/// A mark by another process that began to refresh the cached tokens and has stored no reply.
#[derive(Clone, Copy)]
pub(super) struct ForeignMark {
    pub(super) version: Version,
    /// When it was first read.
    pub(super) since: Duration,
}

/// The eventual result of a refresh. All callers share the channel.
pub(super) type Completion = watch::Receiver<Option<Result<AccessToken, Stop>>>;

/// Why a task ended without tokens.
#[derive(Clone)]
pub(super) enum Stop {
    /// A login or logout intervened.
    Superseded,
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Identifies a login.
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

    /// The first reply that names the user may be that of a refresh.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let users = self.subject.as_ref().zip(other.subject.as_ref());
        self.at == other.at && users.is_none_or(|(one, two)| one == two)
    }
}

impl State {
    /// Records the login of these tokens. Returns whether it differs from the previous one.
    pub(super) fn note_login(&mut self, tokens: &TokenSet) -> bool {
        let login = SeenLogin::of(tokens);
        let seen = self.login.as_ref();
        let is_other = seen.is_some_and(|seen| !seen.is_same(&login));
        self.login = Some(login);
        is_other
    }

    /// Whether memory has no tokens that a refresh could renew.
    pub(super) fn needs_read(&self) -> bool {
        self.cached.is_none() || self.refreshes.dead.is_some()
    }

    /// Whether tokens in memory are not stored.
    pub(super) fn has_unsaved(&self) -> bool {
        self.cached.as_ref().is_some_and(|cached| !cached.saved)
    }

    /// The failure to return now.
    pub(super) fn paused(&self, monotonic: Duration) -> Option<&(Duration, Error)> {
        let pause = self.refreshes.pause.as_ref();
        pause.filter(|(until, _)| monotonic < *until)
    }

    /// The running refresh. Excludes one that panicked or lost its runtime.
    pub(super) fn running(&self) -> Option<&Completion> {
        let started = self.refreshes.refresh.as_ref();
        started.filter(|refresh| refresh.has_changed().is_ok())
    }

    /// Caches new tokens in place of `old`. They are not stored yet.
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

    /// The session state for support. `has_token`: one can be served; `is_unread`: the store could not be read.
    pub(super) fn session(
        &self,
        now: ClockReading,
        has_token: bool,
        is_unread: bool,
    ) -> SessionState {
        if let Some(reason) = self.refreshes.dead.clone() {
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
                until: later(now.wall, until.saturating_sub(now.monotonic)),
            },
            None if has_refresh_token || has_token => SessionState::LoggedIn,
            None => SessionState::NeedsLogin {
                reason: reauth("there is no refresh token"),
            },
        }
    }
}

impl CachedTokens {
    /// Tokens that should replace the record of this version.
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
        // 5 % of all. Spread over 8,640 seconds, most seconds get none or one.
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
        // The wall clock jumped ahead; then it was set back while the machine slept.
        assert!(!day.is_usable(at(25 * HOUR, HOUR)));
        assert!(!day.is_usable(at(HOUR, 26 * HOUR)));
    }

    #[test]
    fn a_stored_token_has_the_rest_of_its_lifetime() {
        let day = snapshot(24 * HOUR, at(20 * HOUR, HOUR));
        assert!(day.is_usable(at(20 * HOUR, 4 * HOUR)));
        assert!(!day.is_usable(at(20 * HOUR, 5 * HOUR)));
        // Issued "in the future": served for one full lifetime at most.
        let set_back = |monotonic| ClockReading {
            wall: UNIX_EPOCH + 900 * HOUR,
            monotonic,
        };
        assert!(!snapshot(24 * HOUR, set_back(HOUR)).is_usable(set_back(25 * HOUR)));
    }
}
