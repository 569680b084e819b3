//! The mark that a refresh leaves in the store before it is sent, and the wait for the marks of other processes.
//!
//! Where a lock can end while its holder runs, a free lock does not prove that the holder has exited. The mark is then
//! left in place for a time, replaced, and watched for as long as a running process takes at most to store its tokens.

use std::sync::Arc;
use std::time::Duration;

use super::epoch::Epoch;
use super::lease::Lease;
use super::shared::Shared;
use super::state::{CachedTokens, ForeignMark, Stop};
use crate::auth::store::StoredMark;
use crate::auth::{AccessToken, Record, StoreError, Version};

/// The pause between two reads of a marked record.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How many reads in a row must succeed after the mark was replaced.
const CLAIM_READS: u32 = 60;

/// How long these reads take: longer than the longest pause between two attempts of the other process to store its tokens,
/// and the time that an attempt takes.
const CLAIM_PERIOD: Duration = Duration::from_secs(30);

/// After a longer stop between reading or marking the record and sending, the record is read again: another process may
/// have replaced the mark. Much shorter than the wait for a mark.
const STALE: Duration = Duration::from_secs(10);

/// The marks on one account's record, as one refresh sees them.
pub(super) struct RefreshMark<'a> {
    pub(super) epoch: &'a Epoch,
    /// The generation to be replaced: its token is not a result.
    pub(super) replaces: Option<u64>,
}

/// The end of the wait for another process.
pub(super) enum MarkOutcome {
    /// Usable tokens were stored.
    Token(AccessToken),
    /// The record, or what is to be done with it, has changed.
    Changed,
    /// The replacement of the mark stood for long enough: the process has exited.
    Abandoned(Lease),
}

