//! Traces of a call: names, numbers and codes; never variables, bodies or tokens.

use tracing::Span;
use tracing::field::Empty;

use super::sender::{Answer, SentOperation};
use crate::error::{Error, codes};
use crate::model::redact::shown_path;

/// The span of a request, covering all its attempts.
pub(super) fn call(operation: &str, kind: &str, page: Option<u64>) -> Span {
    tracing::debug_span!(
        "envd.call",
        operation = %operation,
        kind,
        page,
        status = Empty,
        attempts = Empty,
        codes = Empty,
        error = Empty,
    )
}

/// The span of one attempt, numbered from 1.
pub(super) fn attempt(number: u32) -> Span {
    tracing::debug_span!(
        "envd.attempt",
        attempt = number,
        status = Empty,
        codes = Empty,
        error = Empty,
    )
}

/// Records how a request or an attempt ended: the status and the codes of problems, or the error.
pub(super) fn ended<O: SentOperation>(span: &Span, result: &Result<Answer<O::Value>, Error>) {
    if span.is_disabled() {
        return;
    }
    let (status, errors) = match result {
        Ok(answer) => (Some(answer.status), O::problems(&answer.value)),
        Err(error) => {
            // `Display` contains nothing that was entered or sent.
            span.record("error", tracing::field::display(error));
            (error.http_status(), error.server_errors())
        }
    };
    if let Some(status) = status {
        span.record("status", status);
    }
    if !errors.is_empty() {
        span.record("codes", codes(errors));
    }
}

/// Warns about a reply with an unexpected shape. The service may have changed.
pub(crate) fn decode_failure(error: &Error) {
    if let Some(path) = error.json_path().map(shown_path) {
        tracing::warn!(path, "a reply does not have the expected shape");
    }
}

/// Warns that the server's schema does not fit an operation's document, and that a reduced one does.
// profile: operations.leftOut
pub(crate) fn adapted(operation: &str, left_out: &[String]) {
    let left_out = left_out.join(" ");
    tracing::warn!(
        operation,
        left_out,
        "the document was adapted to the schema of the server"
    );
}
