//! The account's lock, as the tasks of one manager share it.
//!
//! While new tokens are not stored yet, the lock stays with the manager between the attempts to store them: another
//! process that got it would find the mark of the refresh, and send the refresh token that is used up.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::shared::{Shared, StoreRead};
use crate::auth::{StoreError, StoreGuard};

/// Empty unless a task holds the lock, or tokens wait to be stored. The inner mutex lets one task at a time use it.
pub(super) type Slot = Arc<Mutex<Option<StoreGuard>>>;

/// The right to use the account's lock. At its end the lock is freed, or kept for tokens that are not stored yet.
pub(super) struct Lease {
    slot: OwnedMutexGuard<Option<StoreGuard>>,
    shared: Arc<Shared>,
    /// Whether an earlier task took the lock: one that can be lost may have been since.
    pub(super) kept: bool,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.shared.has_unsaved() {
            // OK to ignore: without a runtime nothing can be stored now; the next call starts it.
            let _ = self.shared.start_saving();
        } else {
            self.slot.take();
        }
    }
}

impl Shared {
    /// Takes the lock, or goes on with the one that was kept.
    pub(super) async fn lease(self: &Arc<Self>, wait: Duration) -> Result<Lease, StoreError> {
        let until = self.clock().boot().saturating_add(wait);
        let mut lease = self.kept_lease(wait).await?;
        if !lease.kept {
            let left = until.saturating_sub(self.clock().boot());
            *lease.slot = Some(self.store.lock(&self.key, left).await?);
        }
        Ok(lease)
    }

    /// As [`lease`](Self::lease), and what the store has under the lock.
    pub(super) async fn lease_and_load(
        self: &Arc<Self>,
        wait: Duration,
    ) -> Result<(Lease, StoreRead), StoreError> {
        let until = self.clock().boot().saturating_add(wait);
        let mut lease = self.kept_lease(wait).await?;
        if lease.kept {
            let read = self.stored().await?;
            return Ok((lease, read));
        }
        let left = until.saturating_sub(self.clock().boot());
        let writes = self.state().writes;
        let (guard, stored) = self.store.lock_and_load(&self.key, left).await?;
        *lease.slot = Some(guard);
        let read = StoreRead::new(stored, writes)?;
        Ok((lease, read))
    }

    /// The lease with whatever is in the slot.
    pub(super) async fn kept_lease(self: &Arc<Self>, wait: Duration) -> Result<Lease, StoreError> {
        let slot = self.clock().within(wait, self.slot.clone().lock_owned());
        let slot = slot.await.ok_or_else(StoreError::lock_timeout)?;
        Ok(Lease {
            kept: slot.is_some(),
            slot,
            shared: self.clone(),
        })
    }
}

impl Lease {
    /// Takes the lock if there is none, or if it can be lost and may have been.
    pub(super) async fn refresh_lock(&mut self, wait: Duration) -> Result<(), StoreError> {
        let shared = self.shared.clone();
        if !shared.store.lock_survives_faults() {
            self.slot.take();
        }
        if self.slot.is_none() {
            *self.slot = Some(shared.store.lock(&shared.key, wait).await?);
        }
        Ok(())
    }
}
