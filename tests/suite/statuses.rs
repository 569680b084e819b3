//! The HTTP statuses of spec 7.1 and replies of other media types, as errors of the client.

use envd_sdk::auth::AccessToken;
use envd_sdk::model::{Condition, ServerError};
use envd_sdk::{ErrorKind, HttpOptions, Outcome, Result, RetryPolicy};
use equipment::{Reply, Server};
use serde_json::{Value, json};

use crate::conditions::fixture;
use crate::scripted::{client, ok, typed};

async fn query(reply: Reply) -> Result<Outcome<Value>> {
    // Returns the refused token again.
    let stubborn = || async { AccessToken::new("refused-token") };
    let client = client(&Server::script([reply]))
        .token_source(stubborn)
        .retry(RetryPolicy::none())
        .http(HttpOptions::default().max_body_bytes(10_000));
    let client = client.build().unwrap();
    let call = client.execute_document("query Q { comments }", "Q", &json!({}));
    call.await
}

#[tokio::test]
async fn each_status_of_the_table_has_its_kind() {
    for (status, kind) in [
        (304, ErrorKind::Protocol),
        (400, ErrorKind::Rejected),
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::NotFound),
        (500, ErrorKind::Internal),
        (503, ErrorKind::Unavailable),
    ] {
        let errors = r#"{"errors": [{"message": "Sam Sample"}]}"#;
        let graphql = "application/graphql-response+json";
        // The first two are not of the service: they mean that there was no usable answer.
        for (i, (media_type, body)) in [
            ("text/plain", ""),
            ("text/html", "<html>Sam Sample</html>"),
            ("application/json", r#"{"Message": "Sam Sample"}"#),
            ("application/json", errors),
            (graphql, errors),
            (graphql, "{}"),
        ]
        .into_iter()
        .enumerate()
        {
            let reply = typed(status, media_type, body);
            let error = query(reply).await.unwrap_err();
            assert_eq!(error.http_status(), Some(status), "body {i}");
            let is_said = i > 1 || matches!(status, 304 | 503);
            let expected = match (status, i) {
                _ if !is_said => ErrorKind::NoAnswer,
                // It has neither data nor errors.
                (400, 5) => ErrorKind::Protocol,
                _ => kind,
            };
            assert_eq!(error.kind(), expected, "{status}, body {i}");
            assert!(is_said || error.is_retryable());
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("Sample"), "{shown}");
        }
    }
}

#[tokio::test]
async fn a_created_record_keeps_its_notices() {
    let body = fixture("required-answer-missing.json");
    for status in [200, 201] {
        let outcome = query(Reply::json(status, &body)).await.unwrap();
        assert_eq!(outcome.http_status(), status);
        assert_eq!(
            outcome.value["createOrSaveConsignment"]["data"]["status"],
            "DRAFT"
        );
        assert_eq!(outcome.problems.len(), 2);
    }
}

#[tokio::test]
async fn a_200_with_a_refusal_is_an_error_with_the_reason() {
    let error = query(ok(fixture("mixed-species.json"))).await.unwrap_err();
    assert!(error.is_rejected());
    let mut conditions = error.server_errors().iter().map(ServerError::condition);
    assert!(conditions.any(|it| it == Condition::MixedSpecies));
    assert_eq!(error.http_status(), Some(200));
}

#[tokio::test]
async fn bodies_of_other_media_types_are_named() {
    for (body, media_type, expected) in [
        ("", "application/json", "HTTP 502 with an empty body"),
        (
            "<!DOCTYPE html><p>Bad gateway",
            "text/html",
            "HTTP 502 with an HTML page",
        ),
        ("\n<HTML>", "application/json", "an HTML page"),
        (
            "<?xml version=\"1.0\"?><Error/>",
            "application/xml",
            "an XML document",
        ),
        (
            "try later",
            "text/plain",
            "not of the interface (text/plain)",
        ),
        (
            "{\"Message\": \"x\"}",
            "application/json",
            "the server refused with HTTP 502 (application/json)",
        ),
    ] {
        let error = query(typed(502, media_type, body)).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        let shown = error.report().contains("body: ") || error.server_message().is_some();
        assert_eq!(shown, !body.is_empty(), "{}", error.report());
        assert!(error.is_retryable() && error.kind() != ErrorKind::Protocol);
    }
}

#[tokio::test]
async fn an_excerpt_is_bounded_and_a_body_over_the_limit_is_not_read() {
    let long = typed(500, "text/plain", "x".repeat(9_000));
    let error = query(long).await.unwrap_err();
    assert!(error.report().len() < 2_048);
    let longer = Reply::json(200, "x".repeat(10_001));
    let error = query(longer).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Transport && !error.is_retryable(),
        "{error}"
    );
}
