//! A refresh under way: a task that owns everything, and a channel on which all callers wait for it.

use std::sync::Arc;

use tokio::sync::watch;
use tracing::Instrument;

use super::refresh::Refresh;
use super::shared::{Shared, State, Stop};
use super::work::{Work, runtime};
use crate::auth::AccessToken;
use crate::auth::failure::unavailable;
use crate::error::{Error, Result};

/// How a refresh ended.
#[derive(Clone)]
pub(super) enum Outcome {
    Token(AccessToken),
    Failed(Error),
    Superseded,
}

pub(super) type Completion = watch::Receiver<Option<Outcome>>;

/// A refresh that is registered and has still to be started, outside of the lock.
pub(super) struct RefreshTask {
    reporter: Reporter,
    refresh: Refresh,
}

/// Reports the end of a refresh, also when its task panics or is dropped.
struct Reporter {
    shared: Arc<Shared>,
    id: u64,
    result: watch::Sender<Option<Outcome>>,
    _work: Work,
}

impl RefreshTask {
    /// `replaces` is the generation to be replaced; without it any usable token will do.
    pub(super) fn new(shared: &Arc<Shared>, state: &mut State, replaces: Option<u64>) -> Self {
        let (result, completion) = watch::channel(None);
        state.refreshes += 1;
        let id = state.refreshes;
        state.refresh = Some((id, completion));
        let shared = shared.clone();
        Self {
            refresh: Refresh::new(shared.clone(), state.epoch, replaces),
            reporter: Reporter {
                _work: Work::begin(&shared),
                shared,
                id,
                result,
            },
        }
    }

    pub(super) fn completion(&self) -> Completion {
        self.reporter.result.subscribe()
    }

    pub(super) fn go(self) -> Result<()> {
        let Self { reporter, refresh } = self;
        let runtime = runtime()?;
        let span = tracing::debug_span!("token_refresh");
        runtime.spawn(
            async move {
                let outcome = match refresh.run().await {
                    Ok(token) => Outcome::Token(token),
                    Err(Stop::Failed(error)) => Outcome::Failed(error),
                    Err(Stop::Superseded) => Outcome::Superseded,
                };
                reporter.complete(outcome);
            }
            .instrument(span),
        );
        Ok(())
    }
}

impl Reporter {
    fn complete(&self, outcome: Outcome) {
        let mut state = self.shared.state();
        if state.refresh.as_ref().is_some_and(|(id, _)| *id == self.id) {
            state.refresh = None;
        }
        if let Some(snapshot) = &*self.shared.snapshot.load() {
            snapshot.attend(false);
        }
        drop(state);
        self.result.send_replace(Some(outcome));
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        if self.result.borrow().is_none() {
            self.complete(Outcome::Failed(unavailable("the refresh was cut off")));
        }
    }
}
