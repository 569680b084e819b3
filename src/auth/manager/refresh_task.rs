//! A refresh that runs apart from its callers.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument;

use super::epoch::Epoch;
use super::refresh::Refresh;
use super::shared::Shared;
use super::state::{Completion, State, Stop};
use crate::auth::AccessToken;
use crate::error::Result;

/// A task that is registered in the state, and is to be started after the lock is released.
pub(super) struct RefreshTask {
    result: watch::Sender<Option<Result<AccessToken, Stop>>>,
    registration: Registration,
    refresh: Refresh,
}

/// Ends with the task, also when the task panics or is dropped with its runtime.
struct Registration {
    shared: Arc<Shared>,
    completion: Completion,
    /// Counts the task before it is started.
    _counted: TaskTrackerToken,
}

impl RefreshTask {
    /// `replaces` is the generation to be replaced; without it any usable token is a result.
    pub(super) fn register(shared: &Arc<Shared>, state: &mut State, replaces: Option<u64>) -> Self {
        let (result, completion) = watch::channel(None);
        state.refresh = Some(completion.clone());
        let epoch = Epoch::current(shared, state);
        Self {
            result,
            registration: Registration {
                shared: shared.clone(),
                completion,
                _counted: shared.tasks.token(),
            },
            refresh: Refresh { epoch, replaces },
        }
    }

    pub(super) fn completion(&self) -> Completion {
        self.registration.completion.clone()
    }

    /// The lock of the state must be released: a runtime that shuts down drops the task at once.
    pub(super) fn start(self) -> Result<()> {
        let shared = self.registration.shared.clone();
        let task = async move {
            // Dropped last to first, so that the registration ends first: a woken caller must not find a refresh that has ended.
            let result = self.result;
            let registration = self.registration;
            let outcome = self.refresh.run().await;
            if let Err(Stop::Failed(error)) = &outcome {
                registration.shared.note_failure(error);
            }
            drop(registration);
            result.send_replace(Some(outcome));
        };
        let span = tracing::debug_span!("token_refresh");
        shared.spawn(task.instrument(span)).map(drop)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        let running = state.refresh.as_ref();
        if running.is_some_and(|running| running.same_channel(&self.completion)) {
            state.refresh = None;
        }
        if let Some(snapshot) = &*self.shared.snapshot.load() {
            snapshot.set_refreshing(false);
        }
    }
}
