//! An access token with the times at which it is renewed and expires.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::policy::RefreshPolicy;
use crate::auth::{AccessToken, TokenSet};
use crate::error::Result;
use crate::transport::Moment;

#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) token: AccessToken,
    renew_at: Moment,
    expires_at: Moment,
    /// When the store is read again, in nanoseconds of the monotonic clock.
    next_check: AtomicU64,
    /// A refresh is under way, so that readers have nothing to start. A stale "no" only costs one lock.
    is_refreshing: AtomicBool,
}

impl Snapshot {
    /// `renew_now`: it is not known whether the refresh token is used up.
    pub(super) fn new(
        tokens: &TokenSet,
        now: Moment,
        policy: &RefreshPolicy,
        renew_now: bool,
    ) -> Result<Self> {
        let life = tokens.lifetime;
        let margin = (life / 10).min(policy.margin);
        let renew_after = match life {
            _ if renew_now => Duration::ZERO,
            // A short life leaves time for a second attempt only if the first is made at half of it.
            _ if life < Duration::from_secs(300) => life / 2,
            // Drawn once for each token, so that clients whose tokens have the same age spread out.
            _ => life.mul_f64(0.8 - 0.1 * fastrand::f64()),
        };
        // A clock that was set back must not make the token older or younger than it can be.
        let age = now
            .wall
            .duration_since(tokens.issued_at)
            .unwrap_or_default()
            .min(life);
        let limit = |after: Duration| Moment {
            wall: tokens.issued_at + after,
            monotonic: now.monotonic + after.saturating_sub(age),
        };
        let snapshot = Self {
            token: AccessToken::new(tokens.access_token.expose())?.numbered(tokens.generation),
            renew_at: limit(renew_after),
            expires_at: limit(life.saturating_sub(margin)),
            next_check: AtomicU64::default(),
            is_refreshing: AtomicBool::default(),
        };
        snapshot.set_next_check(now.monotonic.saturating_add(policy.store_check));
        Ok(snapshot)
    }

    pub(super) fn set_next_check(&self, monotonic: Duration) {
        self.next_check.store(nanos(monotonic), Ordering::Relaxed);
    }

    pub(super) fn set_refreshing(&self, is_refreshing: bool) {
        self.is_refreshing.store(is_refreshing, Ordering::Relaxed);
    }

    /// Whether it can be served and there is nothing to start.
    pub(super) fn is_fresh(&self, now: Moment) -> bool {
        let has_work = || self.is_renewal_due(now) || self.is_check_due(now);
        self.is_usable(now) && (self.is_refreshing.load(Ordering::Relaxed) || !has_work())
    }

    /// Whether the store is to be read again.
    pub(super) fn is_check_due(&self, now: Moment) -> bool {
        nanos(now.monotonic) >= self.next_check.load(Ordering::Relaxed)
    }

    pub(super) fn generation(&self) -> u64 {
        self.token.generation()
    }

    /// Before the limit on both clocks: the wall clock may be set back, and the monotonic clock is not stored.
    pub(super) fn is_usable(&self, now: Moment) -> bool {
        now.is_before(self.expires_at)
    }

    pub(super) fn is_renewal_due(&self, now: Moment) -> bool {
        !now.is_before(self.renew_at)
    }
}

/// Saturates after 584 years. Without `as_nanos`, whose 128 bits take longer than everything else of a read.
fn nanos(time: Duration) -> u64 {
    time.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(time.subsec_nanos().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    use crate::auth::store::tokens;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn snapshot(lifetime: Duration, now: Moment) -> Snapshot {
        let mut tokens = tokens(1);
        tokens.issued_at = UNIX_EPOCH + 1_000 * HOUR;
        tokens.lifetime = lifetime;
        let policy = RefreshPolicy {
            store_check: Duration::MAX,
            ..RefreshPolicy::default()
        };
        Snapshot::new(&tokens, now, &policy, false).unwrap()
    }

    fn at(wall: Duration, monotonic: Duration) -> Moment {
        Moment {
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
        let set_back = |monotonic| Moment {
            wall: UNIX_EPOCH + 900 * HOUR,
            monotonic,
        };
        assert!(!snapshot(24 * HOUR, set_back(HOUR)).is_usable(set_back(25 * HOUR)));
    }
}
