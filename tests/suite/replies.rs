//! Replies that are no success, and what a call makes of them.
//!
//! A verdict is the kind of the error, `x4` if the request was sent so often, and `?` if the change may have applied.

use envd_sdk::model::{CommentInput, Condition, ServerError};
use envd_sdk::register::{PropertySearch, Register};
use envd_sdk::{Client, ClientBuilder, Error, ErrorKind, HttpOptions, Result};
use equipment::Reply;
use equipment::script::rows;
use serde_json::Value;

use crate::conditions::fixture;
use crate::scripted::{self, Renewing, ok, typed};

/// A server that sends this reply for each request, and clients of it.
pub(crate) struct Server(equipment::Server);

impl Server {
    /// With these bytes, after which it closes the connection.
    pub(crate) fn start(reply: impl Into<Vec<u8>>) -> Self {
        Self::replying(Reply::raw(reply))
    }

    fn replying(reply: Reply) -> Self {
        Self(equipment::Server::script([reply]))
    }

    pub(crate) fn builder(&self) -> ClientBuilder {
        let http = HttpOptions::default().max_body_bytes(10_000);
        scripted::client(&self.0).token_source(Renewing).http(http)
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    pub(crate) fn register(&self) -> Register {
        let http = HttpOptions::default().max_body_bytes(10_000);
        let register = scripted::register(&self.0).http(http);
        register.build().unwrap()
    }

    /// The verdict on a call, and its error if it has one.
    async fn verdict<T>(
        &self,
        call: impl IntoFuture<Output = Result<T>>,
    ) -> (String, Option<Error>) {
        let before = self.0.count();
        let Err(error) = call.await else {
            return ("ok".to_owned(), None);
        };
        let (sent, attempts) = (self.0.count() - before, error.attempts());
        // One of them may be with another token as well.
        let again = sent - attempts as usize;
        assert!(again == 0 || again == 1 && error.http_status() == Some(401));
        assert!(error.operation().is_some());
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains("hidden") && !shown.contains("s3cr3t"),
            "{shown}"
        );
        let mut verdict = format!("{:?}", error.kind());
        if attempts > 1 {
            verdict.extend([" x", &attempts.to_string()]);
        }
        let is_in_doubt = error.may_have_applied();
        let again = attempts > 1 && !is_in_doubt;
        assert_eq!(error.is_retryable(), again, "{shown}");
        verdict += if is_in_doubt { " ?" } else { "" };
        (verdict, Some(error))
    }

    /// That on a query, a change, an idempotent change, or a search.
    async fn judged(&self, call: &str) -> (String, Option<Error>) {
        let input = CommentInput::new("C-900000101", "once");
        let change = self.client().account("one").create_comment(input);
        match call {
            "query" => self.verdict(self.client().user_details()).await,
            "change" => self.verdict(change).await,
            "idempotent" => self.verdict(change.idempotent()).await,
            _ => {
                let search = PropertySearch::new().town("x");
                self.verdict(self.register().search(&search).next_page())
                    .await
            }
        }
    }

    pub(crate) async fn query(&self) -> Error {
        self.judged("query").await.1.expect("an error")
    }

    /// Checks the verdicts on a query, a change and a search, and what all errors say.
    pub(crate) async fn assert(&self, verdicts: [&str; 3], says: &[&str]) {
        for (call, expected) in ["query", "change", "search"].into_iter().zip(verdicts) {
            let (verdict, error) = self.judged(call).await;
            assert_eq!(verdict, expected, "{call}: {error:?}");
            let said = error.unwrap().to_string();
            for text in says {
                assert!(said.contains(text), "{call}: {said}");
            }
        }
    }
}

const GRAPHQL: &str = "application/graphql-response+json";
const JSON: &str = "application/json";

