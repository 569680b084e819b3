//! Stores tokens that could not be stored at once, under the lock that was kept for them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::shared::{Shared, Stop};
use super::verdict::backoff;
use crate::error::Result;
use crate::transport::first;

/// The longest pause between two attempts. Other processes wait longer before they send the stored refresh token
/// (see `mark::CLAIM_PERIOD`).
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Another process may hold a lock that was lost only to look at the record: the write compares versions anyway.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Marks the task as running. Also when the task panics, or is dropped with its runtime, the next one can start.
struct Saving {
    shared: Arc<Shared>,
    ended: bool,
}

impl Saving {
    /// Whether nothing is left to be stored. If so, the task has ended: tokens that come later start another one.
    fn is_done(&mut self) -> bool {
        let mut state = self.shared.state();
        if !state.has_unsaved() {
            state.saving = false;
            self.ended = true;
        }
        self.ended
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.state().saving = false;
        }
    }
}

impl Shared {
    /// Starts the task that stores the held tokens later, if there is something to store and it does not run.
    pub(super) fn start_saving(self: &Arc<Self>) -> Result<()> {
        {
            let mut state = self.state();
            if !state.has_unsaved() || std::mem::replace(&mut state.saving, true) {
                return Ok(());
            }
        }
        let saving = Saving {
            shared: self.clone(),
            ended: false,
        };
        self.spawn(save_later(saving)).map(drop)
    }

    /// One attempt, in the epoch that is.
    async fn save_again(self: &Arc<Self>) {
        let _lease = match self.kept_lease(LOCK_WAIT).await {
            Ok(mut lease) => match lease.refresh_lock(LOCK_WAIT).await {
                Err(error) if !error.is_lock_timeout() => return,
                _ => Some(lease),
            },
            // A first write without the lock could come after a logout that found no record.
            Err(_)
                if self
                    .state()
                    .held
                    .as_ref()
                    .is_none_or(|held| held.version.is_none()) =>
            {
                return;
            }
            // A refresh has it, whose request may take longer than others leave the mark alone.
            Err(_) => None,
        };
        let (epoch, token) = {
            let state = self.state();
            let held = state.held.as_ref();
            let token = held.and_then(|held| held.tokens.refresh_token.clone());
            (state.epoch, token)
        };
        match self.save(epoch).await {
            Ok(Ok(())) => {
                // OK to ignore: superseded ones are not to be published.
                let _ = self.publish_held(epoch);
            }
            Ok(Err(_)) | Err(Stop::Superseded) => {}
            // Revoked if the user was logged out elsewhere.
            Err(Stop::Failed(_)) => self.discard(token.as_ref()).await,
        }
    }
}

async fn save_later(mut saving: Saving) {
    let shared = saving.shared.clone();
    for failures in 1_u32.. {
        let epoch = shared.state().epoch;
        let pause = backoff(failures).min(LONGEST_PAUSE);
        // New tokens of a login may wait for the same store: they do not wait for the end of the pause.
        first(pin!(shared.clock().sleep(pause)), shared.superseded(epoch)).await;
        if saving.is_done() {
            return;
        }
        shared.save_again().await;
        if saving.is_done() {
            return;
        }
    }
}
