//! The steps of a refresh: look, lock, look again, wait for marks of others, mark the intent, send, judge, store, publish.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Event;
use super::lease::Lease;
use super::mark::MarkOutcome;
use super::shared::{Held, Shared, Stop};
use crate::auth::endpoint::{self, Class, Issued, Refusal};
use crate::auth::failure::reauth;
use crate::auth::store::Ended;
use crate::auth::{AccessToken, StoreError};
use crate::transport::{First, first};

/// What is wrong with settings or needs the user does not mend itself in seconds.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);

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
        if self.knows_too_little()?
            && let Some(token) = self.look().await?
        {
            return Ok(token);
        }
        let clock = self.shared.clock();
        let until = clock.boot().saturating_add(self.shared.policy.lock_wait);
        loop {
            let left = until.saturating_sub(clock.boot());
            let locked = self.unless_over(self.shared.lease_and_load(left)).await?;
            let (lease, read) = match locked {
                Ok(locked) => locked,
                Err(error) if error.is_lock_timeout() => {
                    // A process that hangs with the lock may have renewed the tokens before.
                    let token = self.look().await?;
                    self.forget_mark()?;
                    return token.ok_or_else(|| error.into());
                }
                Err(error) => return Err(self.not_stored(error)),
            };
            // Whoever held the lock may have renewed the tokens.
            self.shared.reconcile(self.epoch, read)?;
            if let Some(token) = self.usable() {
                return Ok(token);
            }
            if let Some(token) = self.save_first().await? {
                return Ok(token);
            }
            if lease.kept && !self.shared.has_unsaved() {
                // It may have been lost since: stored tokens are sent under a lock that was just taken.
                continue;
            }
            let Some(mark) = self.foreign_mark()? else {
                return self.mark_and_request(lease).await;
            };
            match self.wait_for_owner(mark, lease, until).await? {
                MarkOutcome::Token(token) => return Ok(token),
                MarkOutcome::Changed => {}
                MarkOutcome::Abandoned(lease) => return self.mark_and_request(lease).await,
            }
        }
    }

    async fn mark_and_request(&self, lease: Lease) -> Result<AccessToken, Stop> {
        let began = self.shared.clock().boot();
        let held = self.mark_intent().await?;
        self.may_send(began)?;
        self.request(held, &mut Some(lease)).await
    }

    /// Stored tokens that are good need no lock. If tokens are held they need refreshing, so skip the unlocked read.
    fn knows_too_little(&self) -> Result<bool, Stop> {
        let state = self.shared.state_in(self.epoch)?;
        Ok(state.held.is_none() || state.dead.is_some())
    }

    /// Reads the store, and tells the token in use if it will do.
    pub(super) async fn look(&self) -> Result<Option<AccessToken>, Stop> {
        let read = match self.shared.stored().await {
            Ok(read) => read,
            Err(error) => return Err(self.not_stored(error)),
        };
        self.shared.reconcile(self.epoch, read)?;
        Ok(self.usable())
    }

    fn not_stored(&self, error: StoreError) -> Stop {
        self.fail(error.into(), Duration::ZERO, None)
    }

    pub(super) fn usable(&self) -> Option<AccessToken> {
        let snapshot = self.shared.snapshot.load();
        let usable = snapshot.as_ref().filter(|snapshot| {
            snapshot.is_usable(self.shared.now()) && Some(snapshot.generation()) != self.stale
        })?;
        Some(usable.token.clone())
    }

    /// Tokens that an earlier refresh could not store come before new ones.
    async fn save_first(&self) -> Result<Option<AccessToken>, Stop> {
        if !self.shared.state_in(self.epoch)?.has_unsaved() {
            return Ok(None);
        }
        if self.shared.save(self.epoch).await?.is_ok() {
            self.shared.publish_held(self.epoch)?;
        }
        Ok(self.usable())
    }

    async fn request(
        &self,
        mut held: Held,
        lease: &mut Option<Lease>,
    ) -> Result<AccessToken, Stop> {
        // Only the first failure of a row is repeated at once: an outage must not double the requests.
        let mut may_repeat = self.shared.state_in(self.epoch)?.failures == 0;
        loop {
            if held.tokens.refresh_token.is_none() {
                return Err(self.give_up(reauth("there is no refresh token"))?);
            }
            let asked = self.shared.now();
            let refusal = match self.send(&held, lease).await? {
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
                Class::Dead => {
                    let lost = held.doubtful;
                    let ended = if lost {
                        Ended::AnswerLost
                    } else {
                        Ended::Refused
                    };
                    return self.mark_revoked(&held, ended).await;
                }
                Class::Ambiguous | Class::TimedOut if may_repeat => {
                    may_repeat = false;
                    tracing::debug!("the answer to a refresh was lost");
                    self.shared.emit(Event::RotationAmbiguous);
                    let wait = self.wait_before_repeat(refusal.class, asked.boot);
                    self.unless_over(self.shared.clock().sleep(wait)).await?;
                    let began = self.shared.clock().boot();
                    if let Some(token) = self.look().await? {
                        return Ok(token);
                    }
                    self.may_send(began)?;
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
        lease: &mut Option<Lease>,
    ) -> Result<Result<Issued, Refusal>, Stop> {
        let (shared, tokens) = (self.shared.clone(), held.tokens.clone());
        shared.counts.requests.fetch_add(1, Ordering::Relaxed);
        let mut sending = Box::pin(async move {
            let token = tokens.refresh_token.clone().unwrap_or_default();
            endpoint::refresh(&shared.provider, &token).await
        });
        match first(sending.as_mut(), self.shared.superseded(self.epoch)).await {
            First::Left(answer) => Ok(answer),
            First::Right(()) => {
                drop(lease.take());
                let shared = self.shared.clone();
                self.shared.spawn(async move {
                    if let Ok(issued) = sending.await {
                        shared.discard(issued.refresh_token.as_ref()).await;
                    }
                })?;
                Err(Stop::Superseded)
            }
        }
    }

    pub(super) async fn unless_over<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        match first(pin!(work), self.shared.superseded(self.epoch)).await {
            First::Left(done) => Ok(done),
            First::Right(()) => Err(Stop::Superseded),
        }
    }
}