impl RefreshMark<'_> {
    /// Marks the record before a refresh is sent: if this process ends before the reply is stored, the token may be used
    /// up.
    pub(super) async fn set(&self) -> Result<CachedTokens, Stop> {
        let mut cached = self.epoch.cached()?;
        if cached.saved && cached.tokens.refresh_token.is_some() {
            // A token whose first reply was lost is marked again, which restarts the wait of other processes.
            let record = self.marked(&cached, Some(self.epoch.owner()));
            let marked = self.rewrite(&mut cached, &record).await;
            // Nothing is sent while the store cannot be written: the reply could not be stored.
            marked.map_err(|error| self.epoch.store_failed(error))?;
        }
        Ok(cached)
    }

    /// Removes the mark after a reply that proves that the token was not used.
    pub(super) async fn clear(&self, cached: &mut CachedTokens) {
        if !cached.possibly_used && cached.saved {
            let record = Record::new(cached.tokens.as_ref().clone());
            // OK to ignore: a superfluous mark costs one refresh ahead of time.
            let _ = self.rewrite(cached, &record).await;
        }
    }

    /// Checked before each request, because a lock that can be lost proves nothing: the record was read or marked just
    /// now, after `began`, and has no foreign mark.
    pub(super) fn check_unmarked(&self, began: Duration) -> Result<(), Stop> {
        let shared = &self.epoch.shared;
        if shared.store.lock_survives_faults() {
            return Ok(());
        }
        let passed = shared.clock().monotonic().saturating_sub(began);
        if passed > STALE || self.foreign()?.is_some() {
            return Err(StoreError::lock_timeout().into());
        }
        Ok(())
    }

    /// The mark of another process that may still run, if there is one on the cached tokens.
    pub(super) fn foreign(&self) -> Result<Option<ForeignMark>, Stop> {
        let state = self.epoch.state()?;
        let stands = |mark: &ForeignMark| state.abandoned != Some(mark.version);
        let can_lose_lock = !self.epoch.shared.store.lock_survives_faults();
        Ok(state.foreign_mark.filter(stands).filter(|_| can_lose_lock))
    }

    /// Waits, without the lock, until the owner of a mark has stored its tokens or the wait is over. At the end of the
    /// lock wait: a lock time-out, and the next call continues the same wait.
    pub(super) async fn wait_for_owner(
        &self,
        mark: ForeignMark,
        lease: Lease,
        until: Duration,
    ) -> Result<MarkOutcome, Stop> {
        let shared = &self.epoch.shared;
        let clock = shared.clock();
        let is_over = |mark| clock.monotonic() >= claim_at(shared, mark);
        if is_over(mark) {
            return self.claim(mark, lease).await;
        }
        // The owner of the mark may need the lock.
        drop(lease);
        let mut last = StoreError::lock_timeout();
        loop {
            let left = until.saturating_sub(clock.monotonic());
            if left.is_zero() {
                return Err(last.into());
            }
            let pause = clock.sleep(POLL_INTERVAL.min(left));
            self.epoch.run(pause).await?;
            match self.epoch.run(shared.load()).await? {
                Ok(read) => self.epoch.reconcile(read)?,
                Err(error) => {
                    last = error;
                    continue;
                }
            }
            last = StoreError::lock_timeout();
            if let Some(token) = shared.usable_token(self.replaces) {
                return Ok(MarkOutcome::Token(token));
            }
            if self.foreign()?.is_none_or(is_over) {
                return Ok(MarkOutcome::Changed);
            }
        }
    }

    /// Replaces the mark, which proves that the store can be written, then waits so that the owner of the first mark can
    /// still store its tokens. Nothing is sent unless the record stays unchanged and readable all the time.
    async fn claim(&self, mark: ForeignMark, lease: Lease) -> Result<MarkOutcome, Stop> {
        let mut cached = self.epoch.cached()?;
        let record = self.marked(&cached, None);
        let expected = cached.version;
        match self.rewrite(&mut cached, &record).await {
            Ok(()) => {}
            Err(_) if self.has_changed(expected).await? => return Ok(MarkOutcome::Changed),
            Err(error) => return Err(self.epoch.store_failed(error)),
        }
        if let Some(version) = cached.version {
            // If this is cut off, the next call resumes here.
            let claimed = ForeignMark { version, ..mark };
            self.epoch.state()?.foreign_mark = Some(claimed);
        }
        // Reads are counted, because a stopped process does not read.
        for _ in 0..CLAIM_READS {
            let pause = self.epoch.shared.clock().sleep(POLL_INTERVAL);
            self.epoch.run(pause).await?;
            if self.has_changed(cached.version).await? {
                let token = self.epoch.shared.usable_token(self.replaces);
                return Ok(token.map_or(MarkOutcome::Changed, MarkOutcome::Token));
            }
        }
        Ok(MarkOutcome::Abandoned(lease))
    }

    /// Whether the store has another version now; if so, memory is brought in line with it.
    async fn has_changed(&self, version: Option<Version>) -> Result<bool, Stop> {
        let read = self
            .epoch
            .run(self.epoch.shared.load())
            .await?
            .map_err(|error| self.epoch.store_failed(error))?;
        let changed = read.stored.as_ref().map(|stored| stored.version) != version;
        if changed {
            self.epoch.reconcile(read)?;
        }
        Ok(changed)
    }

    fn marked(&self, cached: &CachedTokens, owner: Option<u64>) -> Record {
        let mut record = Record::new(cached.tokens.as_ref().clone());
        record.refresh_mark = Some(StoredMark {
            generation: cached.tokens.generation,
            at: self.epoch.shared.clock().now(),
            owner,
        });
        record
    }

    async fn rewrite(&self, cached: &mut CachedTokens, record: &Record) -> Result<(), StoreError> {
        let swapped = self.epoch.shared.swap(cached.version, record).await?;
        let Some(version) = swapped else {
            return Err(StoreError::new("a record changed while its lock was held"));
        };
        cached.version = Some(version);
        if let Ok(mut state) = self.epoch.state() {
            state.foreign_mark = None;
            if let Some(cached) = &mut state.cached {
                cached.version = Some(version);
            }
        }
        Ok(())
    }
}

/// When the mark may be replaced, on the monotonic clock.
fn claim_at(shared: &Shared, mark: ForeignMark) -> Duration {
    let provider = &shared.provider.0;
    let signing = provider.authentication.signing_limit();
    let wait = shared.policy.mark_wait(provider.timeout, signing);
    mark.since.saturating_add(wait.saturating_sub(CLAIM_PERIOD))
}

/// Ends the wait for the mark on the stored record: the process that wrote it has exited.
pub(super) async fn abandon(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let epoch = Epoch::current(shared, &shared.state());
    let stored = shared.load().await?.stored;
    if let Some(stored) = stored.filter(|stored| stored.record.refresh_mark.is_some())
        && let Ok(mut state) = epoch.state()
    {
        state.abandoned = Some(stored.version);
        state.pause = None;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reads_take_the_claim_period() {
        assert_eq!(POLL_INTERVAL * CLAIM_READS, CLAIM_PERIOD);
    }
}
