//! The decisions as tables, without a store, a provider or a task.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::bench::SECOND;
use crate::auth::endpoint::{Class, Refusal};
use crate::auth::failure::{reauth, unavailable};
use crate::auth::manager::decide::{
    After, Background, CLAIM_READS, Failed, Lock, RecordMeaning, RefreshProgress,
    RefreshStep as Step, Served, after, compare, next, serve,
};
use crate::auth::manager::memory::{CachedTokens, ForeignMark, RefreshPolicy, Snapshot, State};
use crate::auth::store::{Ended, tokens};
use crate::auth::{Record, TokenSet, Version};
use crate::transport::Moment;

/// When all of these tests begin.
const NOW: Duration = Duration::from_secs(5_000);

fn version(number: u64) -> Version {
    Version::new(number)
}

fn cached(tokens: TokenSet, saved: bool) -> CachedTokens {
    CachedTokens {
        saved,
        ..CachedTokens::unsaved(tokens, Some(version(1)))
    }
}

/// Memory with the stored tokens of the first generation.
fn in_use() -> State {
    State {
        cached: Some(cached(tokens(1), true)),
        ..State::default()
    }
}

/// Memory with tokens of a refresh that are not stored.
fn unsaved() -> State {
    State {
        cached: Some(CachedTokens {
            base: Some(Arc::new(tokens(1))),
            ..cached(tokens(2), false)
        }),
        ..State::default()
    }
}

/// Memory with tokens of a login that are not stored.
fn logged_in() -> State {
    State {
        cached: Some(CachedTokens::unsaved(tokens(2), None)),
        ..State::default()
    }
}

#[test]
fn a_record_means_this_for_the_tokens_in_memory() {
    let user = |mut tokens: TokenSet, name: &str| {
        tokens.subject = Some(name.to_owned());
        Record::new(tokens)
    };
    let of_sam = State {
        account: Some("sam".to_owned()),
        ..in_use()
    };
    let (mut dead, mut dead_without) = (in_use(), State::default());
    dead.trials.dead = Some(reauth("planned"));
    dead_without.trials.dead = Some(reauth("planned"));
    let (deletion, mut deleting) = (Arc::new(()), State::default());
    deleting.deletion = Arc::downgrade(&deletion);
    let record = |generation| Some(Record::new(tokens(generation)));
    let ended = |generation| Some(Record::ended(&tokens(generation), Ended::Refused));
    for (memory, record, meaning) in [
        (State::default(), None, RecordMeaning::Nobody),
        (in_use(), None, RecordMeaning::LoggedOut),
        (logged_in(), None, RecordMeaning::Unchanged),
        (unsaved(), None, RecordMeaning::LoggedOut),
        (dead, None, RecordMeaning::Unchanged),
        (dead_without, None, RecordMeaning::Unchanged),
        (State::default(), record(1), RecordMeaning::Newer),
        (in_use(), record(1), RecordMeaning::Same),
        (in_use(), record(2), RecordMeaning::Newer),
        (unsaved(), record(1), RecordMeaning::Replaced),
        (unsaved(), ended(1), RecordMeaning::Replaced),
        (unsaved(), record(3), RecordMeaning::Newer),
        (unsaved(), ended(3), RecordMeaning::Ended(Ended::Refused)),
        (logged_in(), record(1), RecordMeaning::Replaced),
        (logged_in(), record(3), RecordMeaning::Newer),
        (in_use(), ended(1), RecordMeaning::Ended(Ended::Refused)),
        (
            State::default(),
            ended(1),
            RecordMeaning::Ended(Ended::Refused),
        ),
        (deleting, record(1), RecordMeaning::Nobody),
        (
            of_sam,
            Some(user(tokens(2), "kim")),
            RecordMeaning::AnotherUser,
        ),
    ] {
        let text = format!("{record:?}");
        assert_eq!(compare(&memory, record.as_ref()), meaning, "{text}");
    }
}

