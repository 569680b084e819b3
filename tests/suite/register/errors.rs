//! Every status of spec 7.1 with different bodies.

use envd_sdk::register::PropertySearch;
use envd_sdk::{ErrorKind, RetryPolicy};
use equipment::Server;

use super::{client, pic};
use crate::scripted::{register, typed};

const JSON: (&str, &str) = (
    "application/json; charset=utf-8",
    r#"{"Message": "hidden words"}"#,
);
const XML: (&str, &str) = (
    "application/xml",
    "<Error><Message>hidden words</Message></Error>",
);
const HTML: (&str, &str) = ("text/html", "<html><title>hidden</title></html>");
const NOT_JSON: (&str, &str) = ("application/json", "<html>hidden</html>");
const NONE: (&str, &str) = ("", "");

#[tokio::test]
async fn every_status_is_reported_with_any_body() {
    for status in [400, 401, 403, 404, 429, 500, 503] {
        for (media_type, body) in [JSON, XML, HTML, NOT_JSON, NONE] {
            let server = Server::script([typed(status, media_type, body)]);
            let register = register(&server).retry(RetryPolicy::none());
            let register = register.build().unwrap();
            let mut search = register.search(&PropertySearch::new().town("x"));
            let error = search.next_page().await.unwrap_err();
            let context = format!("{status} {media_type} {body}");
            assert_eq!(error.http_status(), Some(status), "{context}");
            assert!(error.kind() != ErrorKind::Decode, "{context}");
            let shown = error.report().contains("hidden");
            assert_eq!(shown, !body.is_empty(), "{context}");
            let clear = body.contains("words").then_some("hidden words");
            assert_eq!(error.server_message().as_deref(), clear, "{context}");
            assert!(
                !format!("{error} {error:?}").contains("hidden"),
                "{context}"
            );
            let is_said = [JSON, XML].contains(&(media_type, body));
            assert_eq!(
                error.kind() == ErrorKind::Unauthorized,
                is_said && status == 401
            );
            assert_eq!(
                error.kind() == ErrorKind::Forbidden,
                is_said && status == 403
            );
            assert_eq!(
                error.kind() == ErrorKind::NotFound,
                is_said && status == 404
            );
            let waits = !is_said || matches!(status, 429 | 503);
            assert_eq!(error.is_retryable(), waits, "{context}");
            assert_eq!(error.operation(), Some("PICRegister"));
        }
    }
}

#[tokio::test]
async fn a_long_body_is_kept_in_part() {
    let trace = "at x ".repeat(10_000);
    let body = format!(r#"{{"Message": "No", "StackTrace": "{trace}"}}"#);
    let server = Server::script([typed(500, "application/json", body)]);
    let error = client(&server).lookup(&pic("QAZZ7777")).await.unwrap_err();
    assert!(error.report().len() < 2_048);
    assert_eq!(error.server_message().as_deref(), Some("No"));
    assert_eq!(
        error.to_string(),
        "PICRegister: the server refused with HTTP 500 (application/json); see Error::report()"
    );
}
