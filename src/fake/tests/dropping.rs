//! Dropping a fake in a task that must not block.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio::task::coop::consume_budget;
use wiremock::MockServer;

use crate::fake::UnpooledServer;

#[tokio::test]
async fn a_task_without_budget_can_drop_the_server() {
    let server = MockServer::builder().start().await;
    let mut server = Some(UnpooledServer(Some(server)));
    poll_fn(|context| {
        while pin!(consume_budget()).poll(context).is_ready() {}
        drop(server.take());
        Poll::Ready(())
    })
    .await;
}