#[test]
fn a_refresh_goes_on_like_this() {
    let marked = |since: u64| {
        let mut state = in_use();
        state.trials.foreign_mark = Some(ForeignMark {
            version: version(7),
            since: NOW.saturating_sub(Duration::from_secs(since)),
        });
        state
    };
    let after_saving = true;
    let claim = |reads| Some((version(7), reads));
    let network = Some(90 * SECOND);
    for (state, lock, has_saved, claim, mark_ends, step) in [
        (in_use(), Lock::Untaken, false, None, None, Step::Lock),
        (unsaved(), Lock::Untaken, false, None, None, Step::Lock),
        // What is not stored comes first, once.
        (unsaved(), Lock::Taken, false, None, None, Step::Save),
        (unsaved(), Lock::Kept, false, None, None, Step::Save),
        (unsaved(), Lock::Kept, after_saving, None, None, Step::Send),
        (in_use(), Lock::Kept, after_saving, None, None, Step::Lock),
        (in_use(), Lock::Taken, false, None, None, Step::Send),
        // A free lock of one machine proves that the owner of the mark has exited.
        (marked(0), Lock::Taken, false, None, None, Step::Send),
        // Over a network it proves nothing.
        (marked(0), Lock::Taken, false, None, network, Step::Wait),
        (marked(89), Lock::Left, false, None, network, Step::Wait),
        (in_use(), Lock::Left, false, None, network, Step::Lock),
        (marked(90), Lock::Left, false, None, network, Step::Lock),
        (marked(90), Lock::Taken, false, None, network, Step::Claim),
        (
            marked(90),
            Lock::Taken,
            false,
            claim(0),
            network,
            Step::Watch,
        ),
        (
            marked(90),
            Lock::Taken,
            false,
            claim(CLAIM_READS),
            network,
            Step::Send,
        ),
        // The mark was replaced by another process meanwhile.
        (
            marked(90),
            Lock::Taken,
            false,
            Some((version(6), CLAIM_READS)),
            network,
            Step::Claim,
        ),
    ] {
        let progress = RefreshProgress {
            lock,
            has_saved,
            claim,
        };
        assert_eq!(next(&state, progress, mark_ends, NOW), step, "{progress:?}");
    }
}

#[test]
fn this_follows_from_a_request_without_tokens() {
    let secs = Duration::from_secs;
    let fail = |pause, in_flight| After::Fail {
        pause: secs(pause),
        in_flight: secs(in_flight),
    };
    let repeat = |wait| After::Repeat(secs(wait));
    // Class, may it be repeated, seconds since it was sent, seconds of overlap, seconds of Retry-After.
    for (class, may_repeat, elapsed, overlap, retry_after, expected) in [
        (Class::Dead, true, 0, 0, 0, After::End),
        (Class::NotSent, true, 0, 0, 0, fail(0, 0)),
        (Class::Busy, true, 0, 0, 90, fail(90, 0)),
        (Class::Refused, true, 0, 0, 0, fail(60, 0)),
        (Class::Refused, true, 0, 0, 90, fail(90, 0)),
        (Class::Ambiguous, true, 3, 0, 0, repeat(2)),
        (Class::Ambiguous, false, 3, 0, 0, fail(0, 0)),
        // It may still be under way.
        (Class::TimedOut, true, 10, 0, 0, repeat(20)),
        (Class::TimedOut, true, 29, 0, 0, repeat(2)),
        (Class::TimedOut, true, 40, 0, 0, repeat(2)),
        (Class::TimedOut, false, 10, 0, 0, fail(0, 20)),
        (Class::TimedOut, false, 40, 0, 0, fail(0, 0)),
        // While the server accepts the token twice.
        (Class::TimedOut, true, 10, 12, 0, repeat(1)),
        (Class::Ambiguous, true, 10, 30, 0, repeat(2)),
        (Class::Ambiguous, true, 10, 9, 0, repeat(2)),
    ] {
        let refusal = Refusal {
            class,
            error: unavailable("planned").with_retry_after(Some(secs(retry_after))),
            salvaged: None,
        };
        let failed = Failed {
            may_repeat,
            elapsed: secs(elapsed),
            in_flight: secs(30),
            overlap: secs(overlap),
        };
        let found = after(&refusal, &failed, secs(2));
        assert_eq!(
            found, expected,
            "{class:?} {may_repeat} {elapsed} {overlap}"
        );
    }
}

