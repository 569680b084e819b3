//! The mark that a refresh leaves in the store before it is sent, and the marks of other processes.
//!
//! Where a lock can end while its holder runs, a free lock does not prove that the holder has exited. The mark is then
//! left in place for a time, replaced, and watched for as long as a running process takes at most to store its tokens.

use std::time::Duration;

use super::lease::Lease;
use super::refresh::Refresh;
use super::shared::{ForeignMark, Held, Shared, Stop, StoreRead};
use crate::auth::failure::auth;
use crate::auth::store::Intent;
use crate::auth::{AccessToken, Record, StoreError, Version};
use crate::error::AuthProblem;

/// The pause between two reads of a marked record.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How many reads in a row must succeed after the mark was replaced.
const CLAIM_READS: u32 = 60;

/// What these reads take: longer than the longest pause between two attempts of the other process to store its tokens,
/// and the time that an attempt takes.
const CLAIM_PERIOD: Duration = Duration::from_secs(30);

/// After a longer stop between reading or marking the record and sending, the record is read again: another process may
/// have replaced the mark. Much shorter than the wait for a mark.
const STALE: Duration = Duration::from_secs(10);

/// A request that was sent twice, and a minute to store its answer.
fn default_mark_wait(timeout: Duration) -> Duration {
    let first = timeout.max(Duration::from_secs(30));
    let store = Duration::from_secs(60);
    first.saturating_add(timeout).saturating_add(store)
}

/// What became of the mark of another process.
pub(super) enum MarkOutcome {
    /// Usable tokens were stored.
    Token(AccessToken),
    /// The record, or what is to be done with it, has changed.
    Changed,
    /// The replacement of the mark stood for long enough: the process has exited.
    Abandoned(Lease),
}

impl Refresh {
    /// If this process ends before the answer is stored, the mark says that the token may be used up.
    pub(super) async fn mark_intent(&self) -> Result<Held, Stop> {
        let mut held = self.held()?;
        if !held.saved || held.tokens.refresh_token.is_none() {
            return Ok(held);
        }
        // Also for a token whose first answer was lost: a new mark restarts the wait of other processes.
        let record = self.marked(&held, Some(self.shared.owner(self.epoch)));
        let marked = self.rewrite(&mut held, &record).await;
        // Nothing is sent while the store cannot be written: the answer could not be kept.
        marked.map_err(|error| self.fail(error.into(), Duration::ZERO, None))?;
        Ok(held)
    }

    /// Checked before each request, because a lock that can be lost proves nothing: the record was read or marked just
    /// now, after `began`, and has no foreign mark.
    pub(super) fn may_send(&self, began: Duration) -> Result<(), Stop> {
        if self.shared.store.lock_survives_faults() {
            return Ok(());
        }
        let passed = self.shared.clock().boot().saturating_sub(began);
        if passed > STALE || self.foreign_mark()?.is_some() {
            return Err(StoreError::lock_timeout().into());
        }
        Ok(())
    }

    pub(super) async fn clear_intent(&self, held: &mut Held) {
        if !held.doubtful && held.saved {
            let record = Record::new(held.tokens.as_ref().clone());
            // OK to ignore: a mark too many costs one refresh ahead of time.
            let _ = self.rewrite(held, &record).await;
        }
    }

    /// The mark of another process that may still run, if there is one on the held tokens.
    pub(super) fn foreign_mark(&self) -> Result<Option<ForeignMark>, Stop> {
        let state = self.shared.state_in(self.epoch)?;
        let stands = |mark: &ForeignMark| state.abandoned != Some(mark.version);
        let lost_locks = !self.shared.store.lock_survives_faults();
        Ok(state.mark.filter(stands).filter(|_| lost_locks))
    }

    /// The lock is held, perhaps by the owner of the mark: the wait for it begins when the lock is free.
    pub(super) fn forget_mark(&self) -> Result<(), Stop> {
        self.shared.state_in(self.epoch)?.mark = None;
        Ok(())
    }

    /// Waits, without the lock, until the owner of a mark has stored its tokens or the wait is over. At the end of the
    /// lock wait: a lock time-out, and the next call continues the same wait.
    pub(super) async fn wait_for_owner(
        &self,
        mark: ForeignMark,
        lease: Lease,
        until: Duration,
    ) -> Result<MarkOutcome, Stop> {
        let clock = self.shared.clock();
        if clock.boot() >= self.shared.mark_ends(mark) {
            return self.claim(mark, lease).await;
        }
        // The owner of the mark may need the lock.
        drop(lease);
        let mut last = StoreError::lock_timeout();
        loop {
            let left = until.saturating_sub(clock.boot());
            if left.is_zero() {
                return Err(last.into());
            }
            let pause = clock.sleep(POLL_INTERVAL.min(left));
            self.unless_over(pause).await?;
            match self.unless_over(self.shared.stored()).await? {
                Ok(read) => self.shared.reconcile(self.epoch, read)?,
                Err(error) => {
                    last = error;
                    continue;
                }
            }
            last = StoreError::lock_timeout();
            if let Some(token) = self.usable() {
                return Ok(MarkOutcome::Token(token));
            }
            let over = |mark| clock.boot() >= self.shared.mark_ends(mark);
            if self.foreign_mark()?.is_none_or(over) {
                return Ok(MarkOutcome::Changed);
            }
        }
    }

