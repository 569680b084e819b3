//! Decides whether a request is sent again, how often, and after which wait.
//!
//! | failure | read | change |
//! | --- | --- | --- |
//! | no connection: name look-up, TCP, TLS | again | again: it was certainly not sent |
//! | connection lost, time-out or deadline after sending | again | in doubt |
//! | HTTP 429, or a code for a limit | again | again on 2xx and 4xx: it was refused |
//! | HTTP 401, or a body to that effect on 2xx and 4xx | once more with a new token | once more: it was refused |
//! | HTTP 400, 403 and 404 in JSON or XML | error | error: it was refused |
//! | errors on 2xx and 4xx that name known reasons | error | error: it was refused |
//! | errors that name no known reason, "Internal server error" | error | in doubt |
//! | a web page, an empty body, text of another server, whatever the status | again | in doubt, except on 401, 413 and 429 |
//! | HTTP 500, 501 and 505 in JSON or XML | error | in doubt |
//! | HTTP 408, 425 and other 5xx, whatever the body | again | in doubt |
//! | a reply without the record, a truncated reply | error | in doubt |
//!
//! A change in doubt is not sent again, unless the call is marked as idempotent.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Repr};

/// How often, and for how long, a call is retried.
///
/// Reads are retried after transport errors, after replies that are not from the service (a web page, an empty body), after HTTP
/// 408, 425 and 5xx except 500, 501 and 505, and after rate limiting (HTTP 429, or a code to that effect). Changes are retried
/// only if they certainly did not reach the server, or if it refused them. Waits are random, up to a limit that doubles each time
/// ("full jitter").
///
/// ```
/// use std::time::Duration;
/// use envd_sdk::RetryPolicy;
///
/// let policy = RetryPolicy::default().max_retries(5).deadline(Duration::from_secs(30));
/// # let _ = (policy, RetryPolicy::none());
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RetryPolicy {
    max_retries: u32,
    base: Duration,
    cap: Duration,
    deadline: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            base: Duration::from_millis(200),
            cap: Duration::from_secs(10),
            // Longer than a restart behind a load balancer, but bearable for a user at a screen.
            deadline: Duration::from_secs(90),
        }
    }
}

impl RetryPolicy {
    /// Sends each request once.
    pub fn none() -> Self {
        Self {
            max_retries: 0,
            ..Self::default()
        }
    }

    /// The most times a request is sent again; 3 unless set.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// The upper limit of the first wait, which doubles for each further wait; 200 ms unless set.
    pub fn base_wait(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// The total time after which no retry starts; 90 seconds unless set.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }

    /// The wait before the next attempt; `None` if there are no further attempts.
    ///
    /// `attempts` is the number of attempts so far, `elapsed` the time so far, and `retry_after` the server's value.
    pub(crate) fn next_wait(
        &self,
        attempts: u32,
        elapsed: Duration,
        retry_after: Option<Duration>,
    ) -> Option<Duration> {
        if attempts > self.max_retries {
            return None;
        }
        let limit = self
            .base
            .saturating_mul(1 << (attempts.saturating_sub(1)).min(20))
            .min(self.cap);
        // The random wait is a minimum: after `Retry-After: 0` all clients would otherwise return at once.
        let wait = limit
            .mul_f64(fastrand::f64())
            .max(retry_after.unwrap_or_default());
        (elapsed.saturating_add(wait) < self.deadline).then_some(wait)
    }
}

/// A client's budget of retries: an outage must not multiply the load on a failing server.
///
/// Each retry costs one, and each success earns a fifth.
#[derive(Debug)]
pub(crate) struct RetryBudget(AtomicI64);

impl RetryBudget {
    const RETRY: i64 = 1_000;
    const SUCCESS: i64 = 200;
    const FULL: i64 = 20_000;

    pub(crate) fn take(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                (left >= Self::RETRY).then_some(left - Self::RETRY)
            })
            .is_ok()
    }

    pub(crate) fn give_back(&self) {
        // The budget is nearly always full. Skipping the write avoids moving a cache line between threads.
        if self.0.load(Ordering::Relaxed) < Self::FULL {
            self.0.fetch_add(Self::SUCCESS, Ordering::Relaxed);
        }
    }
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self(AtomicI64::new(Self::FULL))
    }
}

/// Whether a request may be carried out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Safety {
    /// A read.
    Repeatable,
    /// A change: sent again only if it is known not to have been carried out.
    Once,
    /// A change that does no harm if it is carried out twice.
    Idempotent,
}

impl Safety {
    /// Whether a request that failed this way may be sent again.
    pub(crate) fn allows_retry(self, error: &Error) -> bool {
        error.is_transient() && (self != Self::Once || !self.may_have_applied(error))
    }

    /// Whether a change that failed this way may have been carried out: true unless it was certainly not sent, or was refused.
    pub(crate) fn may_have_applied(self, error: &Error) -> bool {
        self != Self::Repeatable
            && match error.repr() {
                // Without a reply: most kinds arise before a request is sent, or after a read.
                Repr::Said(kind, _) if *kind != ErrorKind::Protocol => error.was_sent(),
                _ => !error.is_refusal(),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_stay_under_a_doubling_limit_and_end_with_the_retries() {
        let policy = RetryPolicy::default();
        for (attempts, limit) in [(1, 200), (2, 400), (3, 800)] {
            for _ in 0..200 {
                assert!(
                    policy.next_wait(attempts, Duration::ZERO, None).unwrap()
                        <= Duration::from_millis(limit)
                );
            }
        }
        assert_eq!(policy.next_wait(4, Duration::ZERO, None), None);
    }

    #[test]
    fn retry_after_is_honoured_inside_the_deadline() {
        let policy = RetryPolicy::default().deadline(Duration::from_secs(30));
        let wait = Some(Duration::from_secs(20));
        assert_eq!(policy.next_wait(1, Duration::ZERO, wait), wait);
        assert_eq!(policy.next_wait(1, Duration::from_secs(15), wait), None);
    }

    #[test]
    fn the_budget_is_used_up_and_filled_by_successes() {
        let budget = RetryBudget::default();
        assert_eq!((0..100).filter(|_| budget.take()).count(), 20);
        (0..5).for_each(|_| budget.give_back());
        assert!(budget.take());
        assert!(!budget.take());
    }
}