/// A token of a day that was issued so long ago, at a moment of both clocks.
fn aged(hours: u32) -> (Snapshot, Moment) {
    let mut day = tokens(1);
    day.lifetime = Duration::from_secs(86_400);
    let now = Moment {
        wall: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        monotonic: NOW,
    };
    day.issued_at = now.wall - hours * Duration::from_secs(3_600);
    let snapshot = Snapshot::new(&day, now, &RefreshPolicy::default(), false).unwrap();
    (snapshot, now)
}

fn served(state: &mut State, hours: u32, rejected: Option<u64>) -> String {
    let (snapshot, now) = aged(hours);
    let policy = RefreshPolicy::default();
    match serve(state, Some(&snapshot), rejected, now, &policy) {
        Ok(Served::Token(_, None)) => "token".to_owned(),
        Ok(Served::Token(_, Some(Background::Check))) => "token, check".to_owned(),
        Ok(Served::Token(_, Some(Background::Refresh { .. }))) => "token, refresh".to_owned(),
        Ok(Served::WaitFor(_)) => "wait".to_owned(),
        Ok(Served::Refresh { replaces }) => format!("refresh {replaces:?}"),
        Err(_) => "failure".to_owned(),
    }
}

#[test]
fn a_caller_gets_this() {
    let checked = || State {
        check_at: Duration::MAX,
        ..in_use()
    };
    let closed = || State {
        closed: true,
        ..checked()
    };
    let with = |change: fn(&mut State)| {
        let mut state = checked();
        change(&mut state);
        state
    };
    let paused = || with(|it| it.trials.pause = Some((NOW + SECOND, unavailable("planned"))));
    let was_paused = || with(|it| it.trials.pause = Some((NOW, unavailable("planned"))));
    let dead = || with(|it| it.trials.dead = Some(reauth("planned")));
    let forced = || with(|it| it.trials.forced_at = Some(NOW.saturating_sub(29 * SECOND)));
    let was_forced = || with(|it| it.trials.forced_at = Some(NOW.saturating_sub(30 * SECOND)));
    // Memory, hours since the token was issued, the generation that was refused.
    for (mut state, hours, rejected, expected) in [
        (checked(), 1, None, "token"),
        (in_use(), 1, None, "token, check"),
        (checked(), 20, None, "token, refresh"),
        (in_use(), 20, None, "token, refresh"),
        (paused(), 20, None, "token"),
        (was_paused(), 20, None, "token, refresh"),
        (dead(), 20, None, "token"),
        (closed(), 20, None, "token"),
        (checked(), 24, None, "refresh None"),
        (paused(), 24, None, "failure"),
        (was_paused(), 24, None, "refresh None"),
        // The user may have logged in in another process.
        (dead(), 24, None, "refresh None"),
        (closed(), 24, None, "failure"),
        (checked(), 1, Some(1), "refresh Some(1)"),
        (checked(), 1, Some(0), "token"),
        (checked(), 24, Some(1), "refresh None"),
        (forced(), 1, Some(1), "token"),
        (was_forced(), 1, Some(1), "refresh Some(1)"),
    ] {
        let found = served(&mut state, hours, rejected);
        assert_eq!(found, expected, "{hours} hours, {rejected:?} refused");
    }
}

#[test]
fn a_refresh_that_runs_is_shared_until_it_ends() {
    let mut state = in_use();
    let (result, completion) = tokio::sync::watch::channel(None);
    state.trials.refresh = Some(completion);
    assert_eq!(served(&mut state, 24, None), "wait");
    assert_eq!(served(&mut state, 20, None), "token");
    // It panicked, or its runtime has ended.
    drop(result);
    assert_eq!(served(&mut state, 24, None), "refresh None");
}
