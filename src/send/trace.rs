//! Traces of a call: names, numbers and codes; never variables, bodies or tokens.

use tracing::Span;
use tracing::field::Empty;

use crate::error::{Error, Repr, codes};
use crate::model::ServerError;
use crate::model::redact::shown_path;

/// The span of a request, all attempts in it.
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

/// Records how a request or an attempt ended: the status of its reply with the problems beside the data, or its error.
pub(super) fn ended(span: &Span, result: Result<(u16, &[ServerError]), &Error>) {
    if span.is_disabled() {
        return;
    }
    let (status, errors) = match result {
        Ok((status, problems)) => (Some(status), problems),
        Err(error) => {
            // Its text holds nothing that was entered or sent.
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

/// A reply in another shape than expected: perhaps the service has changed.
pub(crate) fn decode_failure(error: &Error) {
    if matches!(error.repr(), Repr::Decode { .. }) {
        let path = error.json_path().map(shown_path);
        tracing::warn!(path, "a reply does not have the expected shape");
    }
}

/// The server's schema does not fit the document of an operation, and another one does.
pub(crate) fn adapted(operation: &str, left_out: &[String]) {
    let left_out = left_out.join(" ");
    tracing::warn!(
        operation,
        left_out,
        "the document was adapted to the schema of the server"
    );
}
