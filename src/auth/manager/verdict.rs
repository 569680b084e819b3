//! What follows from a refresh that failed.

use std::time::Duration;

use super::Event;
use super::refresh::Refresh;
use super::shared::{Held, Pause, Stop};
use crate::auth::endpoint::Class;
use crate::auth::failure::reauth;
use crate::auth::store::Ended;
use crate::auth::{AccessToken, Record};
use crate::error::Error;

/// A request that nobody answered may still be on its way for as long as servers and proxies wait for each other.
const IN_DOUBT: Duration = Duration::from_secs(30);

/// A reply may not silence the manager for longer.
const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(3_600);

impl Refresh {
    /// If the request was not processed, the token works; if it was, the only copy of the new one is gone anyway. But a
    /// request that is still on its way could arrive after the repeated one and end the session: that one is waited out,
    /// unless the server accepts the token twice for long enough.
    pub(super) fn wait_before_repeat(&self, class: Class, sent: Duration) -> Duration {
        let short = Duration::from_secs(1) + Duration::from_secs(1).mul_f64(fastrand::f64());
        let overlap = self.shared.provider.0.rotation_overlap;
        let elapsed = self.shared.clock().boot().saturating_sub(sent);
        let overlap_left = overlap.saturating_sub(elapsed);
        if !overlap_left.is_zero() {
            short.min(overlap_left / 2)
        } else if class == Class::TimedOut {
            IN_DOUBT.saturating_sub(elapsed).max(short)
        } else {
            short
        }
    }

    pub(super) fn doubt(&self) -> Result<(), Stop> {
        if let Some(held) = &mut self.shared.state_in(self.epoch)?.held {
            held.doubtful = true;
        }
        Ok(())
    }

    /// The refresh token is not accepted: unless somebody has a newer one, the user has to log in.
    pub(super) async fn mark_revoked(
        &self,
        held: &Held,
        ended: Ended,
    ) -> Result<AccessToken, Stop> {
        if let Some(token) = self.look().await? {
            return Ok(token);
        }
        self.end_session(held, ended).await
    }

    /// Stores the reason in the place of the tokens, so that every process reports it.
    pub(super) async fn end_session(&self, held: &Held, ended: Ended) -> Result<AccessToken, Stop> {
        let record = Record::ended(&held.tokens, ended);
        let current = self.shared.state_in(self.epoch)?.held.clone();
        let version = current.map_or(held.version, |held| held.version);
        // Only in the place of the record that failed: another process may be storing its own.
        match self.shared.swap(version, &record).await {
            Ok(Some(version)) => {
                if let Some(held) = &mut self.shared.state_in(self.epoch)?.held {
                    held.version = Some(version);
                }
            }
            Ok(None) => {
                if let Some(token) = self.look().await? {
                    return Ok(token);
                }
            }
            Err(error) => self.shared.emit(Event::PersistFailed {
                error: error.into(),
            }),
        }
        Err(self.give_up(reauth(ended.reason()))?)
    }

    /// The access token in use serves on until it expires.
    pub(super) fn give_up(&self, error: Error) -> Result<Stop, Stop> {
        let mut state = self.shared.state_in(self.epoch)?;
        state.dead = Some(error.clone());
        if let Some(held) = &mut state.held {
            // There is nothing left in them to be stored.
            held.saved = true;
        }
        tracing::debug!("the refresh token is dead");
        self.shared.emit(Event::ReauthRequired {
            error: error.clone(),
        });
        Ok(Stop::Failed(error))
    }

    /// Remembers a failure, so that callers do not queue up for the next one.
    pub(super) fn fail(&self, error: Error, floor: Duration, asked: Option<Duration>) -> Stop {
        let Ok(mut state) = self.shared.state_in(self.epoch) else {
            return Stop::Superseded;
        };
        state.failures = state.failures.saturating_add(1);
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED_PAUSE);
        let wait = backoff(state.failures).max(floor).max(asked);
        let now = self.shared.now();
        let retry_at = now.wall + wait;
        let error = error.with_retry_at(Some(retry_at));
        state.pause = Some(Pause {
            until: now.boot.saturating_add(wait),
            error: error.clone(),
        });
        tracing::debug!(failures = state.failures, wait = ?wait, "refresh failed: {error}");
        self.shared.emit(Event::RefreshFailed {
            error: error.clone(),
            retry_at,
        });
        Stop::Failed(error)
    }
}

/// 1 s, 2 s, 4 s ... 5 min, and up to a fifth more.
pub(super) fn backoff(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(16);
    Duration::from_secs(seconds.min(300)).mul_f64(1.0 + 0.2 * fastrand::f64())
}
