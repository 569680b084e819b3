//! The HTTP server behind the front, and how it ends.

use std::thread;

use wiremock::MockServer;

/// A server that is dropped in a thread of its own.
///
/// `wiremock` blocks on a lock of tokio when it is dropped. To a task that has used up its budget tokio says that the lock
/// is not free yet, and wakes the task when its thread has time, which a blocked thread never has: the caller's test would
/// hang. Another thread has no budget to use up.
pub(super) struct Backend(Option<MockServer>);

impl Backend {
    pub(super) fn new(server: MockServer) -> Self {
        Self(Some(server))
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let server = self.0.take();
        if let Ok(ending) = thread::Builder::new().spawn(move || drop(server)) {
            // A server that panicked is gone as well.
            let _ = ending.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::coop::{consume_budget, has_budget_remaining};

    use super::*;

    #[tokio::test]
    async fn a_task_that_has_used_up_its_budget_can_drop_it() {
        let backend = Backend::new(MockServer::start().await);
        while has_budget_remaining() {
            consume_budget().await;
        }
        drop(backend);
    }
}
