//! The decisions as tables, without a store, a provider or tasks.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use test_support::script::rows;

use super::bench::{DAY, SECOND};
use crate::auth::endpoint::{Class, Refusal};
use crate::auth::failure::{reauth, unavailable};
use crate::auth::manager::decide::{
    Background, Failed, Lock, RefreshProgress, RefreshStep, Served, after, compare, next, serve,
};
use crate::auth::manager::memory::{CachedTokens, ForeignMark, RefreshPolicy, Snapshot, State};
use crate::auth::store::{Ended, tokens};
use crate::auth::{Record, Version};
use crate::transport::ClockReading;

/// The start time of all tests.
const NOW: Duration = Duration::from_secs(5_000);

fn secs(text: &str) -> Duration {
    Duration::from_secs(text.parse().unwrap())
}

/// Parses the memory column of a table. Dropping the second value ends the deletion.
fn memory(words: &str) -> (State, Arc<()>) {
    let cached = |generation, saved| CachedTokens {
        saved,
        ..CachedTokens::unsaved(tokens(generation), Some(Version::new(1)))
    };
    let alive = Arc::new(());
    let mut state = State {
        cached: Some(cached(1, true)),
        check_at: Duration::MAX,
        ..State::default()
    };
    match words {
        "in use" => {}
        "unchecked" => state.check_at = Duration::ZERO,
        "in use by sam" => state.account = Some("sam".to_owned()),
        "nothing" => state.cached = None,
        "login not stored" => state.cached = Some(CachedTokens::unsaved(tokens(2), None)),
        "refresh not stored" => {
            let base = Some(Arc::new(tokens(1)));
            state.cached = Some(CachedTokens {
                base,
                ..cached(2, false)
            });
        }
        "ended" => state.refreshes.dead = Some(reauth("planned")),
        "ended without tokens" => {
            (state.cached, state.refreshes.dead) = (None, Some(reauth("planned")));
        }
        "deletion under way" => (state.cached, state.deletion) = (None, Arc::downgrade(&alive)),
        "shut down" => state.closed = true,
        "paused" => state.refreshes.pause = Some((NOW + SECOND, unavailable("planned"))),
        "paused before" => state.refreshes.pause = Some((NOW, unavailable("planned"))),
        _ => {
            let words: Vec<&str> = words.split(' ').collect();
            match words[..] {
                ["marked", "for", seconds, "s"] => {
                    let version = Version::new(7);
                    let since = NOW.saturating_sub(secs(seconds));
                    state.refreshes.foreign_mark = Some(ForeignMark { version, since });
                }
                ["renewed", seconds, "s", "ago"] => {
                    state.refreshes.forced_at = Some(NOW.saturating_sub(secs(seconds)));
                }
                _ => panic!("{words:?} is no memory"),
            }
        }
    }
    (state, alive)
}

#[test]
fn a_record_means_this_for_the_tokens_in_memory() {
    for row in rows(include_str!("compare.txt")) {
        let [words, record, expected] = row[..] else {
            panic!("{row:?}")
        };
        let (state, _alive) = memory(words);
        let (generation, what) = record.split_once(", ").unwrap_or((record, ""));
        let record = generation.parse().ok().map(|generation| {
            let mut tokens = tokens(generation);
            match what {
                "of another login" => tokens.logged_in_at = Some(UNIX_EPOCH),
                "ended" => return Record::ended(&tokens, Ended::Refused),
                what => tokens.subject = what.strip_prefix("of ").map(str::to_owned),
            }
            Record::new(tokens)
        });
        let found = compare(&state, record.as_ref());
        assert_eq!(format!("{found:?}"), expected, "{row:?}");
    }
}

#[test]
fn a_refresh_goes_on_like_this() {
    for row in rows(include_str!("next.txt")) {
        let [words, lock, has_saved, claim, mark_ends, expected] = row[..] else {
            panic!("{row:?}")
        };
        let locks = [Lock::Untaken, Lock::Left, Lock::Kept, Lock::Taken];
        let mut locks = locks.into_iter();
        let claim = claim.split_once(' ');
        let progress = RefreshProgress {
            lock: locks.find(|it| format!("{it:?}") == lock).unwrap(),
            has_saved: has_saved == "true",
            claim: claim.map(|(version, reads)| {
                (
                    Version::new(version.parse().unwrap()),
                    reads.parse().unwrap(),
                )
            }),
        };
        let mark_ends = (mark_ends != "-").then(|| secs(mark_ends));
        let found = match next(&memory(words).0, progress, mark_ends, NOW) {
            RefreshStep::AtMark(step) => format!("{step:?}"),
            step => format!("{step:?}"),
        };
        assert_eq!(found, expected, "{row:?}");
    }
}

#[test]
fn this_follows_from_a_request_without_tokens() {
    use Class::{Ambiguous, Busy, Dead, NotSent, Refused, TimedOut};
    for row in rows(include_str!("after.txt")) {
        let [class, may_repeat, elapsed, overlap, retry_after, expected] = row[..] else {
            panic!("{row:?}")
        };
        let classes = [Ambiguous, Busy, Dead, NotSent, Refused, TimedOut];
        let mut classes = classes.into_iter();
        let refusal = Refusal {
            class: classes.find(|it| format!("{it:?}") == class).unwrap(),
            error: unavailable("planned").with_retry_after(Some(secs(retry_after))),
            salvaged: None,
        };
        let failed = Failed {
            may_repeat: may_repeat == "true",
            elapsed: secs(elapsed),
            in_flight: Duration::from_secs(30),
            overlap: secs(overlap),
        };
        let found = after(&refusal, &failed, 2 * SECOND);
        assert_eq!(format!("{found:?}"), expected, "{row:?}");
    }
}

#[test]
fn a_caller_gets_this() {
    for row in rows(include_str!("serve.txt")) {
        let [words, hours, rejected, expected] = row[..] else {
            panic!("{row:?}")
        };
        let (result, completion) = tokio::sync::watch::channel(None);
        let (state, _result) = match words {
            "refreshing" | "refresh cut off" => {
                let mut state = memory("in use").0;
                state.refreshes.refresh = Some(completion);
                (state, (words == "refreshing").then_some(result))
            }
            words => (memory(words).0, None),
        };
        let mut day = tokens(1);
        day.lifetime = DAY;
        let now = ClockReading {
            wall: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
            monotonic: NOW,
        };
        day.issued_at = now.wall - hours.parse::<u32>().unwrap() * 3_600 * SECOND;
        let policy = RefreshPolicy::default();
        let snapshot = Snapshot::new(&day, now, &policy, false).unwrap();
        let rejected = rejected.parse().ok();
        let found = match serve(&state, Some(&snapshot), rejected, now, &policy) {
            Ok(Served::Token(_, beside)) => match beside.and_then(|beside| beside.task) {
                None => "token".to_owned(),
                Some(Background::Check) => "token, check".to_owned(),
                Some(Background::Refresh { .. }) => "token, refresh".to_owned(),
            },
            Ok(Served::WaitFor(_)) => "wait".to_owned(),
            Ok(Served::Refresh { replaces }) => format!("refresh {replaces:?}"),
            Err(_) => "failure".to_owned(),
        };
        assert_eq!(found, expected, "{row:?}");
    }
}
