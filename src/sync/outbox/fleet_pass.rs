//! What a fleet of hosts does with an outbox, in place of the loop.

use std::time::Duration;

use super::{Outbox, OutboxReport};
use crate::error::Result;

/// One pass, and when the next one has something to do.
pub(crate) struct FleetPass {
    pub(crate) report: OutboxReport,
    /// `None`: nothing is due, until something is written or decided.
    pub(crate) due_in: Option<Duration>,
    /// The version of the outbox after the pass.
    pub(crate) version: u64,
}

impl Outbox {
    /// A number that grows with each change of the outbox, in one read; 0: it was never used.
    pub(crate) async fn version(&self) -> Result<u64> {
        Ok(self.journal().head().await?.0)
    }

    /// Does what is due, without waiting for what is due later.
    pub(crate) async fn pass_once(&self) -> Result<FleetPass> {
        let (report, due) = Box::pin(self.pass()).await?;
        Ok(FleetPass {
            report,
            due_in: due.at().map(|at| self.time_until(at)),
            version: self.journal().cached().version,
        })
    }
}
