//! The bodies of requests, with a limit for their size and their time.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

/// A browser sends a form at once, and on a slow line in some seconds. Without a limit, clients that send a byte now and then
/// fill the server.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A form with a drawn signature has some 20 kB, and one with long texts in another script ten times as much.
const LARGEST: usize = 1_000_000;

/// Reads the whole body before the request goes on. What is too long or too slow is refused, and the connection ends.
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
