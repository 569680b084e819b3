//! The right to send, of one process at a time.
//!
//! It saves requests. That nothing is sent twice does not rest on it: every mark is written over the state that it was made from,
//! and what is under way with another process is looked for before it is sent again.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};

use super::apply::Event;
use super::outbox::{LONGEST_LEASE, Outbox};
use super::row::State;
use super::store::{Draft, Head, Lease};
use crate::error::Result;
use envd_sdk::model::Timestamp;

/// The lease of a pass.
pub(super) struct Held<'a> {
    outbox: &'a Outbox,
    /// Its number; 0: the pass has written nothing yet.
    number: AtomicU64,
    /// When it was taken or prolonged last, in milliseconds on the monotonic clock.
    since: AtomicU64,
}

impl<'a> Held<'a> {
    pub(super) fn new(outbox: &'a Outbox) -> Self {
        Self {
            outbox,
            number: AtomicU64::new(0),
            since: AtomicU64::new(0),
        }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.number() > 0
    }

    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// Until when another process has the right to send, if one has.
    pub(super) fn of_another(&self, head: &Head) -> Option<SystemTime> {
        let lease = head.lease.as_ref()?;
        let own = self.outbox.with_memory(|memory| memory.lease);
        let until = lease.until.to_time()?;
        let left = until.duration_since(self.outbox.now()).unwrap_or_default();
        let is_over = lease.number == own || left.is_zero() || left > LONGEST_LEASE;
        (!is_over).then_some(until)
    }

    /// Changes the rows with the right to send, which the first change of a pass takes: what was under way with another process, or
    /// an earlier pass, is in doubt from then on. `None`: another process has the right.
    pub(super) async fn change<T>(
        &self,
        mut change: impl FnMut(&mut Draft<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        loop {
            if let Some(result) = self.try_change(&mut change).await? {
                return Ok(result);
            }
            self.outbox.store().load().await?;
        }
    }

    /// As [`change`](Self::change); the outer `None`: another process was faster.
    pub(super) async fn try_change<T>(
        &self,
        change: impl FnOnce(&mut Draft<'_>) -> Result<T>,
    ) -> Result<Option<Option<T>>> {
        let setting = self.outbox.setting();
        let changed = self.outbox.store().try_change(&setting, |draft| {
            let Some(number) = self.hold(draft) else {
                return Ok(None);
            };
            Ok(Some((number, change(draft)?)))
        });
        let Some(held) = changed.await? else {
            return Ok(None);
        };
        // Only what is written counts: another process may have taken the same number.
        let number = held.as_ref().map_or(0, |(number, _)| *number);
        self.number.store(number, Ordering::Relaxed);
        if number > 0 {
            self.outbox.with_memory(|memory| memory.lease = number);
        }
        Ok(Some(held.map(|(_, result)| result)))
    }

    /// The right to send, taken or prolonged; `None`: another process has it.
    fn hold(&self, draft: &mut Draft<'_>) -> Option<u64> {
        self.since.store(self.monotonic(), Ordering::Relaxed);
        let held = self.number();
        let until = self.until();
        if let Some(lease) = draft
            .head
            .lease
            .as_mut()
            .filter(|lease| lease.number == held)
        {
            lease.until = until;
            return Some(held);
        }
        if held > 0 || self.of_another(&draft.head).is_some() {
            return None;
        }
        draft.head.leases += 1;
        let number = draft.head.leases;
        draft.head.lease = Some(Lease { number, until });
        for kept in draft.expecting(0) {
            if kept.row.state == State::Sending {
                let why = "the program ended, or was suspended, while it was being sent";
                // OK to ignore: a row that is being sent takes a doubt.
                let _ = draft.append(kept.row.id, &Event::Doubt, Some(why.to_owned()));
            }
        }
        Some(number)
    }

    /// Waits for a request, and says meanwhile that this process works. `None`: another process has taken over, so what is not
    /// sent yet must not be sent any more. A process that was suspended notices it here before it goes on.
    pub(super) async fn during<T>(&self, request: impl Future<Output = T>) -> Option<T> {
        if !self.is_taken() {
            return Some(request.await);
        }
        let mut request = pin!(request);
        loop {
            let third = self.outbox.settings.lease / 3;
            let held = self.monotonic() - self.since.load(Ordering::Relaxed);
            let left = third.saturating_sub(Duration::from_millis(held));
            if left.is_zero() {
                // A store that fails now fails again when the result is written.
                if matches!(self.change(|_| Ok(())).await, Ok(None)) {
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

    fn until(&self) -> Timestamp {
        let now = self.outbox.now();
        let until = now.checked_add(self.outbox.settings.lease);
        until.unwrap_or(now).into()
    }

    pub(super) async fn release(&self) -> Result<()> {
        self.outbox.release_lease(self.number()).await
    }
}

impl Outbox {
    /// Gives up the lease that this process took last, if it still has it.
    pub(super) async fn release_last_lease(&self) -> Result<()> {
        let last = self.with_memory(|memory| memory.lease);
        self.release_lease(last).await
    }

    async fn release_lease(&self, held: u64) -> Result<()> {
        if held == 0 {
            return Ok(());
        }
        let setting = self.setting();
        let change = self.store().change(&setting, |draft| {
            draft.head.lease = draft.head.lease.take().filter(|lease| lease.number != held);
            Ok(())
        });
        change.await
    }
}
