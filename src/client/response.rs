//! What came back for one call, with the facts of HTTP.

use std::time::Duration;

use crate::graphql::Outcome;
use crate::transport::header::HeaderMap;

/// What came back for a [`Call`](super::Call): the outcome, and how it came.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response<T> {
    /// The value, and what the server said beside it.
    pub outcome: Outcome<T>,
    /// The HTTP status.
    pub status: u16,
    /// How many attempts were made, this one included.
    pub attempts: u32,
    /// The time from the call to the reply, waits included.
    pub elapsed: Duration,
    /// The id that the server gave the request, to be named to its support team (header `x-request-id` or
    /// `x-correlation-id`; assumed).
    pub request_id: Option<String>,
}

impl<T> Response<T> {
    pub(super) fn new(outcome: Outcome<T>, status: u16, request_id: Option<String>) -> Self {
        Self {
            outcome,
            status,
            attempts: 1,
            elapsed: Duration::ZERO,
            request_id,
        }
    }

    pub(super) fn request_id_of(headers: &HeaderMap) -> Option<String> {
        ["x-request-id", "x-correlation-id"]
            .into_iter()
            .find_map(|name| headers.get(name)?.to_str().ok())
            .map(str::to_owned)
    }
}
