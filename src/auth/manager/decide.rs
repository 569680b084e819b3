//! Decides the next step from memory, the store and the clock. Pure: each function takes values or shared references and
//! returns a decision, which its caller executes. Random numbers are arguments. `mod.rs` has the steps as a table.

use std::time::Duration;

use super::memory::{
    CachedTokens, Completion, ForeignMark, RefreshPolicy, SeenLogin, Snapshot, State,
};
use crate::auth::endpoint::{Class, Refusal};
use crate::auth::failure::unavailable;
use crate::auth::store::Ended;
use crate::auth::{AccessToken, Record, TokenSet, Version};
use crate::error::Result;
use crate::transport::ClockReading;

/// The number of consecutive successful reads required after replacing the mark of another process.
pub(super) const CLAIM_READS: u32 = 60;

/// Wrong settings, or a provider that requires the user, do not change within seconds.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);

/// How long readers wait before checking again on a running refresh.
const REFRESH_CHECK: Duration = Duration::from_secs(1);

/// The result for a caller.
pub(super) enum Served {
    /// The current token. `None`: it was just renewed, and no task is due.
    Token(AccessToken, Option<Beside>),
    /// The result of the running refresh.
    WaitFor(Completion),
    /// Start a refresh and wait for its result. `replaces` is the generation that the service refused; `None` if there is no
    /// usable token.
    Refresh { replaces: Option<u64> },
}

/// What is due when a token is served.
pub(super) struct Beside {
    /// The background task to start.
    pub(super) task: Option<Background>,
    /// When a reader should check again whether a task is due.
    pub(super) look_at: Duration,
    /// When to read the store again: the new value of [`State::check_at`].
    pub(super) check_at: Duration,
}

#[derive(Debug, PartialEq)]
pub(super) enum Background {
    /// Refresh in advance, to replace this generation.
    Refresh { replaces: u64 },
    /// Read the store, to detect a logout or login elsewhere.
    Check,
}

/// Decides what a caller gets. `rejected` is the generation that the service refused.
pub(super) fn serve(
    state: &State,
    snapshot: Option<&Snapshot>,
    rejected: Option<u64>,
    now: ClockReading,
    policy: &RefreshPolicy,
) -> Result<Served> {
    let usable = snapshot.filter(|snapshot| snapshot.is_usable(now));
    let is_rejected = usable.is_some_and(|usable| rejected == Some(usable.generation()));
    if let Some(usable) = usable.filter(|_| !is_rejected) {
        let beside = beside(state, usable, now, policy);
        return Ok(Served::Token(usable.token.clone(), Some(beside)));
    }
    if let Some(running) = state.running() {
        return Ok(Served::WaitFor(running.clone()));
    }
    if state.closed {
        return Err(unavailable("the token manager was shut down"));
    }
    if let Some((until, error)) = state.paused(now.monotonic) {
        let left = until.saturating_sub(now.monotonic);
        return Err(error.clone().with_retry_after(Some(left)));
    }
    if is_rejected {
        let too_soon =
            |at: Duration| now.monotonic < at.saturating_add(policy.timing.between_forced);
        if let Some(usable) = usable.filter(|_| state.refreshes.forced_at.is_some_and(too_soon)) {
            // It was just renewed, so another new token would be refused too.
            return Ok(Served::Token(usable.token.clone(), None));
        }
    }
    // Refresh even if the tokens are dead: the user may have logged in through another process.
    Ok(Served::Refresh {
        replaces: rejected.filter(|_| is_rejected),
    })
}

/// What is due in addition to serving this token.
fn beside(state: &State, usable: &Snapshot, now: ClockReading, policy: &RefreshPolicy) -> Beside {
    let mut look_at = Duration::MAX;
    let may_refresh = !policy.no_background && state.refreshes.dead.is_none() && !state.closed;
    if may_refresh && usable.is_renewal_due(now) {
        let Some((until, _)) = state.paused(now.monotonic) else {
            let replaces = usable.generation();
            let is_running = state.running().is_some();
            return Beside {
                task: (!is_running).then_some(Background::Refresh { replaces }),
                look_at: now.monotonic.saturating_add(REFRESH_CHECK),
                check_at: state.check_at,
            };
        };
        look_at = *until;
    }
    let is_due = now.monotonic >= state.check_at;
    let check_at = if is_due {
        now.monotonic.saturating_add(policy.timing.store_check)
    } else {
        state.check_at
    };
    Beside {
        task: (is_due && !state.closed).then_some(Background::Check),
        look_at: look_at.min(check_at),
        check_at,
    }
}

