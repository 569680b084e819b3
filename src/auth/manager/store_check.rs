//! Reads the store in the background while tokens are served from memory, to notice a logout or login elsewhere.

use std::sync::Arc;

use super::shared::{Shared, State};

/// A check that is registered and has still to be started, outside of the lock.
pub(super) struct StoreCheck {
    shared: Arc<Shared>,
    epoch: u64,
}

impl StoreCheck {
    pub(super) fn new(shared: &Arc<Shared>, state: &mut State) -> Self {
        state.checking = true;
        Self {
            shared: shared.clone(),
            epoch: state.epoch,
        }
    }

    pub(super) fn go(self) {
        let shared = self.shared.clone();
        // OK to ignore: the token that is served is good without a runtime as well.
        let _ = shared.spawn(async move {
            // Left behind by a runtime that ended.
            let _ = self.shared.start_saving();
            match self.shared.stored().await {
                Ok(read) => {
                    // OK to ignore: the next call returns what was found, and events report it.
                    let _ = self.shared.reconcile(self.epoch, read);
                }
                Err(error) => tracing::debug!("the token store could not be read: {error}"),
            }
        });
    }
}

impl Drop for StoreCheck {
    fn drop(&mut self) {
        self.shared.state().checking = false;
    }
}
