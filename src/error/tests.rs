//! Each kind is in the guide; and the failures of tests in the words of tables.

use std::collections::BTreeSet;

use super::{Error, ErrorKind, Reaction, Result};

/// Checks a failure: `Store retryable: lock & !s3cr3t` has that kind and may be tried again, its text has each part, and nothing
/// shows what follows `!`.
#[track_caller]
pub(crate) fn assert_fails<T>(outcome: Result<T>, expected: &str) {
    let error = outcome.err().expect(expected);
    let (kind, parts) = expected.split_once(": ").unwrap_or((expected, ""));
    let (kind, retryable) = kind.split_once(' ').unwrap_or((kind, ""));
    let shown = format!("{error} {error:?} {}", error.report());
    assert_eq!(format!("{:?}", error.kind()), kind, "{expected}: {shown}");
    assert_eq!(error.is_retryable(), !retryable.is_empty(), "{expected}");
    for part in parts.split(" & ") {
        match part.strip_prefix('!') {
            Some(hidden) => assert!(!shown.contains(hidden), "{expected}: {shown}"),
            None => assert!(error.to_string().contains(part), "{expected}: {shown}"),
        }
    }
}

/// The kinds with what a person has to do then, as the guide says it.
const REACTIONS: &[(Reaction, &[ErrorKind])] = &[
    (
        Reaction::LogIn,
        &[ErrorKind::ReauthRequired, ErrorKind::LoginRefused],
    ),
    (
        Reaction::Correct,
        &[
            ErrorKind::Rejected,
            ErrorKind::NotFound,
            ErrorKind::Forbidden,
            ErrorKind::AccountChoice,
            ErrorKind::NotRegistered,
        ],
    ),
    (
        Reaction::WaitUntil,
        &[
            ErrorKind::RateLimited,
            ErrorKind::Unavailable,
            ErrorKind::RefreshRefused,
            ErrorKind::TokenUnavailable,
        ],
    ),
    (
        Reaction::TryAgain,
        &[
            ErrorKind::Connect,
            ErrorKind::Timeout,
            ErrorKind::Transport,
            ErrorKind::NoAnswer,
        ],
    ),
    (
        Reaction::AskSupport,
        &[ErrorKind::Internal, ErrorKind::Protocol, ErrorKind::Stalled],
    ),
    (
        Reaction::Configure,
        &[ErrorKind::Config, ErrorKind::Unauthorized, ErrorKind::Store],
    ),
    (
        Reaction::Bug,
        &[
            ErrorKind::SchemaMismatch,
            ErrorKind::Decode,
            ErrorKind::UnreadableRecord,
        ],
    ),
];

#[test]
fn each_kind_is_in_the_guide_with_its_reaction() {
    let guide = include_str!("../guide/errors.md");
    let (_, kinds) = include_str!("error_kind.rs")
        .split_once("pub enum ErrorKind {")
        .unwrap();
    let (kinds, _) = kinds.split_once("\n}").unwrap();
    let names = kinds
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','));
    let names = names.filter(|name| !name.starts_with('/'));
    let mut listed = BTreeSet::new();
    for (reaction, kinds) in REACTIONS {
        for kind in *kinds {
            assert_eq!(kind.reaction(), *reaction, "{kind:?}");
            let row = format!(
                "| [`{reaction:?}`](crate::Reaction::{reaction:?}) | [`{kind:?}`](crate::ErrorKind::{kind:?}) |"
            );
            assert!(guide.contains(&row), "{row}");
            listed.insert(format!("{kind:?}"));
        }
    }
    assert_eq!(listed, names.map(str::to_owned).collect());
}

#[test]
fn a_request_without_a_reply_is_retryable_unless_it_was_ended_here() {
    for (is_timeout, was_sent, kind) in [
        (false, false, ErrorKind::Connect),
        (false, true, ErrorKind::Transport),
        (true, false, ErrorKind::Timeout),
        (true, true, ErrorKind::Timeout),
    ] {
        let error = Error::no_reply(is_timeout, was_sent);
        assert_eq!(error.kind(), kind);
        assert!(error.is_retryable() && error.is_transient());
        let doubt = error.clone().with_may_have_applied(true);
        assert!(!doubt.is_retryable() && doubt.is_transient());
        let ended = error.with_passes(false);
        assert!(!ended.is_retryable() && !ended.is_transient());
    }
    let later = Error::said(ErrorKind::TokenUnavailable, "x").with_passes(true);
    // It is no reason to send a request again: none was sent.
    assert!(later.is_retryable() && !later.is_transient());
}
