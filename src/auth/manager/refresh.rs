//! The steps of a refresh: look, lock, look again, mark the intent, send, judge, store, publish.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::Event;
use super::flight::runtime;
use super::race::{First, first};
use super::shared::{Held, Pause, Shared, Stop};
use crate::auth::endpoint::{self, Class, Issued, Refusal};
use crate::auth::failure::{auth, reauth};
use crate::auth::store::Intent;
use crate::auth::{AccessToken, Record, StoreError, StoreGuard};
use crate::error::{AuthProblem, Error};

/// A request that nobody answered may still be on its way for as long as servers and proxies wait for each other.
const IN_DOUBT: Duration = Duration::from_secs(30);

/// What is wrong with settings or needs the user does not mend itself in seconds.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);

/// A reply may not silence the manager for longer.
const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(3_600);

/// One refresh, in the epoch in which it was started.
pub(super) struct Refresh {
    pub(super) shared: Arc<Shared>,
    pub(super) epoch: u64,
    stale: Option<u64>,
}

impl Refresh {
    pub(super) fn new(shared: Arc<Shared>, epoch: u64, stale: Option<u64>) -> Self {
        Self {
            shared,
            epoch,
            stale,
        }
    }

    pub(super) async fn run(self) -> Result<AccessToken, Stop> {
        if let Some(token) = self.look().await? {
            return Ok(token);
        }
        let lock = self
            .shared
            .store
            .lock(&self.shared.key, self.shared.policy.lock_wait);
        let mut guard = Some(self.unless_over(lock).await??);
        // Whoever held the lock may have renewed the tokens.
        if let Some(token) = self.look().await? {
            return Ok(token);
        }
        if let Some(token) = self.save_first().await? {
            return Ok(token);
        }
        let held = self.mark_intent().await?;
        self.request(held, &mut guard).await
    }

    /// Reads the store, and tells the token in use if it will do.
    async fn look(&self) -> Result<Option<AccessToken>, Stop> {
        let stored = match self.shared.store.load(&self.shared.key).await {
            Ok(stored) => stored,
            Err(error) => return Err(self.fail(error.into(), Duration::ZERO, None)),
        };
        self.shared.reconcile(self.epoch, stored)?;
        Ok(self.usable())
    }

    fn usable(&self) -> Option<AccessToken> {
        let snapshot = self.shared.snapshot.load();
        let usable = snapshot.as_ref().filter(|snapshot| {
            snapshot.is_usable(self.shared.now()) && Some(snapshot.generation()) != self.stale
        })?;
        Some(usable.token.clone())
    }

    /// Tokens that an earlier refresh could not store come before new ones.
    async fn save_first(&self) -> Result<Option<AccessToken>, Stop> {
        let unsaved = |held: &Held| !held.saved;
        if !self
            .shared
            .state_in(self.epoch)?
            .held
            .as_ref()
            .is_some_and(unsaved)
        {
            return Ok(None);
        }
        if self.shared.save(self.epoch).await?.is_ok() {
            self.shared.publish_held(self.epoch)?;
        }
        Ok(self.usable())
    }

    /// Should this process end before the answer is stored, the next one knows that the token may be used up.
    async fn mark_intent(&self) -> Result<Held, Stop> {
        let held = self.shared.state_in(self.epoch)?.held.clone();
        let mut held = held.ok_or_else(|| Stop::Failed(auth(AuthProblem::NoTokens)))?;
        if held.doubtful || !held.saved || held.tokens.refresh_token.is_none() {
            return Ok(held);
        }
        let mut record = Record::new(held.tokens.as_ref().clone());
        record.intent = Some(Intent {
            generation: held.tokens.generation,
            at: self.shared.clock().now(),
        });
        let marked = self.rewrite(&mut held, &record).await;
        // Nothing is sent while the store cannot be written: the answer could not be kept.
        marked.map_err(|error| self.fail(error.into(), Duration::ZERO, None))?;
        Ok(held)
    }

    async fn clear_intent(&self, held: &mut Held) {
        if !held.doubtful && held.saved {
            let record = Record::new(held.tokens.as_ref().clone());
            // OK to ignore: a mark too many costs one refresh ahead of time.
            let _ = self.rewrite(held, &record).await;
        }
    }

    async fn rewrite(&self, held: &mut Held, record: &Record) -> Result<(), StoreError> {
        let swapped = self
            .shared
            .store
            .swap(&self.shared.key, held.version, record);
        let Some(version) = swapped.await? else {
            return Err(StoreError::new("a record changed while its lock was held"));
        };
        held.version = Some(version);
        if let Ok(mut state) = self.shared.state_in(self.epoch)
            && let Some(held) = &mut state.held
        {
            held.version = Some(version);
        }
        Ok(())
    }

