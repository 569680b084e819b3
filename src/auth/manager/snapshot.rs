//! An access token with the times at which it is renewed and given up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use super::shared::Policy;
use crate::auth::{AccessToken, TokenSet};
use crate::error::Result;
use crate::transport::Clock;

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) wall: SystemTime,
    pub(super) boot: Duration,
}

impl Moment {
    pub(super) fn now(clock: &Clock) -> Self {
        Self {
            // Tokens are given up by a margin, to which a tick of the clock is nothing.
            wall: clock.roughly_now(),
            boot: clock.boot(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) token: AccessToken,
    soft: Moment,
    hard: Moment,
    /// When the store is read again, on the boot clock.
    check: Duration,
    /// The earlier one of `soft` and `check`, so that readers compare once.
    quiet: Moment,
    /// A refresh is under way, so that readers have nothing to start. A stale "no" only costs one lock.
    attended: AtomicBool,
}

impl Snapshot {
    /// The policy's margin is how long before its end the token is given up, at most a tenth of its life. `hurry` makes it
    /// due at once: it is not known whether its refresh token is used up.
    pub(super) fn new(
        tokens: &TokenSet,
        now: Moment,
        policy: &Policy,
        hurry: bool,
    ) -> Result<Self> {
        let life = tokens.lifetime;
        let margin = (life / 10).min(policy.margin);
        let soft = match life {
            _ if hurry => Duration::ZERO,
            // Short ones leave time for a second try only if the first comes at half time.
            _ if life < Duration::from_secs(300) => life / 2,
            // Drawn once for each token: clients that got theirs in the same second spread out.
            _ => life.mul_f64(0.8 - 0.1 * fastrand::f64()),
        };
        // A clock that was set back must not make the token older or younger than it can be.
        let age = now.wall.duration_since(tokens.issued_at);
        let age = age.unwrap_or_default().min(life);
        let limit = |after: Duration| Moment {
            wall: tokens.issued_at + after,
            boot: now.boot + after.saturating_sub(age),
        };
        let soft = limit(soft);
        let snapshot = Self {
            token: AccessToken::new(tokens.access_token.expose())?.numbered(tokens.generation),
            soft,
            hard: limit(life.saturating_sub(margin)),
            check: Duration::ZERO,
            quiet: soft,
            attended: AtomicBool::new(false),
        };
        Ok(snapshot.with_next_check(now.boot.saturating_add(policy.store_check)))
    }

    /// The same token, with another time for the next check of the store.
    pub(super) fn with_next_check(&self, check: Duration) -> Self {
        let quiet = Moment {
            wall: self.soft.wall,
            boot: self.soft.boot.min(check),
        };
        Self {
            token: self.token.clone(),
            soft: self.soft,
            hard: self.hard,
            check,
            quiet,
            attended: AtomicBool::new(self.attended.load(Ordering::Relaxed)),
        }
    }

    pub(super) fn attend(&self, attended: bool) {
        self.attended.store(attended, Ordering::Relaxed);
    }

    /// Whether it serves and nothing is to be done about it.
    pub(super) fn is_settled(&self, now: Moment) -> bool {
        let quiet = now.wall < self.quiet.wall && now.boot < self.quiet.boot;
        self.is_usable(now) && (quiet || self.attended.load(Ordering::Relaxed))
    }

    /// Whether the store is to be read again.
    pub(super) fn is_check_due(&self, now: Moment) -> bool {
        now.boot >= self.check
    }

    pub(super) fn generation(&self) -> u64 {
        self.token.generation()
    }

    /// Both clocks must agree: the calendar may be set back, and an older record knows no other clock.
    pub(super) fn is_usable(&self, now: Moment) -> bool {
        now.wall < self.hard.wall && now.boot < self.hard.boot
    }

    pub(super) fn is_due(&self, now: Moment) -> bool {
        now.wall >= self.soft.wall || now.boot >= self.soft.boot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn snapshot(lifetime: Duration, now: Moment) -> Snapshot {
        let tokens = TokenSet {
            access_token: "at".into(),
            refresh_token: None,
            id_token: None,
            subject: None,
            scopes: Vec::new(),
            issued_at: UNIX_EPOCH + 1_000 * HOUR,
            lifetime,
            generation: 1,
            session_ends_at: None,
        };
        let policy = Policy {
            store_check: Duration::MAX,
            ..Policy::default()
        };
        Snapshot::new(&tokens, now, &policy, false).unwrap()
    }

    fn at(wall: Duration, boot: Duration) -> Moment {
        Moment {
            wall: UNIX_EPOCH + 1_000 * HOUR + wall,
            boot,
        }
    }

    #[test]
    fn a_day_is_renewed_in_its_last_quarter_and_given_up_before_its_end() {
        for _ in 0..100 {
            let day = snapshot(24 * HOUR, at(Duration::ZERO, HOUR));
            let after = |time: Duration| at(time, HOUR + time);
            assert!(!day.is_due(after(16 * HOUR)));
            assert!(day.is_due(after(20 * HOUR)) && day.is_usable(after(20 * HOUR)));
            assert!(day.is_usable(after(Duration::from_secs(86_400 - 31))));
            assert!(!day.is_usable(after(Duration::from_secs(86_400 - 30))));
        }
    }

    /// Row 38.
    #[test]
    fn clients_that_got_their_tokens_in_the_same_second_renew_them_apart() {
        let mut seconds = std::collections::HashMap::new();
        for _ in 0..1_000 {
            let soft = snapshot(24 * HOUR, at(Duration::ZERO, HOUR)).soft.boot;
            *seconds.entry(soft.as_secs()).or_insert(0) += 1;
        }
        // 5 % of them. Spread over 8,640 seconds, a second gets one of them or none.
        assert!(seconds.values().all(|clients| *clients <= 50));
        assert!(seconds.len() > 500, "{}", seconds.len());
    }

    /// Row 42.
    #[test]
    fn a_short_life_still_has_a_time_of_use() {
        let short = snapshot(Duration::from_secs(10), at(Duration::ZERO, HOUR));
        let after = |secs| at(Duration::from_secs(secs), HOUR + Duration::from_secs(secs));
        assert!(!short.is_due(after(4)));
        assert!(short.is_due(after(5)) && short.is_usable(after(8)));
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
    fn a_stored_token_has_only_the_rest_of_its_life() {
        let day = snapshot(24 * HOUR, at(20 * HOUR, HOUR));
        assert!(day.is_usable(at(20 * HOUR, 4 * HOUR)));
        assert!(!day.is_usable(at(20 * HOUR, 5 * HOUR)));
        // Issued "in the future": not longer than a whole life.
        let set_back = UNIX_EPOCH + 900 * HOUR;
        let odd = snapshot(
            24 * HOUR,
            Moment {
                wall: set_back,
                boot: HOUR,
            },
        );
        assert!(!odd.is_usable(Moment {
            wall: set_back,
            boot: 25 * HOUR
        }));
    }
}
