//! Counts what is under way, so that the end of a program can wait for it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::shared::Shared;
use crate::error::{Error, Result};
use crate::transport::{First, first};

/// A task that should not be cut off. Dropped at its end, also when it panics.
pub(super) struct Work(Arc<Shared>);

impl Work {
    pub(super) fn begin(shared: &Arc<Shared>) -> Self {
        shared.work.send_modify(|tasks| *tasks += 1);
        Self(shared.clone())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.work.send_modify(|tasks| *tasks -= 1);
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
    pub(super) async fn settle_down(&self, limit: Duration) -> bool {
        let mut work = self.work.subscribe();
        let done = pin!(work.wait_for(|tasks| *tasks == 0));
        matches!(
            first(done, self.clock().sleep(limit)).await,
            First::Left(Ok(_))
        )
    }
}

/// The runtime on which tasks of their own can run.
pub(super) fn runtime() -> Result<Handle> {
    Handle::try_current()
        .map_err(|_| Error::config("the token manager must be used inside a tokio runtime"))
}