    async fn request(
        &self,
        mut held: Held,
        guard: &mut Option<StoreGuard>,
    ) -> Result<AccessToken, Stop> {
        // Only the first failure of a row is repeated at once: an outage must not double the requests.
        let mut may_repeat = self.shared.state_in(self.epoch)?.failures == 0;
        loop {
            if held.tokens.refresh_token.is_none() {
                return Err(self.give_up(reauth("there is no refresh token"))?);
            }
            let asked = self.shared.now();
            let refusal = match self.send(&held, guard).await? {
                Ok(issued) => return self.settle(&held, issued, asked.wall).await,
                Err(refusal) => refusal,
            };
            let ambiguous = matches!(refusal.class, Class::Ambiguous | Class::TimedOut);
            if let Some(token) = refusal.salvaged {
                held = self.keep_salvaged(&held, token).await?;
            } else if ambiguous {
                held.doubtful = true;
                self.doubt()?;
            }
            match refusal.class {
                Class::Dead => return self.bury(&held, refusal.error).await,
                Class::Ambiguous | Class::TimedOut if may_repeat => {
                    may_repeat = false;
                    tracing::debug!("the answer to a refresh was lost");
                    self.shared.emit(Event::RotationAmbiguous);
                    let wait = self.wait_before_repeat(refusal.class, asked.boot);
                    self.unless_over(self.shared.clock().sleep(wait)).await?;
                    if let Some(token) = self.look().await? {
                        return Ok(token);
                    }
                }
                class => {
                    if !ambiguous {
                        self.clear_intent(&mut held).await;
                    }
                    let floor = match class {
                        Class::Refused => REFUSED_PAUSE,
                        _ => Duration::ZERO,
                    };
                    return Err(self.fail(refusal.error, floor, refusal.retry_after));
                }
            }
        }
    }

    /// Sends the refresh token. When the epoch ends meanwhile, the answer is waited for apart and discarded.
    async fn send(
        &self,
        held: &Held,
        guard: &mut Option<StoreGuard>,
    ) -> Result<Result<Issued, Refusal>, Stop> {
        let (shared, tokens) = (self.shared.clone(), held.tokens.clone());
        let mut sending = Box::pin(async move {
            let token = tokens.refresh_token.clone().unwrap_or_default();
            endpoint::refresh(&shared.provider, &token).await
        });
        match first(sending.as_mut(), self.shared.superseded(self.epoch)).await {
            First::Left(answer) => Ok(answer),
            First::Right(()) => {
                drop(guard.take());
                let shared = self.shared.clone();
                runtime()?.spawn(async move {
                    if let Ok(issued) = sending.await {
                        shared.discard(issued.refresh_token.as_ref()).await;
                    }
                });
                Err(Stop::Superseded)
            }
        }
    }

    /// If the request was not processed, the token works; if it was, the only copy of the new one is gone anyway. But a
    /// request that is still on its way could arrive after the repeated one and end the session: that one is waited out,
    /// unless the server accepts the token twice for long enough.
    fn wait_before_repeat(&self, class: Class, sent: Duration) -> Duration {
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

    fn doubt(&self) -> Result<(), Stop> {
        if let Some(held) = &mut self.shared.state_in(self.epoch)?.held {
            held.doubtful = true;
        }
        Ok(())
    }

    /// The refresh token is not accepted: unless somebody has a newer one, the user has to log in.
    async fn bury(&self, held: &Held, error: Error) -> Result<AccessToken, Stop> {
        if let Some(token) = self.look().await? {
            return Ok(token);
        }
        let error = if held.doubtful {
            reauth("the answer to an earlier refresh was lost, and the new refresh token with it")
        } else {
            error
        };
        if let Some(version) = held.version {
            // Only the record that failed: another process may be storing its own.
            match self.shared.store.remove(&self.shared.key, version).await {
                Ok(true) => {}
                Ok(false) => {
                    if let Some(token) = self.look().await? {
                        return Ok(token);
                    }
                }
                Err(error) => self.shared.emit(Event::PersistFailed {
                    error: error.into(),
                }),
            }
        }
        Err(self.give_up(error)?)
    }

    /// The access token in use serves on until it expires.
    pub(super) fn give_up(&self, error: Error) -> Result<Stop, Stop> {
        let mut state = self.shared.state_in(self.epoch)?;
        state.dead = Some(error.clone());
        tracing::debug!("the refresh token is dead");
        self.shared.emit(Event::ReauthRequired {
            error: error.clone(),
        });
        Ok(Stop::Failed(error))
    }

    /// Remembers a failure, so that callers do not queue up for the next one.
    fn fail(&self, error: Error, floor: Duration, asked: Option<Duration>) -> Stop {
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

    async fn unless_over<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        match first(pin!(work), self.shared.superseded(self.epoch)).await {
            First::Left(done) => Ok(done),
            First::Right(()) => Err(Stop::Superseded),
        }
    }
}

/// 1 s, 2 s, 4 s ... 5 min, and up to a fifth more.
pub(super) fn backoff(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(16);
    Duration::from_secs(seconds.min(300)).mul_f64(1.0 + 0.2 * fastrand::f64())
}
