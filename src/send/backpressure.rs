//! Defers requests until `Retry-After` has passed: those of one user after 429, those of all users of the pool after 503.

use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::select;
use tokio::sync::Notify;

use crate::error::{Error, ReplyParts, Result};
use crate::locked::lock;
use crate::transport::{Clock, RetryPolicy};

/// The longest pause, whatever `Retry-After` is: a wrong date in one reply (RFC 9110 section 10.2.3 allows any) must not
/// disable the client for the life of the process.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Until when requests are deferred, on the monotonic clock, and the refusal that caused it.
#[derive(Default)]
pub(crate) struct Backpressure {
    pause: Mutex<Option<(Duration, Error)>>,
    ended: Notify,
}

impl Backpressure {
    /// Starts a pause after a refusal with this status and `Retry-After`. The calls that are deferred get the status alone: the
    /// text may be about the user of the refused call.
    pub(crate) fn note(&self, clock: &Clock, status: u16, error: &Error) {
        let Some(wait) = error
            .retry_after()
            .filter(|wait| !wait.is_zero())
            .filter(|_| error.http_status() == Some(status))
        else {
            return;
        };
        let refusal = Error::http(ReplyParts::status_only(status));
        let until = clock.monotonic() + wait.min(LONGEST);
        let mut pause = lock(&self.pause);
        if pause.as_ref().is_none_or(|(known, _)| *known < until) {
            *pause = Some((until, refusal));
        }
    }

    /// The remaining pause, and the refusal that caused it.
    pub(crate) fn left(&self, clock: &Clock) -> Option<(Duration, Error)> {
        let mut pause = lock(&self.pause);
        let (until, refusal) = pause.as_ref()?;
        let left = until.saturating_sub(clock.monotonic());
        if left.is_zero() {
            *pause = None;
            return None;
        }
        Some((left, refusal.clone()))
    }

    /// Waits until the pause is over; fails at once where that takes longer than the policy allows.
    pub(super) async fn wait(&self, clock: &Clock, policy: &RetryPolicy) -> Result<()> {
        let start = clock.monotonic();
        loop {
            // Registered before the pause is read, so that no end is missed.
            let ended = self.ended.notified();
            let Some((left, refusal)) = self.left(clock) else {
                return Ok(());
            };
            let waited = clock.monotonic().saturating_sub(start);
            if policy.next_wait(1, waited, Some(left)).is_none() {
                return Err(refusal.with_retry_after(Some(left)));
            }
            select(pin!(clock.sleep(left)), pin!(ended)).await;
        }
    }

    /// Ends the pause.
    pub(super) fn end(&self) {
        *lock(&self.pause) = None;
        self.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_pause_is_an_hour_at_most_and_does_not_follow_the_calendar() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH + 100 * LONGEST);
        let busy = Error::http(ReplyParts::status_only(429));
        for (told, longest) in [(5, 5), (90_000, 3_600), (u64::MAX, 3_600)] {
            let (told, longest) = (Duration::from_secs(told), Duration::from_secs(longest));
            let pause = Backpressure::default();
            pause.note(&clock, 429, &busy.clone().with_retry_after(Some(told)));
            let left = |clock: &Clock| pause.left(clock).map(|(left, _)| left);
            assert_eq!(left(&clock), Some(longest));
            clock.set_wall(clock.now() - LONGEST);
            assert_eq!(left(&clock), Some(longest));
            clock.advance(longest);
            assert_eq!(left(&clock), None);
        }
    }
}
