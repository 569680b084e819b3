//! Defers requests until `Retry-After` has passed.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::error::Error;
use crate::transport::{Clock, first};

/// The longest pause. A register that asks for more is tried again after this time: a wrong date in one reply (RFC 9110
/// section 10.2.3 allows any) must not disable the client for the life of the process.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Until when requests are deferred, on the clock since the start of the machine.
#[derive(Default)]
pub(super) struct Pause {
    noted: Mutex<Option<(Duration, Error)>>,
    ended: Notify,
}

impl Pause {
    /// Notes a refusal that says how long to wait: too many requests, or maintenance (spec 7.1).
    pub(super) fn note(&self, now: Duration, error: &Error) {
        let asked = error.retry_after().filter(|wait| !wait.is_zero());
        let (Some(wait), Some(429 | 503)) = (asked, error.http_status()) else {
            return;
        };
        let until = now.saturating_add(wait.min(LONGEST));
        let mut noted = self.noted();
        if noted.as_ref().is_none_or(|(known, _)| *known < until) {
            *noted = Some((until, error.clone()));
        }
    }

    /// The remaining pause, and the refusal that asked for it.
    pub(super) fn left(&self, now: Duration) -> Option<(Duration, Error)> {
        let mut noted = self.noted();
        let (until, error) = noted.as_ref()?;
        if let Some(left) = until.checked_sub(now).filter(|left| !left.is_zero()) {
            return Some((left, error.clone()));
        }
        *noted = None;
        None
    }

    /// Waits until the time has passed or the pause was ended.
    pub(super) async fn wait(&self, clock: &Clock, left: Duration) {
        let ended = self.ended.notified();
        // Ended between the look at it and the registration above.
        if self.left(clock.boot()).is_some() {
            first(pin!(clock.sleep(left)), ended).await;
        }
    }

    /// Forgets the pause.
    pub(super) fn end(&self) {
        *self.noted() = None;
        self.ended.notify_waiters();
    }

    fn noted(&self) -> MutexGuard<'_, Option<(Duration, Error)>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