    /// Replaces the mark, which proves that the store can be written, then waits so that the owner of the first mark can
    /// still store its tokens. Nothing is sent unless the record stays unchanged and readable all the time.
    async fn claim(&self, mark: ForeignMark, lease: Lease) -> Result<MarkOutcome, Stop> {
        let mut held = self.held()?;
        let record = self.marked(&held, None);
        let expected = held.version;
        match self.rewrite(&mut held, &record).await {
            Ok(()) => {}
            Err(_) if self.changed_since(expected).await? => return Ok(MarkOutcome::Changed),
            Err(error) => return Err(self.fail(error.into(), Duration::ZERO, None)),
        }
        if let Some(version) = held.version {
            // If this is cut off, the next call resumes here.
            let claimed = ForeignMark { version, ..mark };
            self.shared.state_in(self.epoch)?.mark = Some(claimed);
        }
        // Counted, not timed: while the process is stopped it does not read.
        for _ in 0..CLAIM_READS {
            let pause = self.shared.clock().sleep(POLL_INTERVAL);
            self.unless_over(pause).await?;
            if self.changed_since(held.version).await? {
                return Ok(match self.usable() {
                    Some(token) => MarkOutcome::Token(token),
                    None => MarkOutcome::Changed,
                });
            }
        }
        Ok(MarkOutcome::Abandoned(lease))
    }

    /// Whether the store has another version now; if so, memory is brought in line with it.
    async fn changed_since(&self, version: Option<Version>) -> Result<bool, Stop> {
        let read = self.unless_over(self.shared.stored()).await?;
        let read = read.map_err(|error| self.fail(error.into(), Duration::ZERO, None))?;
        let changed = read.stored.as_ref().map(|stored| stored.version) != version;
        if changed {
            self.shared.reconcile(self.epoch, read)?;
        }
        Ok(changed)
    }

    fn held(&self) -> Result<Held, Stop> {
        let held = self.shared.state_in(self.epoch)?.held.clone();
        held.ok_or_else(|| Stop::Failed(auth(AuthProblem::NoTokens)))
    }

    fn marked(&self, held: &Held, owner: Option<u64>) -> Record {
        let mut record = Record::new(held.tokens.as_ref().clone());
        record.intent = Some(Intent {
            generation: held.tokens.generation,
            at: self.shared.clock().now(),
            owner,
        });
        record
    }

    async fn rewrite(&self, held: &mut Held, record: &Record) -> Result<(), StoreError> {
        let Some(version) = self.shared.swap(held.version, record).await? else {
            return Err(StoreError::new("a record changed while its lock was held"));
        };
        held.version = Some(version);
        if let Ok(mut state) = self.shared.state_in(self.epoch) {
            state.mark = None;
            if let Some(held) = &mut state.held {
                held.version = Some(version);
            }
        }
        Ok(())
    }
}

impl Shared {
    /// When the mark may be replaced, on the boot clock.
    fn mark_ends(&self, mark: ForeignMark) -> Duration {
        let wait = self.policy.mark_wait;
        let wait = wait.unwrap_or_else(|| default_mark_wait(self.provider.0.timeout));
        mark.since.saturating_add(wait.saturating_sub(CLAIM_PERIOD))
    }

    /// Ends the wait for the mark on the stored record: the process that wrote it has exited.
    pub(super) async fn abandon_mark(&self) -> Result<(), StoreError> {
        let epoch = self.state().epoch;
        let read: StoreRead = self.stored().await?;
        let marked = read.stored.filter(|stored| stored.record.intent.is_some());
        if let Some(stored) = marked
            && let Ok(mut state) = self.state_in(epoch)
        {
            state.abandoned = Some(stored.version);
            state.pause = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reads_take_the_claim_period() {
        assert_eq!(POLL_INTERVAL * CLAIM_READS, CLAIM_PERIOD);
    }

    #[test]
    fn the_wait_covers_two_requests_and_the_time_to_store_the_answer() {
        let secs = Duration::from_secs;
        assert_eq!(default_mark_wait(secs(30)), secs(120));
        assert_eq!(default_mark_wait(secs(10)), secs(100));
        assert_eq!(default_mark_wait(secs(60)), secs(180));
    }
}