/// The relation between a record and the tokens in memory.
#[derive(Debug, PartialEq)]
pub(super) enum RecordMeaning {
    /// No change.
    Unchanged,
    /// The record has the tokens from memory.
    Same,
    /// The record has the tokens that the unsaved tokens in memory replace.
    Replaced,
    /// There is no record, and no user was logged in; or a logout in this process is about to delete it.
    Nobody,
    /// The record is gone: the user logged out elsewhere.
    LoggedOut,
    /// The record belongs to a user other than the one served here.
    AnotherUser,
    /// The record has earlier tokens of the same login, for example because its file was restored from a backup. The tokens in
    /// memory are stored again.
    Older,
    /// The session of the record has ended.
    Ended(Ended),
    /// The record has other tokens, which replace those in memory.
    Newer,
}

/// Compares a record from the store with memory.
pub(super) fn compare(state: &State, record: Option<&Record>) -> RecordMeaning {
    let Some(record) = record else {
        return match &state.cached {
            _ if state.refreshes.dead.is_some() => RecordMeaning::Unchanged,
            Some(cached) if cached.version.is_none() => RecordMeaning::Unchanged,
            Some(_) => RecordMeaning::LoggedOut,
            None => RecordMeaning::Nobody,
        };
    };
    let users = state.account.as_ref().zip(record.tokens.subject.as_ref());
    let is_of_another = users.is_some_and(|(ours, theirs)| ours != theirs);
    // Dead tokens yield to any others.
    let keeps_newer = !is_of_another && state.refreshes.dead.is_none();
    match &state.cached {
        Some(cached) if same_tokens(&cached.tokens, &record.tokens) => RecordMeaning::Same,
        Some(cached) if replaces(cached, record) => RecordMeaning::Replaced,
        Some(cached) if keeps_newer && is_older(&record.tokens, &cached.tokens) => {
            RecordMeaning::Older
        }
        None if state.deletion.strong_count() > 0 => RecordMeaning::Nobody,
        _ if is_of_another => RecordMeaning::AnotherUser,
        _ => record
            .ended
            .map_or(RecordMeaning::Newer, RecordMeaning::Ended),
    }
}

/// Also compares the generation: a provider may reissue the same tokens with a new lifetime.
fn same_tokens(a: &TokenSet, b: &TokenSet) -> bool {
    let same_access = a.access_token.matches(b.access_token.expose());
    a.generation == b.generation && same_access && same_refresh_token(a, b)
}

fn same_refresh_token(a: &TokenSet, b: &TokenSet) -> bool {
    let token = |set: &TokenSet| set.refresh_token.clone().unwrap_or_default();
    token(a).matches(token(b).expose())
}

/// Whether the stored tokens precede the cached ones in the same login. Refreshes only increase the generation, and a successor
/// has used up the earlier refresh token.
fn is_older(stored: &TokenSet, cached: &TokenSet) -> bool {
    stored.generation < cached.generation && SeenLogin::of(stored).is_same(&SeenLogin::of(cached))
}

/// Whether cached tokens that are not stored yet should replace this record.
fn replaces(cached: &CachedTokens, record: &Record) -> bool {
    let stored = &record.tokens;
    match &cached.base {
        _ if cached.saved => false,
        // The tokens of a login replace any earlier record.
        None => stored.generation <= cached.tokens.generation,
        // The tokens of a refresh replace only the tokens they were made from, never a later login elsewhere.
        Some(base) => {
            let unused = record.ended.is_some() || same_refresh_token(stored, base);
            stored.generation == base.generation && unused
        }
    }
}

/// The state of the store's lock during a refresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lock {
    /// Not taken, and the record in memory may be outdated.
    Untaken,
    /// Released, because the owner of a mark may need it.
    Left,
    /// Kept from an earlier task. A lock that can be lost may have been lost since.
    Kept,
    Taken,
}

/// The progress of a refresh before it sends its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefreshProgress {
    pub(super) lock: Lock,
    /// Whether it has tried to store unsaved tokens.
    pub(super) has_saved: bool,
    /// The version of its own mark that replaced a foreign one, and the number of reads since.
    pub(super) claim: Option<(Version, u32)>,
}

/// The next step of a refresh that has no usable token yet.
#[derive(Debug, PartialEq)]
pub(super) enum RefreshStep {
    /// Take the lock, releasing any earlier one, and read the record.
    Lock,
    /// Store the unsaved tokens.
    Save,
    /// Respect the mark of another process. Only for a store whose lock can be lost.
    AtMark(MarkStep),
    /// Mark the record, and send the refresh token.
    Send,
}

