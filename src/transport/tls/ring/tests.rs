//! Rejected settings, and handshakes with a server that requires a client certificate.

use base64::Engine as _;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use reqwest::ClientBuilder;
use url::Url;

use super::configure;
use crate::error::tests::assert_fails;
use crate::error::{ConnectCause, Error, ErrorKind};
use crate::transport::tls::{Http2Server, TlsServer};
use crate::transport::{Http, HttpOptions, Reply, Request, Safety};

fn pem(begin: &str, text: &str) -> String {
    format!("-----BEGIN {begin}-----\n{text}\n-----END {begin}-----\n")
}

/// With and without an https endpoint.
fn assert_refused(options: &HttpOptions, expected: &str) {
    for secure in [true, false] {
        let configured = configure(ClientBuilder::new(), secure, options);
        assert_fails(configured, &format!("Config: {expected} & !czNj & !s3cr3t"));
    }
}

#[test]
fn an_invalid_certificate_is_refused_for_any_endpoint() {
    let unfinished = "-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n";
    for garbage in [
        "garbage",
        "",
        &pem("CERTIFICATE", "Z2FyYmFnZQ=="),
        unfinished,
        &pem("PRIVATE KEY", "Z2FyYmFnZQ=="),
    ] {
        let options = HttpOptions::default().extra_root_certificate(garbage);
        assert_refused(&options, "extra_root_certificate");
    }
}

#[test]
fn an_unusable_client_certificate_is_refused_for_any_endpoint() {
    let (certificate, key) =
        TlsServer::CLIENT.split_at(TlsServer::CLIENT.find("-----BEGIN P").unwrap());
    let other_key = &TlsServer::SERVER[TlsServer::SERVER.find("-----BEGIN P").unwrap()..];
    let garbage = |label| pem(label, "czNjcjN0");
    let chain = garbage("CERTIFICATE");
    let unread = garbage("PRIVATE KEY");
    let broken = pem("PRIVATE KEY", "?");
    for (parts, expected) in [
        (["garbage", "", ""], "no certificate"),
        ([certificate, "", ""], "no private key"),
        (["", &chain, key], "damaged certificate"),
        ([certificate, &chain, key], "damaged certificate"),
        (
            [certificate, &unread, ""],
            "private key that cannot be used",
        ),
        ([certificate, &broken, ""], "damaged private key"),
        (
            [certificate, other_key, ""],
            "not that of the first certificate",
        ),
    ] {
        let options = HttpOptions::default().client_certificate(parts.concat());
        assert_refused(&options, &format!("client_certificate:  & {expected}"));
    }
}

async fn get(server: &TlsServer, options: HttpOptions) -> Result<Reply, Error> {
    let options = options.extra_root_certificate(TlsServer::AUTHORITY);
    let url: &Url = &server.url;
    Http::new(&options, &[url])?
        .send(Request::get(url.clone()))
        .await
}

/// RFC 8446 section 4.4.2.4: the server ends the handshake after the client has sent its request.
#[tokio::test]
async fn a_missing_or_rejected_client_certificate_is_reported() {
    let server = TlsServer::start("yes");
    // The server's certificate is not valid for clients.
    let foreign = HttpOptions::default().client_certificate(TlsServer::SERVER);
    for options in [HttpOptions::default(), foreign] {
        let fresh = get(&server, options.clone().no_keep_alive()).await;
        assert_fails(fresh, "Config: client_certificate");
        // A reused connection may have delivered the request, so it may have been processed.
        let error = get(&server, options).await.err().unwrap();
        assert_eq!(
            (error.kind(), error.is_retryable()),
            (ErrorKind::Transport, false)
        );
        assert!(Safety::Once.may_have_applied(&error));
        assert_fails(Err::<(), _>(error), "Transport: client_certificate");
    }
    assert!(server.requests().is_empty());
}

/// RFC 5246 section 7.4.6: with TLS 1.2 the handshake ends before the client sends its request.
#[tokio::test]
async fn with_tls_1_2_a_refused_certificate_is_named_and_nothing_was_sent() {
    let server = TlsServer::start_with("yes", &[&rustls::version::TLS12]);
    let foreign = HttpOptions::default().client_certificate(TlsServer::SERVER);
    for options in [HttpOptions::default(), foreign] {
        assert_fails(get(&server, options).await, "Config: client_certificate");
    }
    assert!(server.requests().is_empty());
}

fn pem_of(begin: &str, der: &[u8]) -> String {
    pem(
        begin,
        &base64::engine::general_purpose::STANDARD.encode(der),
    )
}

/// A certificate for this host and these years, with its own authority. PEM texts of the authority, and of the server with its key.
fn certificate(host: &str, years: [i32; 2]) -> (String, String) {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new([]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = pem_of(
        "CERTIFICATE",
        authority.self_signed(&authority_key).unwrap().der(),
    );
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let mut server = CertificateParams::new([host.to_owned()]).unwrap();
    [server.not_before, server.not_after] = years.map(|year| date_time_ymd(year, 1, 1));
    let server_pem = pem_of(
        "CERTIFICATE",
        server.signed_by(&key, &issuer).unwrap().der(),
    );
    (
        authority_pem,
        server_pem + &pem_of("PRIVATE KEY", &key.serialize_der()),
    )
}

/// The dates are far from any test run. Windows does not report which date is wrong.
#[tokio::test]
async fn a_refused_server_certificate_is_reported_with_the_reason() {
    let clock = "or this computer's clock is wrong: it says ";
    for (host, years, is_trusted, cause, expected) in [
        (
            "127.0.0.1",
            [1975, 1980],
            true,
            ConnectCause::CertificateDates,
            clock,
        ),
        (
            "127.0.0.1",
            [2900, 3000],
            true,
            ConnectCause::CertificateDates,
            clock,
        ),
        (
            "other.example",
            [1975, 3000],
            true,
            ConnectCause::CertificateName,
            "another name",
        ),
        (
            "127.0.0.1",
            [1975, 3000],
            false,
            ConnectCause::CertificateAuthority,
            "not trusted",
        ),
    ] {
        let (authority, server) = certificate(host, years);
        let server = Http2Server::start_with(&server, "{}", 0);
        let trusted = if is_trusted {
            &*authority
        } else {
            TlsServer::AUTHORITY
        };
        let options = HttpOptions::default().extra_root_certificate(trusted);
        let http = Http::new(&options, &[&server.url]).unwrap();
        let error = http
            .send(Request::get(server.url.clone()))
            .await
            .err()
            .unwrap();
        assert_eq!(error.connect_cause(), Some(cause), "{error}");
        assert!(!Safety::Once.may_have_applied(&error), "{error}");
        let expected = format!("Connect retryable: no connection could be made & {expected}");
        assert_fails(Err::<(), _>(error), &expected);
    }
}
