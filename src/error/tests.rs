//! Each error answers a predicate, and each predicate is in the guide.

use serde_json::json;

use super::{AuthProblem, Error, Failure, Received, Repr, Unsent};
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
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn each_status_answers_a_predicate() {
    const MESSAGE: &str = r#"{"Message": "no"}"#;
    let bodies = ["", "<html>", "words", MESSAGE];
    for status in 300..=599 {
        for excerpt in bodies {
            let error = Error::http(Received::new(status, None, excerpt.as_bytes(), None));
            assert!(!answers(&error).is_empty(), "{error}");
        }
        let errors = vec![ServerError::from_value("no".into())];
        let error = Error::new(Repr::Rejected { status, errors });
        assert!(answers(&error).len() > 1, "{error}");
        let cut = Error::protocol("cut").with_received(Received::new(status, None, b"", None));
        assert!(answers(&cut).contains(&"is_protocol"), "{cut}");
    }
    for (status, body, true_ones) in [
        (200, "", "is_retryable"),
        (200, MESSAGE, "is_protocol"),
        (302, "", "is_unexpected_status is_retryable"),
        (304, "", "is_not_modified"),
        (400, "", "is_retryable"),
        (400, MESSAGE, "is_bad_request"),
        (401, "", "is_retryable"),
        (401, MESSAGE, "is_unauthorized"),
        (403, "", "is_retryable"),
        (403, MESSAGE, "is_forbidden"),
        (404, "", "is_retryable"),
        (404, MESSAGE, "is_not_found"),
        (408, MESSAGE, "is_unexpected_status is_retryable"),
        (418, "", "is_unexpected_status is_retryable"),
        (418, MESSAGE, "is_unexpected_status"),
        (429, "", "is_rate_limited is_retryable"),
        (500, "", "is_internal is_retryable"),
        (500, MESSAGE, "is_internal"),
        (502, "", "is_unexpected_status is_retryable"),
        (503, MESSAGE, "is_unavailable is_retryable"),
        (504, "", "is_unexpected_status is_retryable"),
        (505, MESSAGE, "is_unexpected_status"),
    ] {
        let received = Received::new(status, None, body.as_bytes(), None);
        let error = Error::http(received);
        assert_eq!(answers(&error).join(" "), true_ones, "{status} {body}");
        let rest = true_ones.trim_end_matches("is_retryable").trim_end();
        let true_ones = format!("may_have_applied {rest}");
        let error = error.with_may_have_applied(true);
        assert_eq!(answers(&error).join(" "), true_ones.trim_end(), "{status}");
    }
}

#[test]
fn each_condition_of_a_body_answers_a_predicate() {
    let refusal = |message: &str, code: &str| json!({"message": message, "extensions": {"data": {"Code": code}}});
    let schema = |message: &str, code: &str| json!({"message": message, "extensions": {"code": code, "number": "5.8"}});
    for (error, true_ones) in [
        (
            refusal("The access token is invalid", "Unauthorized"),
            "is_unauthorized",
        ),
        (refusal("Access denied", ""), "is_forbidden"),
        (refusal("Internal server error", ""), "is_not_found"),
        (
            schema("Cannot query field 'x'", "FIELDS_ON_CORRECT_TYPE"),
            "is_schema_mismatch",
        ),
        (
            schema(
                "Variable '$input' is invalid. Unrecognized input fields 'id' for type 'T'.",
                "INVALID_VALUE",
            ),
            "is_schema_mismatch",
        ),
        (schema("Variable '$first' is invalid.", "INVALID_VALUE"), ""),
        (refusal("Slow down", "TOO_MANY_REQUESTS"), "is_rate_limited"),
        (refusal("QAZZ777 is not a valid value for PIC", "pic"), ""),
    ] {
        let errors = vec![ServerError::from_value(error.clone())];
        let (status, path, detail) = (200, String::new(), String::new());
        for (kind, own) in [
            (
                Repr::Rejected {
                    status,
                    errors: errors.clone(),
                },
                "is_rejected",
            ),
            (
                Repr::Decode {
                    status,
                    path,
                    detail,
                    errors,
                },
                "is_decode",
            ),
        ] {
            let retryable = if true_ones == "is_rate_limited" {
                "is_retryable"
            } else {
                ""
            };
            let all = [true_ones, own, retryable];
            let all: Vec<_> = all.into_iter().filter(|name| !name.is_empty()).collect();
            assert_eq!(answers(&Error::new(kind)), all, "{error}");
        }
    }
}

#[test]
fn each_kind_answers_a_predicate() {
    let failure = |unsent, timeout, refused_locally| {
        Repr::Transport(Failure {
            what: "x",
            timeout,
            unsent,
            refused_locally,
        })
    };
    let code = || "x".to_owned();
    let (status, errors) = (200, Vec::new());
    let decode = Repr::Decode {
        status,
        path: code(),
        detail: code(),
        errors: Vec::new(),
    };
    let kinds = [
        (Repr::Config(code()), "is_config"),
        (
            failure(Unsent::Surely, true, false),
            "is_timeout is_connect is_transport is_retryable",
        ),
        (
            failure(Unsent::Surely, false, false),
            "is_connect is_transport is_retryable",
        ),
        (
            failure(Unsent::Perhaps, true, false),
            "is_timeout is_transport is_retryable",
        ),
        (failure(Unsent::Perhaps, false, true), "is_transport"),
        (Repr::Rejected { status, errors }, "is_rejected"),
        (decode, "is_decode"),
        (Repr::Protocol(code()), "is_protocol"),
        (Repr::Stalled("x"), "is_pagination_stalled is_protocol"),
        (Repr::AccountChoice(code()), "is_account_choice"),
        (Repr::NotRegistered, "is_not_registered"),
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
        (AuthProblem::StoreUnreachable, "is_store is_retryable"),
        (AuthProblem::LockTimeout, "is_store is_retryable"),
    ];
    let auth_kinds = auth_kinds.map(|(problem, true_ones)| (Repr::Auth(problem), true_ones));
    for (kind, true_ones) in kinds.into_iter().chain(auth_kinds) {
        assert_is_listed(&kind);
        let error = Error::new(kind);
        assert_eq!(answers(&error).join(" "), true_ones, "{error}");
        if error.is_decode() {
            let error = error.with_unreadable_record();
            assert_eq!(answers(&error), ["is_unreadable_record", "is_decode"]);
        }
    }
}

fn interaction(code: String) -> AuthProblem {
    AuthProblem::InteractionRequired { code }
}

fn refresh_refused(code: String) -> AuthProblem {
    AuthProblem::RefreshRefused { code }
}

/// Does not compile when a kind is added: it has to be added to the list as well.
fn assert_is_listed(kind: &Repr) {
    match kind {
        Repr::Config(_)
        | Repr::Transport(_)
        | Repr::Http
        | Repr::Rejected { .. }
        | Repr::Decode { .. }
        | Repr::Protocol(_)
        | Repr::Stalled(_)
        | Repr::AccountChoice(_)
        | Repr::NotRegistered => {}
        Repr::Auth(problem) => match problem {
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
