//! What to do next, from what memory, the store and the clock say. Pure: `mod.rs` has it as a table.

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

/// How many reads in a row must succeed after the mark of another process was replaced.
pub(super) const CLAIM_READS: u32 = 60;

/// The pause between two reads of a marked record.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How long these reads take: longer than the longest pause between two attempts of the other process to store its tokens,
/// and the time that an attempt takes.
pub(super) const CLAIM_PERIOD: Duration = Duration::from_secs(30);

/// A request that timed out may still be on its way for as long as servers and proxies wait for each other.
pub(super) const IN_FLIGHT: Duration = Duration::from_secs(30);

/// Wrong settings, or a provider that needs the user, do not change within seconds.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);

/// How long readers leave a refresh alone that is under way.
const REFRESH_LOOK: Duration = Duration::from_secs(1);

/// The result for a caller.
pub(super) enum Served {
    /// The token in use, and what is to be started beside it.
    Token(AccessToken, Option<Background>),
    /// The result of the refresh that runs.
    WaitFor(Completion),
    /// The result of a refresh that is to be started, in the place of this generation or of none that is usable.
    Refresh { replaces: Option<u64> },
}

#[derive(Debug, PartialEq)]
pub(super) enum Background {
    /// A refresh ahead of time, in the place of this generation.
    Refresh { replaces: u64 },
    /// A read of the store, to notice a logout or login elsewhere.
    Check,
}

/// Decides for a caller; `rejected` is the generation that the service refused.
pub(super) fn serve(
    state: &mut State,
    snapshot: Option<&Snapshot>,
    rejected: Option<u64>,
    now: ClockReading,
    policy: &RefreshPolicy,
) -> Result<Served> {
    let usable = snapshot.filter(|snapshot| snapshot.is_usable(now));
    let is_rejected = usable.is_some_and(|usable| rejected == Some(usable.generation()));
    if let Some(usable) = usable.filter(|_| !is_rejected) {
        let beside = beside(state, usable, now, policy);
        return Ok(Served::Token(usable.token.clone(), beside));
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
        if let Some(usable) = usable.filter(|_| state.trials.forced_at.is_some_and(too_soon)) {
            // It was just renewed: another one would be refused as well.
            return Ok(Served::Token(usable.token.clone(), None));
        }
        state.trials.forced_at = Some(now.monotonic);
    }
    // A refresh starts even for dead tokens: the user may have logged in in another process.
    Ok(Served::Refresh {
        replaces: rejected.filter(|_| is_rejected),
    })
}

/// Tasks to start beside a served token. Also sets the time of the next check by readers.
fn beside(
    state: &mut State,
    usable: &Snapshot,
    now: ClockReading,
    policy: &RefreshPolicy,
) -> Option<Background> {
    let mut look_at = Duration::MAX;
    let may_refresh = !policy.no_background && state.trials.dead.is_none() && !state.closed;
    if may_refresh && usable.is_renewal_due(now) {
        let Some((until, _)) = state.paused(now.monotonic) else {
            usable.look_again(now, now.monotonic.saturating_add(REFRESH_LOOK));
            let replaces = usable.generation();
            let is_running = state.running().is_some();
            return (!is_running).then_some(Background::Refresh { replaces });
        };
        look_at = *until;
    }
    let is_due = now.monotonic >= state.check_at;
    if is_due {
        state.check_at = now.monotonic.saturating_add(policy.timing.store_check);
    }
    usable.look_again(now, look_at.min(state.check_at));
    (is_due && !state.closed).then_some(Background::Check)
}

/// The effect of a record on the tokens in memory.
#[derive(Debug, PartialEq)]
pub(super) enum RecordMeaning {
    /// Nothing new.
    Unchanged,
    /// It has the tokens of memory.
    Same,
    /// It has what the tokens of memory replace, which are not stored yet.
    Replaced,
    /// There is none, and no user was logged in; or a logout here is about to delete it.
    Nobody,
    /// There is none any more: the user has logged out elsewhere.
    LoggedOut,
    /// It belongs to another user than the tokens that were served here.
    AnotherUser,
    /// It has earlier tokens of the same login, for instance because its file came back from a backup. Those of memory are
    /// stored again.
    Older,
    /// Its session has ended.
    Ended(Ended),
    /// It has other tokens, which are in use from now on.
    Newer,
}

