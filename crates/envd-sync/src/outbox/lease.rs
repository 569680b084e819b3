//! The right to send, of one process at a time.
//!
//! It saves requests and keeps order. That nothing is sent twice does not rest on it: every mark is written over the state that
//! it was made from, and what is in flight with another process is looked for before it is sent again.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};

use super::account_outbox::{LONGEST_LEASE, Outbox};
use super::entry::EntryState;
use super::outbox_store::Draft;
use super::pass::Pass;
use super::stored::{Event, Head, Lease};
use crate::error::Result;
use envd_sdk::model::Timestamp;

impl Pass<'_> {
    /// Until when another process has the right to send, if one has.
    pub(super) fn held_by_another(&self, head: &Head) -> Option<SystemTime> {
        let lease = head.lease.as_ref()?;
        let own = self.outbox.with_memory(|memory| memory.lease);
        let is_over = lease.number == own || self.outbox.is_due(&lease.until, LONGEST_LEASE);
        lease.until.to_time().filter(|_| !is_over)
    }

    /// Changes the outbox with the right to send, which the first change of a pass takes: what was in flight with another
    /// process, or an earlier pass, is unconfirmed from then on. `None`: another process has the right.
    pub(super) async fn change_held<T>(
        &self,
        mut change: impl FnMut(&mut Draft) -> Result<T>,
    ) -> Result<Option<T>> {
        loop {
            if let Some(result) = self.try_change_held(&mut change).await? {
                return Ok(result);
            }
        }
    }

    /// As [`change_held`](Self::change_held); the outer `None`: another process was faster.
    pub(super) async fn try_change_held<T>(
        &self,
        change: impl FnOnce(&mut Draft) -> Result<T>,
    ) -> Result<Option<Option<T>>> {
        let result = self
            .outbox
            .store()
            .try_change(self.outbox.timestamp(), |draft| {
                let Some(number) = self.hold(draft) else {
                    return Ok(None);
                };
                Ok(Some((number, change(draft)?)))
            });
        let result = result.await?;
        // Only what is written counts: another process may have taken the same number.
        let number = result
            .as_ref()
            .map(|held| held.as_ref().map_or(0, |(number, _)| *number));
        if let Some(number) = number {
            self.lease.store(number, Ordering::Relaxed);
        }
        if let Some(number) = number.filter(|number| *number > 0) {
            self.outbox.with_memory(|memory| memory.lease = number);
        }
        Ok(result.map(|held| held.map(|(_, result)| result)))
    }

    /// The right to send, taken or prolonged; `None`: another process has it.
    fn hold(&self, draft: &mut Draft) -> Option<u64> {
        self.held_since.store(self.monotonic(), Ordering::Relaxed);
        let held = self.lease.load(Ordering::Relaxed);
        let until = self.outbox.lease_until();
        if let Some(lease) = draft
            .head
            .lease
            .as_mut()
            .filter(|lease| lease.number == held)
        {
            lease.until = until;
            return Some(held);
        }
        if self.held_by_another(&draft.head).is_some() {
            return None;
        }
        draft.head.leases += 1;
        let number = draft.head.leases;
        draft.head.lease = Some(Lease { number, until });
        let in_flight: Vec<u64> = (draft.entries())
            .filter(|entry| entry.state() == EntryState::Sending)
            .map(|entry| entry.id)
            .collect();
        for id in in_flight {
            draft.append(id, Event::Abandoned);
        }
        Some(number)
    }

    /// Waits for a request, and says meanwhile that this process works. `None`: another process has taken over, so what is not
    /// sent yet must not be sent any more. A process that was suspended notices it here before it goes on.
    pub(super) async fn while_held<T>(&self, request: impl Future<Output = T>) -> Option<T> {
        if self.lease.load(Ordering::Relaxed) == 0 {
            return Some(request.await);
        }
        let mut request = pin!(request);
        loop {
            let third = self.outbox.settings.lease / 3;
            let held = self.monotonic() - self.held_since.load(Ordering::Relaxed);
            let left = third.saturating_sub(Duration::from_millis(held));
            if left.is_zero() {
                // A store that fails now fails again when the result is written.
                if matches!(self.prolong().await, Ok(false)) {
                    // The next change takes the right to send anew, if the other process has given it back.
                    self.lease.store(0, Ordering::Relaxed);
                    return None;
                }
                continue;
            }
            let slept = pin!(self.outbox.settings.clock.sleep(left));
            if let Either::Right((result, _)) = select(slept, request.as_mut()).await {
                return Some(result);
            }
        }
    }

    fn monotonic(&self) -> u64 {
        let monotonic = self.outbox.settings.clock.monotonic().as_millis();
        u64::try_from(monotonic).unwrap_or(u64::MAX)
    }

    /// Says that this process works; `false`: another one has taken over.
    async fn prolong(&self) -> Result<bool> {
        self.held_since.store(self.monotonic(), Ordering::Relaxed);
        let held = self.lease.load(Ordering::Relaxed);
        let until = self.outbox.lease_until();
        let change = self.outbox.change(|draft| {
            let lease = draft.head.lease.as_mut();
            let Some(lease) = lease.filter(|lease| lease.number == held) else {
                return Ok(false);
            };
            lease.until = until.clone();
            Ok(true)
        });
        change.await
    }

    pub(super) async fn release(&mut self) -> Result<()> {
        let held = self.lease.load(Ordering::Relaxed);
        if held == 0 {
            return Ok(());
        }
        self.outbox.release_lease(held).await
    }
}

impl Outbox {
    /// Gives up the lease that this process took last, if it still has it.
    pub(super) async fn release_last_lease(&self) -> Result<()> {
        self.release_lease(self.with_memory(|memory| memory.lease))
            .await
    }

    async fn release_lease(&self, held: u64) -> Result<()> {
        let change = self.change(|draft| {
            draft.head.lease = draft.head.lease.take().filter(|lease| lease.number != held);
            Ok(())
        });
        change.await
    }

    fn lease_until(&self) -> Timestamp {
        let now = self.now();
        now.checked_add(self.settings.lease).unwrap_or(now).into()
    }
}
