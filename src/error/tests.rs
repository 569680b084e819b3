//! Each error answers a predicate, and each predicate is in the guide.

use super::{AuthProblem, Error, Failure, Kind, Received, Unsent};
use crate::model::ServerError;

type Predicate = fn(&Error) -> bool;

const PREDICATES: [(&str, Predicate); 27] = [
    ("may_have_applied", Error::may_have_applied),
    ("is_reauth_required", Error::is_reauth_required),
    ("is_login_refused", Error::is_login_refused),
    ("is_refresh_refused", Error::is_refresh_refused),
    ("is_not_registered", Error::is_not_registered),
    ("is_account_choice", Error::is_account_choice),
    ("is_unauthorized", Error::is_unauthorized),
    ("is_forbidden", Error::is_forbidden),
    ("is_not_found", Error::is_not_found),
    ("is_rate_limited", Error::is_rate_limited),
    ("is_schema_mismatch", Error::is_schema_mismatch),
    ("is_rejected", Error::is_rejected),
    ("is_bad_request", Error::is_bad_request),
    ("is_unreadable_record", Error::is_unreadable_record),
    ("is_decode", Error::is_decode),
    ("is_pagination_stalled", Error::is_pagination_stalled),
    ("is_protocol", Error::is_protocol),
    ("is_internal", Error::is_internal),
    ("is_unavailable", Error::is_unavailable),
    ("is_unexpected_status", Error::is_unexpected_status),
    ("is_timeout", Error::is_timeout),
    ("is_connect", Error::is_connect),
    ("is_transport", Error::is_transport),
    ("is_store", Error::is_store),
    ("is_config", Error::is_config),
    ("is_not_modified", Error::is_not_modified),
    ("is_retryable", Error::is_retryable),
];

fn answers(error: &Error) -> Vec<&'static str> {
    let is_true = PREDICATES.iter().filter(|(_, is)| is(error));
    is_true.map(|(name, _)| *name).collect()
}

#[test]
fn each_predicate_is_in_the_guide_and_in_the_list_above() {
    let guide = include_str!("../guide/errors.md");
    let sources = [
        include_str!("predicates.rs"),
        include_str!("received.rs"),
        include_str!("report.rs"),
        include_str!("server_message.rs"),
    ];
    let mut found = Vec::new();
    for source in sources {
        for line in source.lines() {
            let Some((name, _)) = line
                .trim_start()
                .strip_prefix("pub fn ")
                .and_then(|rest| rest.split_once("(&self) -> bool"))
            else {
                continue;
            };
            assert!(
                guide.contains(&format!("| [`{name}`](crate::Error::{name}) |")),
                "{name}"
            );
            found.push(name);
        }
    }
    let mut listed: Vec<&str> = PREDICATES.iter().map(|(name, _)| *name).collect();
    found.sort_unstable();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn each_status_answers_a_predicate() {
    let bodies = ["", "<html>", "words", r#"{"Message": "no"}"#];
    for status in 300..=599 {
        for excerpt in bodies {
            let error = Error::http(Received::new(status, None, excerpt.as_bytes(), None));
            assert!(!answers(&error).is_empty(), "{error}");
        }
        let errors = vec![ServerError::from_value("no".into())];
        for error in [
            Error::new(Kind::Rejected { status, errors }),
            Error::protocol("cut").with_received(Received::new(status, None, b"", None)),
        ] {
            assert!(answers(&error).len() > 1, "{error}");
        }
    }
    let of = |status| {
        let received = Received::new(status, None, b"", None);
        answers(&Error::http(received))
    };
    assert_eq!(of(418), ["is_unexpected_status"]);
    assert_eq!(of(302), ["is_unexpected_status"]);
    assert_eq!(of(304), ["is_not_modified"]);
    assert_eq!(of(200), ["is_protocol"]);
}

#[test]
fn each_kind_answers_a_predicate() {
    let failure = |unsent, timeout, refused_locally| {
        Kind::Transport(Failure {
            what: "x",
            timeout,
            unsent,
            refused_locally,
        })
    };
    let code = || "x".to_owned();
    let (status, errors) = (200, Vec::new());
    let decode = Kind::Decode {
        status,
        path: code(),
        detail: code(),
        errors: Vec::new(),
    };
    let kinds = [
        (Kind::Config(code()), "is_config"),
        (failure(Unsent::Surely, true, false), "is_timeout"),
        (failure(Unsent::Surely, false, false), "is_connect"),
        (failure(Unsent::Perhaps, false, true), "is_transport"),
        (Kind::Rejected { status, errors }, "is_rejected"),
        (decode, "is_decode"),
        (Kind::Protocol(code()), "is_protocol"),
        (Kind::Stalled("x"), "is_pagination_stalled"),
        (Kind::AccountChoice(code()), "is_account_choice"),
        (Kind::NotRegistered, "is_not_registered"),
    ];
    let (reason, what) = ("x", "x");
    let auth_kinds = [
        (AuthProblem::NoTokens, "is_reauth_required"),
        (AuthProblem::ReauthRequired { reason }, "is_reauth_required"),
        (interaction(code()), "is_reauth_required"),
        (AuthProblem::Misconfigured { code: code() }, "is_config"),
        (
            AuthProblem::LoginRefused { code: code() },
            "is_login_refused",
        ),
        (refresh_refused(code()), "is_refresh_refused"),
        (AuthProblem::Unavailable { what }, "is_retryable"),
        (AuthProblem::Store, "is_store"),
        (AuthProblem::StoreUnreachable, "is_store"),
        (AuthProblem::LockTimeout, "is_store"),
    ];
    let auth_kinds = auth_kinds.map(|(problem, predicate)| (Kind::Auth(problem), predicate));
    for (kind, predicate) in kinds.into_iter().chain(auth_kinds) {
        assert_is_listed(&kind);
        let error = Error::new(kind);
        assert!(answers(&error).contains(&predicate), "{error}");
    }
}

fn interaction(code: String) -> AuthProblem {
    AuthProblem::InteractionRequired { code }
}

fn refresh_refused(code: String) -> AuthProblem {
    AuthProblem::RefreshRefused { code }
}

/// Does not compile when a kind is added: it has to be added to the list as well.
fn assert_is_listed(kind: &Kind) {
    match kind {
        Kind::Config(_)
        | Kind::Transport(_)
        | Kind::Http
        | Kind::Rejected { .. }
        | Kind::Decode { .. }
        | Kind::Protocol(_)
        | Kind::Stalled(_)
        | Kind::AccountChoice(_)
        | Kind::NotRegistered => {}
        Kind::Auth(problem) => match problem {
            AuthProblem::NoTokens
            | AuthProblem::ReauthRequired { .. }
            | AuthProblem::InteractionRequired { .. }
            | AuthProblem::Misconfigured { .. }
            | AuthProblem::LoginRefused { .. }
            | AuthProblem::RefreshRefused { .. }
            | AuthProblem::Unavailable { .. }
            | AuthProblem::Store
            | AuthProblem::StoreUnreachable
            | AuthProblem::LockTimeout => {}
        },
    }
}
