//! The refresh marks of other processes, in a store whose lock can be lost while its holder runs, such as a lease over a network.
//!
//! With such a store, a free lock does not prove that the process that wrote a mark has exited: it may be sending the refresh
//! token, or hold the new one. A refresh first waits for its owner, then replaces the mark (the claim), and watches the claim
//! before it sends the token. A refresh with a memory or file store never enters this file.

use std::time::Duration;

use super::decide::{Lock, MarkStep, foreign_mark};
use super::memory::{ForeignMark, Stop};
use super::refresh_transaction::RefreshAttempt;
use super::shared::{Session, Shared};
use crate::auth::StoreError;

/// The pause between two reads of a marked record.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The total duration of the reads of a claim. Exceeds the longest pause between two attempts of the other process to store its
/// tokens, plus the duration of an attempt.
pub(super) const CLAIM_PERIOD: Duration = Duration::from_secs(30);

/// If more time passes between reading or marking the record and sending, read the record again: another process may have
/// replaced the mark. Much shorter than the wait for a mark.
const STALE: Duration = Duration::from_secs(10);

/// How long to wait before replacing the mark of another process.
pub(super) fn wait_before_claim(shared: &Shared) -> Duration {
    let provider = &shared.provider.0;
    let signing = provider.authentication.signing_limit();
    let wait = shared.policy.timing.wait_at_mark(provider.timeout, signing);
    wait.saturating_sub(CLAIM_PERIOD)
}

/// Takes one step at the mark of another process.
pub(super) async fn take_step(
    step: MarkStep,
    session: &Session,
    attempt: &mut RefreshAttempt,
) -> Result<(), Stop> {
    match step {
        MarkStep::Wait => wait(session, attempt).await,
        MarkStep::Claim => claim(session, attempt).await,
        MarkStep::Watch => watch(session, attempt).await,
    }
}

/// Releases the lock, which the owner of the mark may need, and reads the record after a pause.
async fn wait(session: &Session, attempt: &mut RefreshAttempt) -> Result<(), Stop> {
    let shared = &session.shared;
    drop(attempt.transaction.take());
    attempt.progress.lock = Lock::Left;
    let left = attempt.left(shared);
    if left.is_zero() {
        // The caller gets a lock time-out, and the next call continues the same wait.
        let failure = attempt.read_failure.take();
        return Err(failure.unwrap_or_else(StoreError::lock_timeout).into());
    }
    let pause = shared.clock().sleep(POLL_INTERVAL.min(left));
    session.run(pause).await?;
    match session.run(shared.load()).await? {
        Ok(read) => {
            session.reconcile(read)?;
            attempt.read_failure = None;
        }
        Err(error) => attempt.read_failure = Some(error),
    }
    Ok(())
}

/// Replaces the mark with a mark without an owner. The write also proves that the store is writable.
async fn claim(session: &Session, attempt: &mut RefreshAttempt) -> Result<(), Stop> {
    let cached = session.cached()?;
    let replaced = session.state()?.refreshes.foreign_mark;
    let mark = session.mark(&cached, None);
    match session.rewrite(&cached, Some(mark)).await {
        Ok(Some(version)) => {
            attempt.progress.claim = Some((version, 0));
            // If the task is interrupted, the next call resumes here.
            let mark = replaced.map(|mark| ForeignMark { version, ..mark });
            session.state()?.refreshes.foreign_mark = mark;
        }
        Ok(None) => attempt.progress.lock = Lock::Untaken,
        Err(error) => return Err(session.store_failed(error)),
    }
    Ok(())
}

/// Reads the record after a pause. If it has changed, another process is running: the refresh starts again with the lock.
async fn watch(session: &Session, attempt: &mut RefreshAttempt) -> Result<(), Stop> {
    session
        .run(session.shared.clock().sleep(POLL_INTERVAL))
        .await?;
    let version = session.cached()?.version;
    let read = session.run(session.load_or_fail()).await??;
    if read.stored.as_ref().map(|stored| stored.version) != version {
        attempt.progress.lock = Lock::Untaken;
        session.reconcile(read)?;
    } else if let Some((_, reads)) = &mut attempt.progress.claim {
        *reads += 1;
    }
    Ok(())
}

/// Called before each request, because a lock that can be lost proves nothing. Checks that the record was read or marked just
/// now, at `checked_at` or later, and has no foreign mark.
pub(super) fn check_before_sending(
    session: &Session,
    mark_ends: Duration,
    checked_at: Duration,
) -> Result<(), Stop> {
    let now = session.shared.clock().monotonic();
    let passed = now.saturating_sub(checked_at);
    let is_marked = foreign_mark(&*session.state()?, Some(mark_ends)).is_some();
    if passed > STALE || is_marked {
        return Err(StoreError::lock_timeout().into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::manager::decide::CLAIM_READS;

    #[test]
    fn the_reads_take_the_claim_period() {
        assert_eq!(POLL_INTERVAL * CLAIM_READS, CLAIM_PERIOD);
    }
}
