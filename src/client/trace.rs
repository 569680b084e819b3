//! What traces say about a call: names, numbers and codes; never variables, bodies or tokens.

use tracing::Span;
use tracing::field::Empty;

use super::plan::Plan;
use super::response::Response;
use crate::error::{Error, Kind, Result, codes};
use crate::graphql::OperationKind;
use crate::model::known_names::shown_path;

/// The span of a call, all attempts in it.
pub(super) fn call(plan: &Plan) -> Span {
    let kind = match plan.encoded.kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
    };
    tracing::debug_span!(
        "envd.call",
        operation = %plan.encoded.operation,
        kind,
        page = plan.page,
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

pub(super) fn call_ended<T>(span: &Span, result: &Result<Response<T>>) {
    let attempts = match result {
        Ok(response) => response.attempts,
        Err(error) => error.attempts(),
    };
    span.record("attempts", attempts);
    attempt_ended(span, result);
}

pub(super) fn attempt_ended<T>(span: &Span, result: &Result<Response<T>>) {
    if span.is_disabled() {
        return;
    }
    let (status, errors) = match result {
        Ok(response) => (Some(response.status), response.outcome.problems.as_slice()),
        Err(error) => (error.http_status(), error.server_errors()),
    };
    if let Err(error) = result {
        // Its text holds nothing that was entered or sent.
        span.record("error", tracing::field::display(error));
    }
    if let Some(status) = status {
        span.record("status", status);
    }
    if !errors.is_empty() {
        span.record("codes", codes(errors));
    }
}

/// A reply in another shape than expected: perhaps the service has changed.
pub(super) fn decode_failure(error: &Error) {
    if matches!(error.kind(), Kind::Decode { .. }) {
        let path = error.json_path().map(shown_path);
        tracing::warn!(path, "a reply does not have the expected shape");
    }
}

/// The server's schema does not fit the document of an operation, and another one does.
pub(super) fn adapted(operation: &str, left_out: &[String]) {
    let left_out = left_out.join(" ");
    tracing::warn!(
        operation,
        left_out,
        "the document was adapted to the schema of the server"
    );
}
