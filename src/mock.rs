//! A mock server that can be dropped anywhere: behind the fakes, and in tests of single rooms.

#[cfg(test)]
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Waker};

use wiremock::MockServer;

/// A mock server of one's own, not pooled.
///
/// The drop of a [`MockServer`] blocks its thread until it has a lock of tokio. To a task that has used up its cooperative
/// budget tokio hands out no lock before the task yields, which a blocked one never does: the program would hang.
pub(crate) struct Mock {
    /// `None` only while it is dropped.
    server: Option<MockServer>,
}

impl From<MockServer> for Mock {
    fn from(server: MockServer) -> Self {
        let server = Some(server);
        Self { server }
    }
}

#[cfg(test)]
impl Deref for Mock {
    type Target = MockServer;

    fn deref(&self) -> &MockServer {
        self.server.as_ref().unwrap()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let server = self.server.take();
        let drop = pin!(tokio::task::unconstrained(async move { drop(server) }));
        // OK to ignore: it is ready at once.
        let _ = drop.poll(&mut Context::from_waker(Waker::noop()));
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use tokio::task::coop::consume_budget;

    use super::*;

    #[tokio::test]
    async fn it_can_be_dropped_by_a_task_that_has_used_up_its_budget() {
        let mut server = Some(Mock::from(MockServer::builder().start().await));
        poll_fn(|context| {
            while pin!(consume_budget()).poll(context).is_ready() {}
            drop(server.take());
            Poll::Ready(())
        })
        .await;
    }
}