/// A step at the mark of another process that may still be running.
#[derive(Debug, PartialEq)]
pub(super) enum MarkStep {
    /// Release the lock for the owner of the mark, and read again after a pause.
    Wait,
    /// Replace the mark.
    Claim,
    /// Read again after a pause: the record must not change.
    Watch,
}

/// Decides the next step of a refresh. `mark_ends`: how long to wait for the mark of another process, excluding the claim;
/// `None` if a free lock proves that its owner has exited.
pub(super) fn next(
    state: &State,
    progress: RefreshProgress,
    mark_ends: Option<Duration>,
    now: Duration,
) -> RefreshStep {
    match progress.lock {
        Lock::Untaken => return RefreshStep::Lock,
        Lock::Kept | Lock::Taken if state.has_unsaved() && !progress.has_saved => {
            return RefreshStep::Save;
        }
        // A kept lock may have been lost. Stored tokens are sent only under a lock taken just now.
        Lock::Kept if !state.has_unsaved() => return RefreshStep::Lock,
        _ => {}
    }
    let is_left = progress.lock == Lock::Left;
    match (foreign_mark(state, mark_ends), progress.claim) {
        (None, _) if is_left => RefreshStep::Lock,
        (None, _) => RefreshStep::Send,
        (Some((_, ends)), _) if now < ends => RefreshStep::AtMark(MarkStep::Wait),
        (Some(_), _) if is_left => RefreshStep::Lock,
        (Some((mark, _)), Some((version, reads))) if version == mark.version => {
            if reads < CLAIM_READS {
                RefreshStep::AtMark(MarkStep::Watch)
            } else {
                RefreshStep::Send
            }
        }
        (Some(_), _) => RefreshStep::AtMark(MarkStep::Claim),
    }
}

/// The mark of another process that may still be running, and when to replace it.
pub(super) fn foreign_mark(
    state: &State,
    mark_ends: Option<Duration>,
) -> Option<(ForeignMark, Duration)> {
    let mark = state.refreshes.foreign_mark?;
    Some((mark, mark.since.saturating_add(mark_ends?)))
}

/// The consequence of a request that returned no tokens.
#[derive(Debug, PartialEq)]
pub(super) enum After {
    /// The refresh token is dead.
    End,
    /// Send the same token again after this time.
    Repeat(Duration),
    /// The refresh has failed. Send nothing for at least `pause`. The request may be under way for `in_flight`, and the lock is
    /// held for that long.
    Fail {
        pause: Duration,
        in_flight: Duration,
    },
}

/// A request that returned no tokens.
pub(super) struct Failed {
    /// Whether it may be repeated immediately.
    pub(super) may_repeat: bool,
    /// The time since the request was sent.
    pub(super) elapsed: Duration,
    /// How long the request may be under way in total.
    pub(super) in_flight: Duration,
    /// How long the provider accepts a used token again.
    pub(super) overlap: Duration,
}

/// Decides how to continue after a failed request. If the request was not processed, the token still works. If it was, the only
/// copy of the new token is lost anyway. However, a request that is still under way could arrive after its repetition and end
/// the session, so wait until it cannot, unless the server's overlap is long enough. `short` is the pause before any
/// repetition.
pub(super) fn after(refusal: &Refusal, failed: &Failed, short: Duration) -> After {
    let in_flight = match refusal.class {
        Class::TimedOut => failed.in_flight.saturating_sub(failed.elapsed),
        _ => Duration::ZERO,
    };
    let retry_after = refusal.error.retry_after().unwrap_or_default();
    let pause = match refusal.class {
        Class::Dead => return After::End,
        Class::Ambiguous | Class::TimedOut if failed.may_repeat => {
            let overlap = failed.overlap.saturating_sub(failed.elapsed);
            return After::Repeat(if overlap.is_zero() {
                in_flight.max(short)
            } else {
                short.min(overlap / 2)
            });
        }
        Class::Refused => retry_after.max(REFUSED_PAUSE),
        _ => retry_after,
    };
    After::Fail { pause, in_flight }
}

/// 1 s, 2 s, 4 s ... 5 min, plus up to a fifth. `jitter` is a random number from 0 to 1.
pub(super) fn backoff(failures: u32, jitter: f64) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(16);
    Duration::from_secs(seconds.min(300)).mul_f64(1.0 + 0.2 * jitter)
}
