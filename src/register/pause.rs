//! The register asked to wait: nobody asks before.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;

/// Until when the register wants to be left alone, on the clock since the start of the machine.
#[derive(Default)]
pub(super) struct Pause(Mutex<Option<(Duration, Error)>>);

impl Pause {
    /// Takes note of a refusal that says how long to wait: too many requests, or maintenance (spec 7.1).
    pub(super) fn note(&self, now: Duration, error: &Error) {
        let asked = error.retry_after().filter(|wait| !wait.is_zero());
        let (Some(wait), Some(429 | 503)) = (asked, error.http_status()) else {
            return;
        };
        let until = now.saturating_add(wait);
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.as_ref().is_none_or(|(known, _)| *known < until) {
            *noted = Some((until, error.clone()));
        }
    }

    /// How long to wait still, and the refusal that said so.
    pub(super) fn left(&self, now: Duration) -> Option<(Duration, Error)> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, error) = noted.as_ref()?;
        if let Some(left) = until.checked_sub(now).filter(|left| !left.is_zero()) {
            return Some((left, error.clone()));
        }
        *noted = None;
        None
    }
}
