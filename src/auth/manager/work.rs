//! Counts what is under way, so that the end of a program can wait for it.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::notice::until;
use super::shared::Shared;
use crate::error::{Error, Result};
use crate::transport::{First, first};

/// How many tasks are under way. Small, because each of many accounts has one.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    running: AtomicUsize,
    /// Tells that none is running any more.
    none: Notify,
}

/// A task that should not be cut off. Dropped at its end, also when it panics.
pub(super) struct Work(Arc<Shared>);

impl Work {
    pub(super) fn begin(shared: &Arc<Shared>) -> Self {
        shared.work.running.fetch_add(1, Ordering::SeqCst);
        Self(shared.clone())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.0.work.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.work.none.notify_waiters();
        }
    }
}

impl Shared {
    /// Runs in a task of its own, which no caller can cancel.
    pub(super) fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        let runtime = runtime()?;
        let work = Work::begin(self);
        Ok(runtime.spawn(async move {
            let _work = work;
            task.await
        }))
    }

    /// Waits until nothing is under way, at most this long; tells whether nothing is.
    pub(super) async fn wait_idle(&self, limit: Duration) -> bool {
        let Tasks { running, none } = &self.work;
        let done = pin!(until(none, || running.load(Ordering::SeqCst) == 0));
        matches!(
            first(done, self.clock().sleep(limit)).await,
            First::Left(())
        )
    }
}

/// The runtime on which tasks of their own can run.
pub(super) fn runtime() -> Result<Handle> {
    Handle::try_current()
        .map_err(|_| Error::config("the token manager must be used inside a tokio runtime"))
}