/// Compares a record that was read with memory.
pub(super) fn compare(state: &State, record: Option<&Record>) -> RecordMeaning {
    let Some(record) = record else {
        return match &state.cached {
            _ if state.trials.dead.is_some() => RecordMeaning::Unchanged,
            Some(cached) if cached.version.is_none() => RecordMeaning::Unchanged,
            Some(_) => RecordMeaning::LoggedOut,
            None => RecordMeaning::Nobody,
        };
    };
    let users = state.account.as_ref().zip(record.tokens.subject.as_ref());
    let is_of_another = users.is_some_and(|(ours, theirs)| ours != theirs);
    // Tokens that are dead give way to any others.
    let keeps_newer = !is_of_another && state.trials.dead.is_none();
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

/// Compares the generation as well: a provider may issue the same tokens again, with a new lifetime.
fn same_tokens(a: &TokenSet, b: &TokenSet) -> bool {
    let same_access = a.access_token.matches(b.access_token.expose());
    a.generation == b.generation && same_access && same_refresh_token(a, b)
}

fn same_refresh_token(a: &TokenSet, b: &TokenSet) -> bool {
    let token = |set: &TokenSet| set.refresh_token.clone().unwrap_or_default();
    token(a).matches(token(b).expose())
}

/// Whether tokens were issued before these in the same login: a refresh only ever raises the generation, and its successor has
/// used the refresh token up.
fn is_older(stored: &TokenSet, cached: &TokenSet) -> bool {
    stored.generation < cached.generation && SeenLogin::of(stored).is_same(&SeenLogin::of(cached))
}

/// Whether cached tokens that are not stored yet belong in the place of this record.
fn replaces(cached: &CachedTokens, record: &Record) -> bool {
    let stored = &record.tokens;
    match &cached.base {
        _ if cached.saved => false,
        // The tokens of a login replace any earlier record.
        None => stored.generation <= cached.tokens.generation,
        // The tokens of a refresh replace those from which they were made, and never a later login elsewhere.
        Some(base) => {
            let unused = record.ended.is_some() || same_refresh_token(stored, base);
            stored.generation == base.generation && unused
        }
    }
}

/// The tokens and locks of a refresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lock {
    /// Nothing, and what was read may be old.
    Untaken,
    /// Nothing: the owner of a mark may need it.
    Left,
    /// The lock that an earlier task took: one that can be lost may have been since.
    Kept,
    Taken,
}

/// The progress of a refresh before it sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefreshProgress {
    pub(super) lock: Lock,
    /// Whether it has tried to store tokens that were not stored.
    pub(super) has_saved: bool,
    /// The version of the mark that it has put in the place of another one, and how often that was read since.
    pub(super) claim: Option<(Version, u32)>,
}

/// The next step of a refresh that has no usable token yet.
#[derive(Debug, PartialEq)]
pub(super) enum RefreshStep {
    /// Take the lock, in the place of any other, and read the record.
    Lock,
    /// Store tokens that are not stored.
    Save,
    /// Leave the lock to the owner of a mark, and read again after a pause.
    Wait,
    /// Replace the mark of another process.
    Claim,
    /// Read again after a pause: the record must stay as it is.
    Watch,
    /// Mark the record, and send the refresh token.
    Send,
}

/// Decides how a refresh goes on. `mark_ends`: how long the mark of another process is waited for, without the claim;
/// `None` where a free lock proves that its owner has exited.
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
        // A kept lock may have been lost: stored tokens are sent only under a lock that was just taken.
        Lock::Kept if !state.has_unsaved() => return RefreshStep::Lock,
        _ => {}
    }
    match (foreign_mark(state, mark_ends), progress.claim) {
        (None, _) if progress.lock == Lock::Left => RefreshStep::Lock,
        (None, _) => RefreshStep::Send,
        (Some((_, ends)), _) if now < ends => RefreshStep::Wait,
        (Some(_), _) if progress.lock == Lock::Left => RefreshStep::Lock,
        (Some((mark, _)), Some((version, reads))) if version == mark.version => {
            if reads < CLAIM_READS {
                RefreshStep::Watch
            } else {
                RefreshStep::Send
            }
        }
        (Some(_), _) => RefreshStep::Claim,
    }
}

/// The mark of another process that may still run, and when it may be replaced.
pub(super) fn foreign_mark(
    state: &State,
    mark_ends: Option<Duration>,
) -> Option<(ForeignMark, Duration)> {
    let mark = state.trials.foreign_mark?;
    Some((mark, mark.since.saturating_add(mark_ends?)))
}

/// What follows from a request that brought no tokens.
#[derive(Debug, PartialEq)]
pub(super) enum After {
    /// The refresh token is dead.
    End,
    /// The same token is sent again after this time.
    Repeat(Duration),
    /// The refresh has failed: nothing is sent for at least `pause`. Before that, the request may be under way for
    /// `in_flight`, and the lock is held as long.
    Fail {
        pause: Duration,
        in_flight: Duration,
    },
}

/// A request that brought no tokens.
pub(super) struct Failed {
    /// Whether it may be repeated at once.
    pub(super) may_repeat: bool,
    /// The time since it was sent.
    pub(super) elapsed: Duration,
    /// How long the request may be under way in all.
    pub(super) in_flight: Duration,
    /// How long the provider accepts the token twice.
    pub(super) overlap: Duration,
}

/// Decides what follows. If the request was not processed, the token works; if it was, the only copy of the new one is gone
/// anyway. But a request that is still on its way could arrive after the repeated one and end the session: that one is
/// waited out, unless the server accepts the token twice for long enough. `short` is the pause before any repetition.
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

/// 1 s, 2 s, 4 s ... 5 min, and up to a fifth more.
pub(super) fn backoff(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(16);
    Duration::from_secs(seconds.min(300)).mul_f64(1.0 + 0.2 * fastrand::f64())
}
