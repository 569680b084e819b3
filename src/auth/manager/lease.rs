//! The store's lock of the account, and the task that stores later what could not be stored at once.
//!
//! While new tokens are not stored, the manager keeps the lock between the attempts to store them: another process that
//! took it would find the mark of the refresh, and send the refresh token that is used up.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::select;
use tokio::sync::OwnedMutexGuard;

use super::Event;
use super::epoch::{Epoch, backoff};
use super::shared::{Shared, StoreRead};
use super::state::{State, Stop};
use crate::auth::{StoreError, StoreGuard};
use crate::error::{Error, Result};

/// The longest pause between two attempts to store tokens. Other processes wait longer before they send the stored refresh
/// token (see `CLAIM_PERIOD` of `refresh`).
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Another process may hold a lost lock only to read the record: the write compares versions anyway.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// The right to use the account's lock. When it is dropped the lock is released, or kept for tokens that are not stored.
pub(super) struct Lease {
    lock: OwnedMutexGuard<Option<StoreGuard>>,
    shared: Arc<Shared>,
    /// Whether an earlier task took the lock: one that can be lost may have been since.
    pub(super) kept: bool,
}

impl Lease {
    /// Takes the lock, or uses the one that was kept.
    pub(super) async fn acquire(shared: &Arc<Shared>, wait: Duration) -> Result<Self, StoreError> {
        let (mut lease, left) = Self::kept(shared, wait).await?;
        if !lease.kept {
            *lease.lock = Some(shared.store.lock(&shared.key, left).await?);
        }
        Ok(lease)
    }

    /// As [`acquire`](Self::acquire), and reads the record under the lock.
    pub(super) async fn acquire_and_load(
        shared: &Arc<Shared>,
        wait: Duration,
    ) -> Result<(Self, StoreRead), StoreError> {
        let (mut lease, left) = Self::kept(shared, wait).await?;
        if lease.kept {
            return Ok((lease, shared.load().await?));
        }
        let writes = shared.state().writes;
        let (guard, stored) = shared.store.lock_and_load(&shared.key, left).await?;
        *lease.lock = Some(guard);
        Ok((lease, StoreRead::new(stored, writes)?))
    }

    /// The lease, with the lock that was kept if there is one, and what is left of the wait.
    async fn kept(shared: &Arc<Shared>, wait: Duration) -> Result<(Self, Duration), StoreError> {
        let clock = shared.clock();
        let until = clock.monotonic().saturating_add(wait);
        let lock = clock
            .within(wait, shared.lock.clone().lock_owned())
            .await
            .ok_or_else(StoreError::lock_timeout)?;
        let lease = Self {
            kept: lock.is_some(),
            lock,
            shared: shared.clone(),
        };
        Ok((lease, until.saturating_sub(clock.monotonic())))
    }

    /// Takes the lock if there is none, or if it can be lost and may have been.
    async fn renew(&mut self, wait: Duration) -> Result<(), StoreError> {
        let shared = self.shared.clone();
        if !shared.store.lock_survives_faults() {
            self.lock.take();
        }
        if self.lock.is_none() {
            *self.lock = Some(shared.store.lock(&shared.key, wait).await?);
        }
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.shared.state().has_unsaved() {
            // OK to ignore: without a runtime nothing can be stored now; the next call starts the task.
            let _ = Saver::start(&self.shared);
        } else {
            self.lock.take();
        }
    }
}

/// Stores the cached tokens. A failure of the store is reported and returned, and storing is retried later.
pub(super) async fn save_or_report(epoch: &Epoch) -> Result<Option<StoreError>, Stop> {
    let Err(error) = epoch.save().await? else {
        return Ok(None);
    };
    tracing::warn!("new tokens could not be stored: {error}");
    let reason = Error::from(error.clone());
    epoch.shared.note_failure(&reason);
    epoch.shared.emit(Event::PersistFailed { error: reason });
    Saver::start(&epoch.shared)?;
    Ok(Some(error))
}

/// Stores the cached tokens later, with retries. At most one runs.
pub(super) struct Saver {
    shared: Arc<Shared>,
    /// Lets the next one start when this one ends, panics, or is dropped with its runtime.
    _alive: Arc<()>,
}

impl Saver {
    /// Starts a task if tokens are not stored and no task runs.
    pub(super) fn start(shared: &Arc<Shared>) -> Result<()> {
        let alive = Arc::new(());
        {
            let mut state = shared.state();
            if !state.has_unsaved() || state.saver.strong_count() > 0 {
                return Ok(());
            }
            state.saver = Arc::downgrade(&alive);
        }
        let saver = Self {
            shared: shared.clone(),
            _alive: alive,
        };
        shared.spawn(saver.run()).map(drop)
    }

    async fn run(self) {
        let clock = self.shared.clock();
        for failures in 1_u32.. {
            let epoch = Epoch::current(&self.shared, &self.shared.state());
            let pause = backoff(failures).min(LONGEST_PAUSE);
            // New tokens of a login may wait for the same store: they do not wait for the end of the pause.
            select(pin!(clock.sleep(pause)), pin!(epoch.ended())).await;
            if self.is_done() {
                return;
            }
            self.save().await;
            if self.is_done() {
                return;
            }
        }
    }

    /// Whether everything is stored. If so, tokens that come later start another task.
    fn is_done(&self) -> bool {
        let mut state = self.shared.state();
        let is_done = !state.has_unsaved();
        if is_done {
            state.saver = Weak::new();
        }
        is_done
    }

    /// One attempt, in the current epoch.
    async fn save(&self) {
        let is_unversioned = |state: &State| {
            let cached = state.cached.as_ref();
            cached.is_none_or(|cached| cached.version.is_none())
        };
        let _lease = match Lease::kept(&self.shared, LOCK_WAIT).await {
            Ok((mut lease, _)) => match lease.renew(LOCK_WAIT).await {
                Err(error) if !error.is_lock_timeout() => return,
                _ => Some(lease),
            },
            // A first write without the lock could come after a logout that found no record.
            Err(_) if is_unversioned(&self.shared.state()) => return,
            // A refresh holds the lock, and its request may take longer than other processes wait for the mark.
            Err(_) => None,
        };
        let (epoch, token) = {
            let state = self.shared.state();
            let cached = state.cached.as_ref();
            let token = cached.and_then(|cached| cached.tokens.refresh_token.clone());
            (Epoch::current(&self.shared, &state), token)
        };
        match epoch.save().await {
            Ok(Ok(())) => {
                // OK to ignore: tokens of an earlier epoch are not published.
                let _ = epoch.publish_cached();
            }
            Ok(Err(error)) => self.shared.note_failure(&error.into()),
            Err(Stop::Superseded) => {}
            // The tokens are revoked if the user was logged out elsewhere.
            Err(Stop::Failed(_)) => self.shared.discard(token.as_ref()).await,
        }
    }
}
