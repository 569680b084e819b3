//! Looks at the store in the background while tokens are served from memory.

use std::sync::Arc;

use super::shared::{Shared, State};

/// A look that is registered and has still to be started, outside of the lock.
pub(super) struct Look {
    shared: Arc<Shared>,
    epoch: u64,
}

impl Look {
    pub(super) fn new(shared: &Arc<Shared>, state: &mut State) -> Self {
        state.looking = true;
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
                Ok(seen) => {
                    // OK to ignore: callers meet what it found, and events tell it.
                    let _ = self.shared.reconcile(self.epoch, seen);
                }
                Err(error) => tracing::debug!("the token store could not be looked at: {error}"),
            }
        });
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        self.shared.state().looking = false;
    }
}
