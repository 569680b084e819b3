//! Reads the bodies of requests, with limits for size and time.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

/// A browser sends a form immediately, or within seconds on a slow line. Without a limit, slow clients could exhaust the server.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A form with a drawn signature has some 20 kB; with long texts in another script it has ten times as much.
const LARGEST: usize = 1_000_000;

/// Reads the complete body before handling the request. Refuses a body that is too long or too slow, and closes the connection.
pub(crate) async fn read_body(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match timeout(BODY_TIMEOUT, to_bytes(body, LARGEST)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(head, Body::from(body))).await,
        Ok(Err(_)) => {
            let sentence = "The page has more than 1 MB of text. Nothing was saved: go back, and shorten the longest field.";
            (StatusCode::PAYLOAD_TOO_LARGE, sentence).into_response()
        }
        Err(_) => {
            let sentence =
                "The page did not arrive in time. Nothing was saved: go back, and send it again.";
            (StatusCode::REQUEST_TIMEOUT, sentence).into_response()
        }
    }
}