/// The bodies of each column of the matrix.
const BODIES: [(usize, &str, &str); 13] = [
    (1, "", ""),
    (1, "text/html", "<html>hidden</html>"),
    (1, JSON, "<html>hidden</html>"),
    (1, "text/plain", "hidden"),
    (2, JSON, r#"{"Message": "hidden words"}"#),
    (
        2,
        "application/xml",
        "<Error><Message>hidden words</Message></Error>",
    ),
    (3, JSON, r#"{"errors": [{"message": "hidden"}]}"#),
    (3, GRAPHQL, r#"{"errors": [{"message": "hidden"}]}"#),
    (4, GRAPHQL, "{}"),
    (5, GRAPHQL, r#"{"errors": [{"mess"#),
    (
        6,
        JSON,
        r#"{"errors": [{"message": "hidden", "extensions": {"code": "RATE_LIMITED"}}]}"#,
    ),
    (
        7,
        JSON,
        r#"{"errors": [{"message": "hidden", "extensions": {"code": "INVALID_VALUE"}}]}"#,
    ),
    (8, JSON, r#"{"data": {"#),
];

#[tokio::test]
async fn each_status_with_each_body_has_the_verdict_of_the_matrix() {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for row in rows(include_str!("replies.txt")) {
        let statuses = row[0].split(' ').map(|status| status.parse().unwrap());
        for (status, (column, media_type, body)) in
            statuses.flat_map(|it: u16| BODIES.map(|body| (it, body)))
        {
            let body = if status == 304 { "" } else { body };
            let server = Server::replying(typed(status, media_type, body));
            for call in ["idempotent", "change", "query", "search"] {
                let expected = match call {
                    "idempotent" => row[column].to_owned(),
                    "change" if row[column].ends_with('?') => row[column].replace(" x4", ""),
                    // Anything but a list is unreadable to the register.
                    "search" if column > 2 => continue,
                    _ => row[column].replace(" ?", ""),
                };
                let (verdict, error) = server.judged(call).await;
                let error = error.expect("an error");
                // For support, where the body was read: its beginning, and the message of the server.
                let report = error.report();
                let is_shown = report.contains("hidden") == body.contains("hidden");
                let message = error.server_message();
                let is_told = message.as_deref() == Some("hidden words")
                    || !body.contains("words")
                    || status < 400;
                if verdict != expected
                    || error.http_status() != Some(status)
                    || !is_shown
                    || !is_told
                {
                    wrong.push(format!(
                        "{call}: {status} {body}: {verdict}, not {expected}: {report}"
                    ));
                }
                checked += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(checked > 1_000, "{checked}");
}

#[tokio::test]
async fn a_created_record_keeps_its_notices() {
    let body = fixture("required-answer-missing.json");
    for status in [200, 201] {
        let server = Server::replying(Reply::json(status, &body));
        let call = server.client();
        let call = call.execute_document::<Value>("query Q { a }", "Q", &Value::Null);
        let outcome = call.await.unwrap();
        assert_eq!(outcome.http_status(), status);
        let record = &outcome.value["createOrSaveConsignment"]["data"];
        assert_eq!(
            (&record["status"], outcome.problems.len()),
            (&"DRAFT".into(), 2)
        );
    }
    let refused = Server::replying(ok(fixture("mixed-species.json")))
        .query()
        .await;
    let mut conditions = refused.server_errors().iter().map(ServerError::condition);
    assert!(refused.is_rejected() && conditions.any(|it| it == Condition::MixedSpecies));
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
        let error = Server::replying(typed(502, media_type, body)).query().await;
        assert!(error.to_string().contains(expected), "{error}");
        let shown = error.report().contains("body: ") || error.server_message().is_some();
        assert_eq!(shown, !body.is_empty(), "{}", error.report());
        assert!(error.is_retryable() && error.kind() != ErrorKind::Protocol);
    }
}

#[tokio::test]
async fn an_excerpt_is_bounded() {
    let long = typed(500, "text/plain", "x".repeat(9_000));
    assert!(Server::replying(long).query().await.report().len() < 2_048);
    let trace = "at x ".repeat(1_900);
    let body = format!(r#"{{"Message": "No", "StackTrace": "{trace}"}}"#);
    let server = Server::replying(Reply::json(500, body));
    let error = server.judged("search").await.1.unwrap();
    assert!(error.report().len() < 2_048);
    assert_eq!(error.server_message().as_deref(), Some("No"));
    let said =
        "PICRegister: the server refused with HTTP 500 (application/json); see Error::report()";
    assert_eq!(error.to_string(), said);
}

fn reply(head: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn another_protocol_is_reported_and_not_sent_again() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let many = "x: 1\r\n".repeat(200);
    for bytes in [
        "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
        "220 mail.example ESMTP ready\r\n".to_owned(),
        "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{28}".to_owned(),
        "HTTP/9.9 200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 twohundred OK\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: one\r\n\r\n{}".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
        format!("{chunked}zz\r\n{{}}\r\n"),
        format!("{chunked}2\r\n{{}}x\r\n0\r\n\r\n"),
    ] {
        let (server, verdicts) = (Server::start(bytes), ["Protocol", "Protocol ?", "Protocol"]);
        server.assert(verdicts, &[]).await;
        assert!(!server.query().await.to_string().contains("lost"));
    }
}

#[tokio::test]
async fn a_connection_that_ends_before_its_reply_is_lost() {
    let verdicts = ["Transport x4", "Transport ?", "Transport x4"];
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{";
    for (bytes, status) in [("", None), (cut, Some(200))] {
        let server = Server::start(bytes);
        server.assert(verdicts, &["lost"]).await;
        assert_eq!(server.query().await.http_status(), status);
    }
}

#[tokio::test]
async fn a_redirect_names_its_host_and_is_not_followed() {
    for row in rows(
        "
        https://login.example/?token=s3cr3t         | a redirect to login.example
        https://clerk:s3cr3t@Login.Example:8443/    | a redirect to login.example:8443
        //login.example/s3cr3t                      | a redirect to login.example
        /login?token=s3cr3t                         | a redirect within the same host
        https://                                    | a redirect to an address that cannot be read
        ",
    ) {
        for status in [301, 302, 307, 308] {
            let reply = typed(status, "text/html", "<html>s3cr3t").header("location", row[0]);
            let verdicts = ["NoAnswer x4", "NoAnswer ?", "NoAnswer x4"];
            let says = [row[1], "redirects are not followed"];
            Server::replying(reply).assert(verdicts, &says).await;
        }
    }
    let error = Server::replying(Reply::new(300)).query().await;
    assert!(error.to_string().contains("without a Location"), "{error}");
}

#[tokio::test]
async fn a_reply_over_the_limit_keeps_its_status() {
    let long = "x".repeat(20_000);
    let chunked = format!("transfer-encoding: chunked\r\n\r\n4e20\r\n{long}\r\n0\r\n\r\n");
    for status in [500, 503, 200, 403] {
        let announced = reply(&format!("{status} Told\r\ncontent-type: text/html"), &long);
        let unannounced = format!("HTTP/1.1 {status} Told\r\ncontent-type: text/html\r\n{chunked}");
        for bytes in [announced, unannounced] {
            let server = Server::start(bytes);
            // It was not read whole, so its status says nothing.
            let says = ["larger than the limit", &format!("HTTP {status}")];
            server
                .assert(["Transport", "Transport ?", "Transport"], &says)
                .await;
            assert_eq!(server.query().await.http_status(), Some(status));
        }
    }
}

#[tokio::test]
async fn an_encoding_that_was_not_requested_is_named() {
    for (encoding, expected) in [
        ("br", "content-encoding br"),
        ("zstd", "content-encoding zstd"),
        ("s3cr3t", "an unknown content-encoding"),
    ] {
        let body = b"\x8b\x02\x80{\"data\": {}}\x03\xff";
        let reply = typed(200, JSON, *body).header("content-encoding", encoding);
        let verdicts = ["Protocol", "Protocol ?", "Protocol"];
        Server::replying(reply)
            .assert(verdicts, &[expected, "not requested"])
            .await;
    }
    // Encodings that leave the body unchanged are accepted.
    let body = r#"{"data": {"userDetails": {"firstName": "Sam"}}}"#;
    let server = Server::replying(Reply::json(200, body).header("content-encoding", "identity"));
    assert!(server.client().user_details().await.is_ok());
}

#[tokio::test]
async fn only_known_media_types_are_shown() {
    for (media_type, expected) in [
        ("text/plain; charset=utf-8", "(text/plain)"),
        ("application/vnd.api+json", "(another media type)"),
        ("text/s3cr3t", "(another media type)"),
        ("s3cr3t", "(another media type)"),
        ("", "(no media type)"),
    ] {
        for status in [418, 502] {
            for body in ["words", r#"{"Message": "words"}"#] {
                let error = Server::replying(typed(status, media_type, body))
                    .query()
                    .await;
                assert!(error.to_string().contains(expected), "{error}");
            }
        }
    }
}
