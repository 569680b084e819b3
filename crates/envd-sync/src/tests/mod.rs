//! What the tests of replica and outbox share: replies without a network.

pub(crate) mod replies;
