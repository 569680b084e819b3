//! Replies that do not follow the interface, as raw bytes.

use envd_sdk::model::CommentInput;
use envd_sdk::register::Register;
use envd_sdk::{Client, ClientBuilder, Error, ErrorKind, HttpOptions, Result};
use equipment::Reply;

use crate::scripted;

/// A server that sends these bytes for each request and closes the connection, and clients of it.
pub(crate) struct Server(equipment::Server);

impl Server {
    pub(crate) fn start(reply: impl Into<Vec<u8>>) -> Self {
        Self(equipment::Server::script([Reply::raw(reply)]))
    }

    pub(crate) fn builder(&self) -> ClientBuilder {
        scripted::client(&self.0).http(HttpOptions::default().max_body_bytes(10_000))
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    pub(crate) fn register(&self) -> Register {
        let http = HttpOptions::default().max_body_bytes(10_000);
        let register = scripted::register(&self.0).http(http);
        register.build().unwrap()
    }

    /// The error, and how often the call was sent.
    async fn error<T>(&self, call: impl IntoFuture<Output = Result<T>>) -> (Error, usize) {
        let before = self.0.count();
        let Err(error) = call.await else {
            panic!("the reply was accepted");
        };
        (error, self.0.count() - before)
    }

    pub(crate) async fn query(&self) -> (Error, usize) {
        self.error(self.client().user_details()).await
    }

    pub(crate) async fn mutate(&self) -> (Error, usize) {
        let input = CommentInput::new("C-900000101", "once");
        let account = self.client().account("one");
        self.error(account.create_comment(input)).await
    }

    pub(crate) async fn look_up(&self) -> (Error, usize) {
        let pic = "QDZZ3333".parse().unwrap();
        self.error(self.register().property(&pic)).await
    }
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
        let server = Server::start(bytes.clone());
        for (error, sent) in [server.query().await, server.look_up().await] {
            assert!(error.kind() == ErrorKind::Protocol, "{bytes:?}: {error}");
            assert!(error.kind() != ErrorKind::Transport && !error.is_retryable());
            assert!(!error.to_string().contains("lost"), "{error}");
            assert_eq!((error.attempts(), sent), (1, 1), "{bytes:?}");
            assert!(!error.may_have_applied());
        }
        let (error, sent) = server.mutate().await;
        assert!(
            error.kind() == ErrorKind::Protocol && error.may_have_applied(),
            "{error}"
        );
        assert_eq!((sent, error.is_retryable()), (1, false));
    }
    // A connection that closes without a reply is a transport error.
    let server = Server::start("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{");
    let (error, sent) = server.query().await;
    assert!(
        error.kind() == ErrorKind::Transport && error.to_string().contains("lost"),
        "{error}"
    );
    assert_eq!((sent, error.http_status()), (4, Some(200)));
}

#[tokio::test]
async fn a_redirect_names_its_host_and_is_not_followed() {
    for (location, expected) in [
        (
            "https://login.example/?token=s3cr3t",
            "a redirect to login.example",
        ),
        (
            "https://clerk:s3cr3t@Login.Example:8443/",
            "a redirect to login.example:8443",
        ),
        ("//login.example/s3cr3t", "a redirect to login.example"),
        ("/login?token=s3cr3t", "a redirect within the same host"),
        ("https://", "a redirect to an address that cannot be read"),
    ] {
        for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
            let head = format!("{status}\r\nlocation: {location}");
            let server = Server::start(reply(&head, "<html>s3cr3t"));
            for ((error, sent), attempts) in [
                (server.query().await, 4),
                (server.mutate().await, 1),
                (server.look_up().await, 4),
            ] {
                let shown = format!("{error} {error:?}");
                assert!(shown.contains(expected), "{shown}");
                assert!(shown.contains("redirects are not followed"), "{shown}");
                assert!(!shown.contains("s3cr3t"), "{shown}");
                assert_eq!((error.kind(), sent), (ErrorKind::NoAnswer, attempts));
            }
        }
    }
    let server = Server::start(reply("300 Multiple Choices", ""));
    let (error, _) = server.query().await;
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
            let (error, _) = server.query().await;
            assert_eq!(error.http_status(), Some(status), "{error}");
            assert!(
                error.to_string().contains("larger than the limit"),
                "{error}"
            );
            assert!(
                error.to_string().contains(&format!("HTTP {status}")),
                "{error}"
            );
            // It was not read whole, so its status says nothing.
            assert_eq!(error.kind(), ErrorKind::Transport);
            let (error, _) = server.mutate().await;
            assert!(error.may_have_applied(), "{error}");
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
        let head = format!("content-type: application/json\r\ncontent-encoding: {encoding}");
        let body = b"\x8b\x02\x80{\"data\": {}}\x03\xff";
        let head = format!(
            "HTTP/1.1 200 OK\r\n{head}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let server = Server::start([head.as_bytes(), body].concat());
        for (error, sent) in [server.query().await, server.look_up().await] {
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.to_string().contains("not requested"), "{error}");
            assert!(!error.to_string().contains("s3cr3t"), "{error}");
            assert!(error.kind() == ErrorKind::Protocol && sent == 1);
        }
    }
    // Encodings that leave the body unchanged are accepted.
    let body = r#"{"data": {"userDetails": {"firstName": "Sam"}}}"#;
    let head = "200 OK\r\ncontent-type: application/json\r\ncontent-encoding: identity";
    let server = Server::start(reply(head, body));
    assert!(server.client().user_details().await.is_ok());
}

#[tokio::test]
async fn only_known_media_types_are_shown() {
    for (media_type, expected) in [
        ("text/plain; charset=utf-8", "(text/plain)"),
        ("application/vnd.api+json", "(another media type)"),
        ("text/s3cr3t", "(another media type)"),
        ("s3cr3t", "(another media type)"),
    ] {
        for status in ["418 Teapot", "502 Bad Gateway"] {
            let head = format!("{status}\r\ncontent-type: {media_type}");
            for body in ["words", r#"{"Message": "words"}"#] {
                let server = Server::start(reply(&head, body));
                let (error, _) = server.query().await;
                let shown = format!("{error} {error:?}");
                assert!(shown.contains(expected), "{shown}");
                assert!(!shown.contains("s3cr3t"), "{shown}");
            }
        }
    }
    let (error, _) = Server::start(reply("418 Teapot", "words")).query().await;
    assert!(error.to_string().contains("(no media type)"), "{error}");
}
