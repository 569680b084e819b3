//! Stops and wakes a loop that runs until it is stopped.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use tokio::sync::{Notify, watch};

/// What a loop shares with its handles.
#[derive(Clone, Debug)]
pub(super) struct LoopControl {
    stopped: Arc<watch::Sender<bool>>,
    wake: Arc<Notify>,
}

impl LoopControl {
    pub(super) fn new() -> Self {
        Self {
            stopped: Arc::new(watch::Sender::new(false)),
            wake: Arc::default(),
        }
    }

    pub(super) fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Ends the wait that runs, or else the next one.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// The output of a future; `None`: the loop was stopped before.
    pub(super) async fn unless_stopped<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut stopped = self.stopped.subscribe();
        let stopped = pin!(stopped.wait_for(|stopped| *stopped));
        match select(pin!(future), stopped).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// Waits for the end of a time, or until the loop is woken; `None`: it was stopped before.
    pub(super) async fn wait(&self, time: impl Future) -> Option<()> {
        let (time, woken) = (pin!(time), pin!(self.woken()));
        let over = self.unless_stopped(select(time, woken)).await;
        over.map(drop)
    }

    /// Waits until the loop is woken.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}
