//! The lock of the account's record, and the tokens that could not be stored yet, which keep it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;

use super::decide::{Lock, RefreshProgress, backoff};
use super::memory::{State, Stop};
use super::report::Event;
use super::shared::{Session, Shared, StoreRead};
use crate::auth::{StoreError, StoreErrorKind, StoreGuard};
use crate::error::{Error, Result};

/// The longest pause between two attempts to store tokens. Other processes wait longer before they send the stored refresh
/// token (see [`CLAIM_PERIOD`](super::foreign_mark::CLAIM_PERIOD)).
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// If the lock was lost, another process may hold it just to read the record. The write compares versions anyway.
const SAVE_LOCK_WAIT: Duration = Duration::from_secs(1);

/// The right to change the account's record: the store's lock, held from the first read to the end of all changes.
///
/// While new tokens are not stored, the manager keeps the lock, even between attempts to store them. Another process that got
/// it would find the mark of the refresh, and send the refresh token that is used up.
pub(super) struct RefreshTransaction {
    lock: OwnedMutexGuard<Option<StoreGuard>>,
    shared: Arc<Shared>,
}

impl RefreshTransaction {
    /// Takes the lock, or reuses a kept one.
    pub(super) async fn begin(shared: &Arc<Shared>, wait: Duration) -> Result<Self, StoreError> {
        let (mut transaction, left) = Self::kept(shared, wait).await?;
        transaction.relock(left).await?;
        Ok(transaction)
    }

    /// Like [`begin`](Self::begin), and reads the record under the lock. Also returns the state of the lock.
    pub(super) async fn begin_and_load(
        shared: &Arc<Shared>,
        wait: Duration,
    ) -> Result<(Self, Lock, StoreRead), StoreError> {
        let (mut transaction, left) = Self::kept(shared, wait).await?;
        if transaction.lock.is_some() {
            return Ok((transaction, Lock::Kept, shared.load().await?));
        }
        let (guard, read) = shared.lock_and_load(left).await?;
        *transaction.lock = Some(guard);
        Ok((transaction, Lock::Taken, read))
    }

    /// Starts with the kept lock, if there is one. Also returns the remaining wait.
    async fn kept(shared: &Arc<Shared>, wait: Duration) -> Result<(Self, Duration), StoreError> {
        let clock = shared.clock();
        let until = clock.monotonic().saturating_add(wait);
        let lock = clock
            .within(wait, shared.lock.clone().lock_owned())
            .await
            .ok_or_else(StoreError::lock_timeout)?;
        let shared = shared.clone();
        let left = until.saturating_sub(shared.clock().monotonic());
        Ok((Self { lock, shared }, left))
    }

    /// Takes the lock if it is not held.
    async fn relock(&mut self, wait: Duration) -> Result<(), StoreError> {
        if self.lock.is_none() {
            let shared = &self.shared;
            *self.lock = Some(shared.store.lock(&shared.key, wait).await?);
        }
        Ok(())
    }
}

impl Drop for RefreshTransaction {
    /// Releases the lock, or keeps it while tokens are not stored.
    fn drop(&mut self) {
        if self.shared.state().has_unsaved() {
            // OK to ignore: without a runtime nothing can be stored now, and the next call starts the task.
            let _ = save_later(&self.shared);
        } else {
            self.lock.take();
        }
    }
}

/// A refresh that has not sent its request yet.
pub(super) struct RefreshAttempt {
    pub(super) transaction: Option<RefreshTransaction>,
    pub(super) progress: RefreshProgress,
    /// When the wait for the lock and for marks ends.
    until: Duration,
    /// The failure of the latest read during a wait for a mark.
    pub(super) read_failure: Option<StoreError>,
}

impl RefreshAttempt {
    pub(super) fn begin(shared: &Shared) -> Self {
        let wait = shared.policy.timing.lock_wait;
        Self {
            transaction: None,
            progress: RefreshProgress {
                lock: Lock::Untaken,
                has_saved: false,
                claim: None,
            },
            until: shared.clock().monotonic().saturating_add(wait),
            read_failure: None,
        }
    }

    /// The remaining wait.
    pub(super) fn left(&self, shared: &Shared) -> Duration {
        self.until.saturating_sub(shared.clock().monotonic())
    }
}

/// Stores the cached tokens. Reports and returns a store failure; storing is retried later.
pub(super) async fn save_or_report(session: &Session) -> Result<Option<StoreError>, Stop> {
    let Err(error) = session.save().await? else {
        return Ok(None);
    };
    tracing::warn!("new tokens could not be stored: {error}");
    let reason = Error::from(error.clone());
    session.shared.note_failure(&reason);
    session.shared.emit(Event::PersistFailed { error: reason });
    save_later(&session.shared)?;
    Ok(Some(error))
}

/// Starts a task that stores the cached tokens, unless they are stored or such a task is running. A task that panicked or lost
/// its runtime does not count as running.
pub(super) fn save_later(shared: &Arc<Shared>) -> Result<()> {
    let mut state = shared.state();
    if state.has_unsaved() && state.saver.as_ref().is_none_or(JoinHandle::is_finished) {
        state.saver = Some(shared.spawn(keep_saving(shared.clone()))?);
    }
    Ok(())
}

async fn keep_saving(shared: Arc<Shared>) {
    for failures in 1_u32.. {
        let session = Session::current(&shared, &shared.state());
        let pause = backoff(failures, fastrand::f64()).min(LONGEST_PAUSE);
        // A new session ends the pause early: the tokens of a new login must not wait for it.
        let _ = session.run(shared.clock().sleep(pause)).await;
        save_unsaved(&shared).await;
        let mut state = shared.state();
        if !state.has_unsaved() {
            // Later tokens start another task.
            state.saver = None;
            return;
        }
    }
}

/// Stores the cached tokens now, unless they are stored. Failures are retried later.
pub(super) async fn save_unsaved(shared: &Arc<Shared>) {
    if shared.state().has_unsaved() {
        save_once(shared).await;
    }
}

/// Makes one attempt, in the current session.
async fn save_once(shared: &Arc<Shared>) {
    let is_unversioned = |state: &State| {
        let cached = state.cached.as_ref();
        cached.is_none_or(|cached| cached.version.is_none())
    };
    let _transaction = match RefreshTransaction::kept(shared, SAVE_LOCK_WAIT).await {
        Ok((mut transaction, _)) => {
            if !shared.store.lock_survives_faults() {
                transaction.lock.take();
            }
            match transaction.relock(SAVE_LOCK_WAIT).await {
                Err(error) if error.kind() != StoreErrorKind::LockTimeout => return,
                _ => Some(transaction),
            }
        }
        // Without the lock, a first write could follow a logout that found no record.
        Err(_) if is_unversioned(&shared.state()) => return,
        // A refresh holds the lock, and its request may outlast the wait of other processes for the mark.
        Err(_) => None,
    };
    let (session, token) = {
        let state = shared.state();
        let cached = state.cached.as_ref();
        let token = cached.and_then(|cached| cached.tokens.refresh_token.clone());
        (Session::current(shared, &state), token)
    };
    match session.save().await {
        Ok(Ok(())) => {
            // OK to ignore: tokens of an earlier session are not published.
            let _ = session.publish_cached();
        }
        Ok(Err(error)) => shared.note_failure(&error.into()),
        Err(Stop::Superseded) => {}
        // Revokes the tokens if the user was logged out elsewhere.
        Err(Stop::Failed(_)) => shared.discard(token.as_ref()).await,
    }
}
