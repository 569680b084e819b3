//! The loop of a replica: syncs, reports the result as an event, and waits until the next sync.

use std::time::Duration;

use super::{Replica, SyncReport};
use crate::error::{Error, Result};
use crate::loop_control::{Loop, WaitEnd};
use envd_sdk::model::Timestamp;

/// The wait after the first failure. It doubles with each further failure.
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// The longest wait after failures, unless the interval is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// The longest wait between checks for a new login. Without a login nothing is sent.
const LOGIN_WAIT: Duration = Duration::from_secs(60);

/// The result of one sync of the loop, with the time of the next one on the clock of the replica.
///
/// See [`Loop`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SyncEvent {
    /// A sync ended.
    #[non_exhaustive]
    Synced {
        /// The counts and findings of the sync.
        report: SyncReport,
        /// When the next one begins.
        next_at: Timestamp,
    },
    /// A sync failed; the pages that it had written stay.
    #[non_exhaustive]
    Failed {
        /// Why.
        error: Error,
        /// When the next one begins: later after each failure, and not before the service allows it.
        next_at: Timestamp,
    },
    /// Nothing is sent until the user has logged in again.
    #[non_exhaustive]
    LoginNeeded {
        /// Why.
        error: Error,
        /// When the loop checks for a login again.
        next_at: Timestamp,
    },
}

impl Replica {
    /// Syncs now and after each interval until stopped; failures do not end the loop.
    pub fn run(&self, interval: Duration) -> Loop<SyncEvent> {
        self.run_with(interval, fastrand::Rng::new())
    }

    pub(super) fn run_with(&self, interval: Duration, random: fastrand::Rng) -> Loop<SyncEvent> {
        let replica = self.clone();
        let mut pace = Pace {
            interval,
            random,
            failures: 0,
        };
        Loop::new(async move |handle, mut on_event| {
            while let Some(result) = handle.unless_stopped(Box::pin(replica.sync())).await {
                let now = replica.clock.now();
                let wait = pace.wait_after(&result);
                on_event(&event(result, now.checked_add(wait).unwrap_or(now).into()));
                if handle.wait(replica.clock.sleep(wait)).await == WaitEnd::Stopped {
                    return;
                }
            }
        })
    }
}

fn event(result: Result<SyncReport>, next_at: Timestamp) -> SyncEvent {
    match result {
        Ok(report) => SyncEvent::Synced { report, next_at },
        Err(error) if error.is_reauth_required() => SyncEvent::LoginNeeded { error, next_at },
        Err(error) => SyncEvent::Failed { error, next_at },
    }
}

/// Computes the wait between syncs.
struct Pace {
    interval: Duration,
    random: fastrand::Rng,
    /// Consecutive failures.
    failures: u32,
}

impl Pace {
    fn wait_after<T>(&mut self, result: &Result<T>) -> Duration {
        let Err(error) = result else {
            self.failures = 0;
            return self.jittered(self.interval);
        };
        if error.is_reauth_required() {
            return self.jittered(self.interval.min(LOGIN_WAIT));
        }
        self.failures = self.failures.saturating_add(1);
        let doubled = 2_u32.saturating_pow(self.failures - 1);
        let wait = FIRST_WAIT
            .min(self.interval)
            .saturating_mul(doubled)
            .min(LONGEST_WAIT.max(self.interval));
        let request = error.client();
        // Never earlier than the service allows, so the jitter of `Retry-After` is only added.
        let delivered = request.and_then(envd_sdk::Error::retry_after);
        let delivered = delivered.unwrap_or_default();
        self.jittered(wait)
            .max(delivered.saturating_add(self.jittered(delivered) / 10))
    }

    /// Spreads the requests of programs that started at the same time.
    fn jittered(&mut self, wait: Duration) -> Duration {
        let seconds = wait.as_secs_f64() * (0.8 + 0.4 * self.random.f64());
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}
