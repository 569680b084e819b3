//! A mock server that can be dropped in any task, for the fakes and for unit tests.

#[cfg(test)]
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Waker};

use wiremock::MockServer;

/// An unpooled mock server.
///
/// Dropping a [`MockServer`] blocks the thread until it gets a lock of tokio. A task without cooperative budget gets no lock
/// before it yields, which a blocked task never does: the program would hang.
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
    async fn a_task_without_budget_can_drop_it() {
        let mut server = Some(Mock::from(MockServer::builder().start().await));
        poll_fn(|context| {
            while pin!(consume_budget()).poll(context).is_ready() {}
            drop(server.take());
            Poll::Ready(())
        })
        .await;
    }
}
