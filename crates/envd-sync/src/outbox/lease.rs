//! The lease: only one process at a time sends.
//!
//! The lease only avoids extra requests. Safety does not depend on it: every mark is written only over the state that it was decided
//! for, and a request that is under way in another process is searched for before it is sent again.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};

use super::apply::RowEvent;
use super::outbox::{LONGEST_LEASE, Outbox};
use super::row::RowState;
use super::store::{Head, Lease, Transaction};
use crate::error::{Error, Result};
use envd_sdk::model::Timestamp;

/// Why a pass ends early.
pub(super) enum PassEnd {
    /// Another process has the lease.
    Overtaken,
    /// The reason is in the report.
    Reported,
    Failed(Error),
}

impl<E: Into<Error>> From<E> for PassEnd {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The lease of a pass.
pub(super) struct LeaseGuard<'a> {
    outbox: &'a Outbox,
    /// The number of the lease; 0: the pass has not written anything yet.
    number: u64,
    /// When it was last taken or renewed, on the monotonic clock.
    since: Duration,
    /// The error of a failed renewal while a request was under way. It ends the pass.
    failed: Option<Error>,
}

impl<'a> LeaseGuard<'a> {
    pub(super) fn new(outbox: &'a Outbox) -> Self {
        Self {
            outbox,
            number: 0,
            since: Duration::ZERO,
            failed: None,
        }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.number > 0
    }

    /// The end of another process's lease, if there is one.
    pub(super) fn of_another(&self, head: &Head) -> Option<SystemTime> {
        let lease = head.lease.as_ref()?;
        let own = self.outbox.with_memory(|memory| memory.lease);
        let until = lease.until.to_time()?;
        let left = until.duration_since(self.outbox.now()).unwrap_or_default();
        let is_over = lease.number == own || left.is_zero() || left > LONGEST_LEASE;
        (!is_over).then_some(until)
    }

    /// Changes the rows under the lease. The first change of a pass takes the lease. Requests that another process or an earlier pass
    /// left under way become doubtful then.
    pub(super) async fn change<T>(
        &mut self,
        mut change: impl FnMut(&mut Transaction<'_>) -> T,
    ) -> Result<T, PassEnd> {
        let since = self.outbox.clock.monotonic();
        let held = self.outbox.change(|draft| {
            let number = self.hold(draft)?;
            Some((number, change(draft)))
        });
        // The lease is held only after the commit, because another process may have taken the same number.
        let held = held.await?;
        self.number = held.as_ref().map_or(0, |(number, _)| *number);
        self.since = since;
        if self.is_taken() {
            self.outbox.with_memory(|memory| memory.lease = self.number);
        }
        let (_, result) = held.ok_or(PassEnd::Overtaken)?;
        Ok(result)
    }

    /// Takes or renews the lease; `None`: another process has it.
    fn hold(&self, draft: &mut Transaction<'_>) -> Option<u64> {
        let until = draft.now.checked_add(self.outbox.lease);
        let until: Timestamp = until.unwrap_or(draft.now).into();
        let lease = draft.head.lease.as_mut();
        if let Some(lease) = lease.filter(|lease| lease.number == self.number) {
            lease.until = until;
            return Some(self.number);
        }
        if self.is_taken() || self.of_another(&draft.head).is_some() {
            return None;
        }
        draft.head.leases += 1;
        let number = draft.head.leases;
        draft.head.lease = Some(Lease { number, until });
        let open = self.outbox.store().expecting(0);
        for row in open.iter().filter(|row| row.state == RowState::Sending) {
            if let Some(row) = draft.transition(row, &RowEvent::Doubt) {
                row.explain("the program ended, or was suspended, while it was being sent");
            }
        }
        Some(number)
    }

    /// Waits for a request, and renews the lease meanwhile. A process that was suspended notices here that another process has taken
    /// over, and then sends nothing more. If the store fails, the lease is not renewed any more. The request is still awaited, and
    /// [`failure`](Self::failure) ends the pass afterwards.
    pub(super) async fn during<T>(
        &mut self,
        request: impl Future<Output = T>,
    ) -> Result<T, PassEnd> {
        if !self.is_taken() {
            return Ok(request.await);
        }
        let mut request = pin!(request);
        let clock = &self.outbox.clock;
        loop {
            let held = clock.monotonic().saturating_sub(self.since);
            let left = (self.outbox.lease / 3).saturating_sub(held);
            if left.is_zero() {
                match self.change(|_| ()).await {
                    Ok(()) => continue,
                    Err(PassEnd::Failed(error)) => {
                        self.failed = Some(error);
                        return Ok(request.await);
                    }
                    Err(end) => return Err(end),
                }
            }
            let slept = pin!(clock.sleep(left));
            if let Either::Right((result, _)) = select(slept, request.as_mut()).await {
                return Ok(result);
            }
        }
    }

    /// Fails if the store failed while a request was under way.
    pub(super) fn failure(&mut self) -> Result<(), PassEnd> {
        self.failed.take().map_or(Ok(()), |error| Err(error.into()))
    }

    pub(super) async fn release(&self) -> Result<()> {
        self.outbox.release_lease(self.number).await
    }
}

impl Outbox {
    /// Releases the lease that this process took last, if it still has it.
    pub(super) async fn release_last_lease(&self) -> Result<()> {
        let last = self.with_memory(|memory| memory.lease);
        self.release_lease(last).await
    }

    async fn release_lease(&self, held: u64) -> Result<()> {
        if held == 0 {
            return Ok(());
        }
        self.change(|draft| {
            draft.head.lease = draft.head.lease.take().filter(|lease| lease.number != held);
        })
        .await
    }
}
