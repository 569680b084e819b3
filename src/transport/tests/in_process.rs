//! Answers requests without a network, for tests of many requests.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::error::Error;
use crate::transport::{Reply, Request};

type Answered = BoxFuture<'static, Result<Reply, Error>>;

/// Takes the place of the network. It costs little and is deterministic, so that thousands of random schedules run in
/// seconds, and a future that is dropped at its n-th poll is dropped at the same point in each run.
#[derive(Clone)]
pub(crate) struct InProcess(Arc<dyn Fn(Request) -> Answered + Send + Sync>);

impl InProcess {
    pub(crate) fn new(answer: impl Fn(Request) -> Answered + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    pub(in crate::transport) fn answer(&self, request: Request) -> Answered {
        (self.0)(request)
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}
