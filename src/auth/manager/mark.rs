//! The mark that a refresh leaves in the store before it is sent, and the marks of other processes.
//!
//! Where a lock can end while its holder lives, a free lock does not tell whether that holder is dead. Its mark is then
//! left alone for a time, replaced, and watched for as long as a living process takes at most to store its tokens.

use std::time::Duration;

use super::lease::Lease;
use super::refresh::Refresh;
use super::shared::{ForeignMark, Held, Seen, Shared, Stop};
use crate::auth::failure::auth;
use crate::auth::store::Intent;
use crate::auth::{AccessToken, Record, StoreError, Version};
use crate::error::AuthProblem;

/// How often the record is read while it is left to another process.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// How often it is read after its mark was replaced, each time with success.
const LAST_LOOKS: u32 = 60;

/// What these looks take: longer than the longest pause between two attempts of the other process to store its tokens,
/// and the time that an attempt takes.
const LAST_CHANCE: Duration = Duration::from_secs(30);

/// A process that was stopped for longer after it had read or marked the record reads it again before it sends: others
/// may have taken it for dead. Much shorter than they wait.
const STALE: Duration = Duration::from_secs(10);

/// A request that was sent twice, and a minute to store its answer.
fn default_mark_wait(timeout: Duration) -> Duration {
    let first = timeout.max(Duration::from_secs(30));
    let store = Duration::from_secs(60);
    first.saturating_add(timeout).saturating_add(store)
}

/// What became of the mark of another process.
pub(super) enum Waited {
    /// The tokens that it stored will do.
    Token(AccessToken),
    /// There is something else to be done with the record now.
    Changed,
    /// The mark was replaced and stood for long enough: the process is dead.
    Abandoned(Lease),
}

impl Refresh {
    /// Should this process end before the answer is stored, the next one knows that the token may be used up.
    pub(super) async fn mark_intent(&self) -> Result<Held, Stop> {
        let mut held = self.held()?;
        if !held.saved || held.tokens.refresh_token.is_none() {
            return Ok(held);
        }
        // Also again for a token whose first answer was lost: whoever waits for the mark waits from here.
        let record = self.marked(&held, Some(self.shared.owner(self.epoch)));
        let marked = self.rewrite(&mut held, &record).await;
        // Nothing is sent while the store cannot be written: the answer could not be kept.
        marked.map_err(|error| self.fail(error.into(), Duration::ZERO, None))?;
        Ok(held)
    }

    /// Whether the token may be sent that was found to be this manager's to send since `began`. Asked before each request:
    /// a lock that can be lost does not tell.
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

    /// The mark of another process that may still live, if there is one on the held tokens.
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

    /// Leaves the mark of another process alone, without the lock, until that has stored its tokens, or the wait is over.
    /// At the end of the caller's lock wait: a lock time-out, and the next call goes on with the same wait.
    pub(super) async fn wait_for_owner(
        &self,
        mark: ForeignMark,
        lease: Lease,
        until: Duration,
    ) -> Result<Waited, Stop> {
        let clock = self.shared.clock();
        if clock.boot() >= self.shared.mark_ends(mark) {
            return self.claim(mark, lease).await;
        }
        // Its owner must be able to take it.
        drop(lease);
        let mut last = StoreError::lock_timeout();
        loop {
            let left = until.saturating_sub(clock.boot());
            if left.is_zero() {
                return Err(last.into());
            }
            let pause = clock.sleep(BETWEEN_LOOKS.min(left));
            self.unless_over(pause).await?;
            match self.unless_over(self.shared.stored()).await? {
                Ok(seen) => self.shared.reconcile(self.epoch, seen)?,
                Err(error) => {
                    last = error;
                    continue;
                }
            }
            last = StoreError::lock_timeout();
            if let Some(token) = self.usable() {
                return Ok(Waited::Token(token));
            }
            let over = |mark| clock.boot() >= self.shared.mark_ends(mark);
            if self.foreign_mark()?.is_none_or(over) {
                return Ok(Waited::Changed);
            }
        }
    }

    /// Replaces the mark, which proves that the store can be written, and gives the process that wrote the first one the
    /// time to store its tokens. Nothing is sent unless the record stays as it is and can be read all the time.
    async fn claim(&self, mark: ForeignMark, lease: Lease) -> Result<Waited, Stop> {
        let mut held = self.held()?;
        let record = self.marked(&held, None);
        let expected = held.version;
        match self.rewrite(&mut held, &record).await {
            Ok(()) => {}
            Err(_) if self.changed_since(expected).await? => return Ok(Waited::Changed),
            Err(error) => return Err(self.fail(error.into(), Duration::ZERO, None)),
        }
        if let Some(version) = held.version {
            // Should this be cut off, the next call begins here and not at the start.
            let claimed = ForeignMark { version, ..mark };
            self.shared.state_in(self.epoch)?.mark = Some(claimed);
        }
        // Counted, and not timed: a process that is stopped meanwhile has not looked.
        for _ in 0..LAST_LOOKS {
            let pause = self.shared.clock().sleep(BETWEEN_LOOKS);
            self.unless_over(pause).await?;
            if self.changed_since(held.version).await? {
                return Ok(match self.usable() {
                    Some(token) => Waited::Token(token),
                    None => Waited::Changed,
                });
            }
        }
        Ok(Waited::Abandoned(lease))
    }

    /// Whether the store has another version by now; if so, memory follows it.
    async fn changed_since(&self, version: Option<Version>) -> Result<bool, Stop> {
        let seen = self.unless_over(self.shared.stored()).await?;
        let seen = seen.map_err(|error| self.fail(error.into(), Duration::ZERO, None))?;
        let changed = seen.stored.as_ref().map(|stored| stored.version) != version;
        if changed {
            self.shared.reconcile(self.epoch, seen)?;
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
        mark.since.saturating_add(wait.saturating_sub(LAST_CHANCE))
    }

    /// Declares the process dead that marked the stored record, so that the next refresh sends it.
    pub(super) async fn abandon_mark(&self) -> Result<(), StoreError> {
        let epoch = self.state().epoch;
        let seen: Seen = self.stored().await?;
        let marked = seen.stored.filter(|stored| stored.record.intent.is_some());
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
    fn the_last_looks_take_the_last_chance() {
        assert_eq!(BETWEEN_LOOKS * LAST_LOOKS, LAST_CHANCE);
    }

    #[test]
    fn the_wait_covers_two_requests_and_the_time_to_store_the_answer() {
        let secs = Duration::from_secs;
        assert_eq!(default_mark_wait(secs(30)), secs(120));
        assert_eq!(default_mark_wait(secs(10)), secs(100));
        assert_eq!(default_mark_wait(secs(60)), secs(180));
    }
}
