//! Settings that are refused, and handshakes with a server that requires a client certificate.

use reqwest::ClientBuilder;
use url::Url;

use super::configure;
use crate::error::{Error, ErrorKind};
use crate::transport::tls::TlsServer;
use crate::transport::{Http, HttpOptions, Reply, Request, Safety};

fn pem(begin: &str, text: &str) -> String {
    format!("-----BEGIN {begin}-----\n{text}\n-----END {begin}-----\n")
}

/// Whatever the endpoint.
fn refusal(options: &HttpOptions) -> Error {
    let [first, second] = [true, false].map(|secure| {
        let builder = configure(ClientBuilder::new(), secure, options);
        builder.err().unwrap()
    });
    assert_eq!(first.to_string(), second.to_string());
    assert!(first.kind() == ErrorKind::Config);
    first
}

#[test]
fn what_is_no_certificate_is_refused_whatever_the_endpoint() {
    let unfinished = "-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n";
    for garbage in [
        "garbage",
        "",
        &pem("CERTIFICATE", "Z2FyYmFnZQ=="),
        unfinished,
        &pem("PRIVATE KEY", "Z2FyYmFnZQ=="),
    ] {
        let error = refusal(&HttpOptions::default().extra_root_certificate(garbage));
        assert!(error.to_string().starts_with("extra_root_certificate"));
    }
}

#[test]
fn a_client_certificate_that_cannot_be_used_is_refused_whatever_the_endpoint() {
    let (certificate, key) =
        TlsServer::CLIENT.split_at(TlsServer::CLIENT.find("-----BEGIN P").unwrap());
    let other_key = &TlsServer::SERVER[TlsServer::SERVER.find("-----BEGIN P").unwrap()..];
    let garbage = |label| pem(label, "czNjcjN0");
    for (text, expected) in [
        ("garbage".to_owned(), "no certificate"),
        (certificate.to_owned(), "no private key"),
        (garbage("CERTIFICATE") + key, "damaged certificate"),
        (
            certificate.to_owned() + &garbage("CERTIFICATE") + key,
            "damaged certificate",
        ),
        (
            certificate.to_owned() + &garbage("PRIVATE KEY"),
            "private key that cannot be used",
        ),
        (
            certificate.to_owned() + &pem("PRIVATE KEY", "?"),
            "damaged private key",
        ),
        (
            certificate.to_owned() + other_key,
            "not that of the first certificate",
        ),
    ] {
        let error = refusal(&HttpOptions::default().client_certificate(text));
        let shown = format!("{error} {error:?} {}", error.report());
        assert!(
            shown.contains("client_certificate: ") && shown.contains(expected),
            "{shown}"
        );
        assert!(
            !shown.contains("czNj") && !shown.contains("s3cr3t"),
            "{shown}"
        );
    }
}

async fn get(server: &TlsServer, options: HttpOptions) -> Result<Reply, Error> {
    let options = options.extra_root_certificate(TlsServer::AUTHORITY);
    let url: &Url = &server.url;
    Http::new(&options, &[url])?
        .send(Request::get(url.clone()))
        .await
}

/// RFC 8446 section 4.4.2.4: the server ends the handshake, after the client has sent its request.
#[tokio::test]
async fn a_certificate_that_is_missing_or_not_accepted_is_named() {
    let server = TlsServer::start("yes");
    // That of the server may not be used by clients.
    let foreign = HttpOptions::default().client_certificate(TlsServer::SERVER);
    for options in [HttpOptions::default(), foreign] {
        let error = get(&server, options.clone().no_keep_alive()).await;
        let error = error.err().unwrap();
        assert!(
            error.kind() == ErrorKind::Config && !error.is_retryable(),
            "{error:?}"
        );
        assert!(error.to_string().contains("client_certificate"), "{error}");
        // On a connection that may have been in use before, the request may have been processed.
        let error = get(&server, options).await.err().unwrap();
        assert!(
            error.kind() == ErrorKind::Transport && !error.is_retryable(),
            "{error:?}"
        );
        assert!(
            error.kind() != ErrorKind::Connect && error.to_string().contains("client_certificate")
        );
        assert!(Safety::Once.may_have_applied(&error));
    }
    assert!(server.requests().is_empty());
}

/// RFC 5246 section 7.4.6: with TLS 1.2 the handshake ends before the client sends its request.
#[tokio::test]
async fn with_tls_1_2_a_refused_certificate_is_named_and_nothing_was_sent() {
    let server = TlsServer::start_with("yes", &[&rustls::version::TLS12]);
    let foreign = HttpOptions::default().client_certificate(TlsServer::SERVER);
    for options in [HttpOptions::default(), foreign] {
        let error = get(&server, options).await.err().unwrap();
        assert!(
            error.kind() == ErrorKind::Config && !error.is_retryable(),
            "{error:?}"
        );
        assert!(error.to_string().contains("client_certificate"), "{error}");
    }
    assert!(server.requests().is_empty());
}
