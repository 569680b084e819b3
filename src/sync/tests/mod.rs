//! What the tests of replica and outbox share: replies without a network, and the runner of random schedules.

pub(in crate::sync) mod replies;
pub(in crate::sync) mod schedules;
