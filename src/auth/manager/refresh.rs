//! The steps of a refresh: look, lock, look again, mark the intent, send, judge, store, publish.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Event;
use super::shared::{Held, Shared, Stop};
use crate::auth::endpoint::{self, Class, Issued, Refusal};
use crate::auth::failure::reauth;
use crate::auth::{AccessToken, StoreError, StoreGuard};
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
        let (guard, stored) = match self.unless_over(self.shared.locked()).await? {
            Ok(locked) => locked,
            Err(error) if error.is_lock_timeout() => {
                // Who hangs with the lock may have renewed the tokens before.
                let token = self.look().await?;
                return token.ok_or_else(|| error.into());
            }
            Err(error) => return Err(self.not_stored(error)),
        };
        let mut guard = Some(guard);
        // Whoever held the lock may have renewed the tokens.
        self.shared.reconcile(self.epoch, stored)?;
        if let Some(token) = self.usable() {
            return Ok(token);
        }
        if let Some(token) = self.save_first().await? {
            return Ok(token);
        }
        let held = self.mark_intent().await?;
        self.request(held, &mut guard).await
    }

    /// Stored tokens that are good need no lock. Who has tokens of its own is here because they are not good, and saves
    /// the look: with the lock it comes anyway.
    fn knows_too_little(&self) -> Result<bool, Stop> {
        let state = self.shared.state_in(self.epoch)?;
        Ok(state.held.is_none() || state.dead.is_some())
    }

    /// Reads the store, and tells the token in use if it will do.
    pub(super) async fn look(&self) -> Result<Option<AccessToken>, Stop> {
        let stored = match self.shared.stored().await {
            Ok(stored) => stored,
            Err(error) => return Err(self.not_stored(error)),
        };
        self.shared.reconcile(self.epoch, stored)?;
        Ok(self.usable())
    }

    fn not_stored(&self, error: StoreError) -> Stop {
        self.fail(error.into(), Duration::ZERO, None)
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
        shared.counts.requests.fetch_add(1, Ordering::Relaxed);
        let mut sending = Box::pin(async move {
            let token = tokens.refresh_token.clone().unwrap_or_default();
            endpoint::refresh(&shared.provider, &token).await
        });
        match first(sending.as_mut(), self.shared.superseded(self.epoch)).await {
            First::Left(answer) => Ok(answer),
            First::Right(()) => {
                drop(guard.take());
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

    async fn unless_over<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        match first(pin!(work), self.shared.superseded(self.epoch)).await {
            First::Left(done) => Ok(done),
            First::Right(()) => Err(Stop::Superseded),
        }
    }
}
