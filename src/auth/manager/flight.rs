//! A refresh in the air: a task that owns everything, and a channel on which all callers wait for it.

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
pub(super) enum Arrival {
    Token(AccessToken),
    Failed(Error),
    Superseded,
}

pub(super) type Landing = watch::Receiver<Option<Arrival>>;

/// A refresh that is registered and has still to be started, outside of the lock.
pub(super) struct Takeoff {
    pilot: Pilot,
    refresh: Refresh,
}

/// Reports the end of a refresh, also when its task panics or is dropped.
struct Pilot {
    shared: Arc<Shared>,
    id: u64,
    result: watch::Sender<Option<Arrival>>,
    _work: Work,
}

impl Takeoff {
    /// `replaces` is the generation to be replaced; without it any usable token will do.
    pub(super) fn new(shared: &Arc<Shared>, state: &mut State, replaces: Option<u64>) -> Self {
        let (result, landing) = watch::channel(None);
        state.flights += 1;
        let id = state.flights;
        state.flight = Some((id, landing));
        let shared = shared.clone();
        Self {
            refresh: Refresh::new(shared.clone(), state.epoch, replaces),
            pilot: Pilot {
                _work: Work::begin(&shared),
                shared,
                id,
                result,
            },
        }
    }

    pub(super) fn landing(&self) -> Landing {
        self.pilot.result.subscribe()
    }

    pub(super) fn go(self) -> Result<()> {
        let Self { pilot, refresh } = self;
        let runtime = runtime()?;
        let span = tracing::debug_span!("token_refresh");
        runtime.spawn(
            async move {
                let arrival = match refresh.run().await {
                    Ok(token) => Arrival::Token(token),
                    Err(Stop::Failed(error)) => Arrival::Failed(error),
                    Err(Stop::Superseded) => Arrival::Superseded,
                };
                pilot.land(arrival);
            }
            .instrument(span),
        );
        Ok(())
    }
}

impl Pilot {
    fn land(&self, arrival: Arrival) {
        let mut state = self.shared.state();
        if state.flight.as_ref().is_some_and(|(id, _)| *id == self.id) {
            state.flight = None;
        }
        if let Some(snapshot) = &*self.shared.snapshot.load() {
            snapshot.attend(false);
        }
        drop(state);
        self.result.send_replace(Some(arrival));
    }
}

impl Drop for Pilot {
    fn drop(&mut self) {
        if self.result.borrow().is_none() {
            self.land(Arrival::Failed(unavailable("the refresh was cut off")));
        }
    }
}
