//! Each kind is in the guide.

use super::{Error, ErrorKind};

#[test]
fn each_kind_is_in_the_guide() {
    let guide = include_str!("../guide/errors.md");
    let (_, kinds) = include_str!("error_kind.rs")
        .split_once("pub enum ErrorKind {")
        .unwrap();
    let (kinds, _) = kinds.split_once("\n}").unwrap();
    let names = kinds
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','));
    let names: Vec<_> = names.filter(|name| !name.starts_with('/')).collect();
    assert_eq!(names.len(), 24, "{names:?}");
    for name in names {
        let row = format!("| [`{name}`](crate::ErrorKind::{name}) |");
        assert!(guide.contains(&row), "{name}");
    }
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
