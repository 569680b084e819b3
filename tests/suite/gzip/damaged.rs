//! Bodies that are not what their `content-encoding` says: nothing is cut silently, and a change is in doubt.

use envd_sdk::{ErrorKind, HttpOptions};

use super::{GZIP, USER, first_name, gzip, reply};
use crate::unexpected_replies::Server;

#[tokio::test]
async fn a_body_that_ends_early_is_a_transport_error() {
    let body = gzip(USER.as_bytes());
    // As HTTP the reply is complete.
    for length in [1, 10, body.len() / 2, body.len() - 8, body.len() - 1] {
        let server = Server::start(reply("200 OK", GZIP, &body[..length]));
        for (error, sent) in [server.query().await, server.look_up().await] {
            let text = "the gzip body of the reply ends too early (HTTP 200)";
            assert!(error.to_string().contains(text), "{error}");
            assert!(error.kind() == ErrorKind::Transport && error.is_retryable());
            assert_eq!((error.attempts(), sent), (4, 4));
        }
        let (error, sent) = server.mutate().await;
        assert!(
            error.kind() == ErrorKind::Transport && error.may_have_applied(),
            "{error}"
        );
        assert_eq!((error.is_retryable(), sent), (false, 1));
    }
    // The connection ends too early as well.
    let cut = reply("200 OK", GZIP, &body);
    let server = Server::start(&cut[..cut.len() - 9]);
    let (error, sent) = server.query().await;
    assert!(
        error.to_string().contains("the connection was lost"),
        "{error}"
    );
    assert!(error.kind() == ErrorKind::Transport && sent == 4);
}

#[tokio::test]
async fn a_damaged_body_is_a_protocol_error() {
    let body = gzip(USER.as_bytes());
    let changed = |place: usize| {
        let mut body = body.clone();
        body[place] ^= 1;
        body
    };
    for (what, body) in [
        ("the method", changed(2)),
        ("the checksum", changed(body.len() - 8)),
        ("the length", changed(body.len() - 1)),
        (
            "the checksum of the second member",
            [gzip(b" "), changed(body.len() - 5)].concat(),
        ),
        ("zeros at the end", [body.as_slice(), &[0; 20]].concat()),
        (
            "text at the end",
            [body.as_slice(), b"{\"data\": null}"].concat(),
        ),
        ("not gzip", USER.into()),
    ] {
        let server = Server::start(reply("200 OK", GZIP, &body));
        for (error, sent) in [server.query().await, server.look_up().await] {
            assert!(
                error
                    .to_string()
                    .contains("gzip body of the reply is damaged"),
                "{what}: {error}"
            );
            assert!(
                error.kind() == ErrorKind::Protocol && !error.is_retryable(),
                "{what}"
            );
            assert_eq!((error.http_status(), sent), (Some(200), 1), "{what}");
            assert!(!format!("{error:?}").contains("Sam"));
        }
        let (error, sent) = server.mutate().await;
        assert!(
            error.kind() == ErrorKind::Protocol && error.may_have_applied(),
            "{what}: {error}"
        );
        assert_eq!((error.is_retryable(), sent), (false, 1), "{what}");
    }
}

/// RFC 9110 section 15.5.2: the request was not applied, whatever the body.
#[tokio::test]
async fn an_unauthorized_request_with_a_damaged_body_is_not_in_doubt() {
    let server = Server::start(reply("401 Unauthorized", GZIP, b"{}"));
    let (error, _) = server.mutate().await;
    assert!(!error.may_have_applied(), "{error}");
}

#[tokio::test]
async fn other_encodings_are_refused() {
    let twice = gzip(&gzip(USER.as_bytes()));
    for (head, told) in [
        (
            "content-encoding: gzip, gzip",
            "an unknown content-encoding",
        ),
        (
            "content-encoding: gzip\r\ncontent-encoding: gzip",
            "an unknown content-encoding",
        ),
        (
            "content-encoding: identity\r\ncontent-encoding: gzip",
            "an unknown content-encoding",
        ),
        ("content-encoding: br", "content-encoding br"),
        ("content-encoding: deflate", "content-encoding deflate"),
    ] {
        let server = Server::start(reply("200 OK", head, &twice));
        for (error, sent) in [server.query().await, server.look_up().await] {
            assert!(error.to_string().contains(told), "{head}: {error}");
            assert!(error.kind() == ErrorKind::Protocol && sent == 1, "{head}");
        }
        let (error, sent) = server.mutate().await;
        assert!(error.may_have_applied() && sent == 1, "{head}: {error}");
    }
    // One header says gzip, and the body was compressed twice.
    let server = Server::start(reply("200 OK", GZIP, &twice));
    assert!(server.query().await.0.kind() == ErrorKind::Protocol);
    assert!(server.mutate().await.0.may_have_applied());
}

#[tokio::test]
async fn without_the_setting_a_compressed_reply_is_refused_by_name() {
    let server = Server::start(reply("200 OK", GZIP, &gzip(USER.as_bytes())));
    assert_eq!(first_name(&server).await.as_deref(), Some("Sam"));
    let client = server.builder().http(HttpOptions::default().gzip(false));
    let error = client.build().unwrap().user_details().await.unwrap_err();
    let told = "content-encoding gzip, which was not requested";
    assert!(error.to_string().contains(told), "{error}");
}
