//! HTTPS for the listener, with rustls and ring. The certificate is the caller's, or generated for the session.

use std::sync::Arc;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use tokio_rustls::TlsAcceptor;

use super::connections::{BrowserStream, Handshake};
use crate::error::{Error, Result};
use crate::model::Day;
use crate::secret::Secret;

/// A certificate chain, leaf first, with the private key of the leaf.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The TLS handshake for a host: a name, or an IP address without brackets.
pub(super) fn encrypted(host: &str, pem: Option<&Secret>, today: Day) -> Result<Handshake> {
    let (chain, key) = match pem {
        Some(pem) => read(pem, host)?,
        None => made_for(host, today)
            .ok_or_else(|| Error::config("no certificate can be made for the redirect address"))?,
    };
    // The provider is passed explicitly, not installed process-wide: the application may install another one.
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|source| Error::config("TLS cannot be set up").with_source(source))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                refused("the private key is not that of the first certificate")
            }
            _ => refused("a private key that cannot be used"),
        })?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Ok(Handshake::new(move |stream| {
        let accepting = acceptor.accept(stream);
        Box::pin(async { Ok(Box::new(accepting.await?) as Box<dyn BrowserStream>) })
    }))
}

fn read(pem: &Secret, host: &str) -> Result<Identity> {
    let pem = pem.expose().as_bytes();
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| refused("damaged PEM text"))?;
    let first = chain
        .first()
        .ok_or_else(|| refused("no certificate in the PEM text"))?;
    let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
        refused("no private key in the PEM text that can be read: decrypt one that is encrypted")
    })?;
    let parsed = ParsedCertificate::try_from(first).map_err(|_| refused("damaged certificate"))?;
    let is_for_host =
        ServerName::try_from(host).is_ok_and(|host| verify_server_name(&parsed, &host).is_ok());
    if !is_for_host {
        return Err(refused("it is not for the host of the redirect address"));
    }
    Ok((chain, key))
}

/// Generates a self-signed certificate, valid for this host and these days only. Nothing is written to disk.
fn made_for(host: &str, today: Day) -> Option<Identity> {
    let midnight = |day: Day| {
        let month = day.month();
        let day_of_month = day.day_of_month();
        Some(date_time_ymd(
            day.year(),
            month.try_into().ok()?,
            day_of_month.try_into().ok()?,
        ))
    };
    let key = KeyPair::generate().ok()?;
    let mut certificate = CertificateParams::new([host.to_owned()]).ok()?;
    certificate
        .distinguished_name
        .push(DnType::CommonName, "envd-sdk login on this machine");
    certificate.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // The local date differs from UTC by at most one day.
    certificate.not_before = midnight(today.plus_days(-1)?)?;
    certificate.not_after = midnight(today.plus_days(2)?)?;
    let certificate = certificate.self_signed(&key).ok()?;
    let key = PrivateKeyDer::try_from(key.serialize_der()).ok()?;
    Some((vec![certificate.into()], key))
}

/// An error that quotes nothing from the PEM text.
fn refused(what: &str) -> Error {
    Error::config(format!("certificate: {what}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::pki_types::UnixTime;
    use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;

    use super::*;
    use crate::error::tests::assert_fails;
    use crate::loopback::tests::Trial;
    use crate::loopback::{Loopback, LoopbackBuilder};
    use crate::transport::tls::TlsServer;

    /// Trusts the certificate of the listener, like a user who dismisses the warning, but checks its name, dates and signature.
    #[derive(Debug)]
    struct TrustingUser;

    impl TrustingUser {
        fn verifier(certificate: &CertificateDer<'_>) -> Arc<WebPkiServerVerifier> {
            let mut roots = RootCertStore::empty();
            roots.add(certificate.clone().into_owned()).unwrap();
            let provider = Arc::new(ring::default_provider());
            let builder = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
            builder.build().unwrap()
        }
    }

    impl ServerCertVerifier for TrustingUser {
        fn verify_server_cert(
            &self,
            certificate: &CertificateDer<'_>,
            rest: &[CertificateDer<'_>],
            name: &ServerName<'_>,
            ocsp: &[u8],
            _: UnixTime,
        ) -> std::result::Result<ServerCertVerified, rustls::Error> {
            // The clock of the test.
            let now = UnixTime::since_unix_epoch(Duration::from_secs(1_000_000));
            Self::verifier(certificate).verify_server_cert(certificate, rest, name, ocsp, now)
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
            Self::verifier(certificate).verify_tls12_signature(message, certificate, signed)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
            Self::verifier(certificate).verify_tls13_signature(message, certificate, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            let algorithms = ring::default_provider().signature_verification_algorithms;
            algorithms.supported_schemes()
        }
    }

    /// Connects like a browser that trusts the authority, or whose user dismisses the warning.
    async fn connect(
        trial: &Trial,
        authority: Option<&str>,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = if let Some(pem) = authority {
            let mut roots = RootCertStore::empty();
            let authority = CertificateDer::from_pem_slice(pem.as_bytes());
            roots.add(authority.unwrap()).unwrap();
            config.with_root_certificates(roots)
        } else {
            let config = config.dangerous();
            config.with_custom_certificate_verifier(Arc::new(TrustingUser))
        };
        let (host, port) = trial.host.rsplit_once(':').unwrap();
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
        // Browsers resolve names below `localhost` themselves; not every machine does.
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).await;
        connector.connect(name, stream.unwrap()).await
    }

    async fn get(trial: &Trial, authority: Option<&str>, target: &str) -> String {
        let mut stream = connect(trial, authority).await.unwrap();
        let request = trial.request(target);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    fn at(address: &str) -> LoopbackBuilder {
        Loopback::builder().redirect_uri(address)
    }

    #[tokio::test]
    async fn the_callback_comes_over_https() {
        let given = TlsServer::SERVER;
        let authority = Some(TlsServer::AUTHORITY);
        let numbered = || at("https://127.0.0.1:0/callback");
        for (builder, authority) in [
            (at("https://localhost:0/callback/envd/"), None),
            (at("https://login.localhost:0/callback"), None),
            (numbered(), None),
            (numbered().certificate(given), authority),
        ] {
            assert!(!format!("{builder:?}").contains("BEGIN"));
            let trial = Trial::start_with(builder).await;
            for foreign in ["/favicon.ico", "/callback/envd?code=c"] {
                let response = get(&trial, authority, foreign).await;
                assert!(response.starts_with("HTTP/1.1 404"), "{response}");
            }
            let response = get(&trial, authority, &trial.good()).await;
            assert!(response.starts_with("HTTP/1.1 200"), "{response}");
            assert!(!response.contains("c0d3") && !response.contains(&trial.state));
            trial.end().await.unwrap();
        }
    }

    /// Also true for a browser that rejects the certificate or does not use TLS.
    #[tokio::test]
    async fn a_handshake_that_stalls_delays_no_other() {
        let trial = Trial::start_with(at("https://localhost:0/callback")).await;
        let mut silent = Vec::new();
        for number in 0..20 {
            let mut stream = trial.connect().await;
            // Every second connection sends the start of a record that never ends.
            if number % 2 == 0 {
                stream.write_all(b"\x16\x03\x01\x02\x00\x01").await.unwrap();
            }
            silent.push(stream);
        }
        assert!(connect(&trial, Some(TlsServer::AUTHORITY)).await.is_err());
        let mut plain = trial.connect().await;
        let request = trial.request(&trial.good());
        plain.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // OK to ignore: the peer may reset the connection.
        let _ = plain.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"));
        // All earlier connections are accepted before this one.
        let response = get(&trial, None, "/favicon.ico").await;
        assert!(response.starts_with("HTTP/1.1 404"), "{response}");
        trial.clock.advance(Duration::from_secs(11));
        for mut stream in silent {
            let mut rest = Vec::new();
            // OK to ignore: a connection with unread bytes is reset.
            let _ = stream.read_to_end(&mut rest).await;
            assert!(rest.is_empty());
        }
        let response = get(&trial, None, &trial.good()).await;
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        trial.end().await.unwrap();
    }

    #[tokio::test]
    async fn a_certificate_that_cannot_serve_the_address_is_refused_and_not_shown() {
        let server = TlsServer::SERVER;
        let key = server.find("-----BEGIN PRIVATE KEY").unwrap();
        let (chain, key) = server.split_at(key);
        let other = TlsServer::CLIENT;
        let other_key = &other[other.find("-----BEGIN PRIVATE KEY").unwrap()..];
        let mixed = key.replace("PRIVATE KEY", "CERTIFICATE") + key;
        for (host, pem, what) in [
            ("127.0.0.1", String::new(), "no certificate"),
            ("127.0.0.1", key.to_owned(), "no certificate"),
            ("127.0.0.1", chain.to_owned(), "no private key"),
            ("127.0.0.1", chain.to_owned() + other_key, "not that of"),
            ("127.0.0.1", chain.replace("END", "EN"), "damaged"),
            ("127.0.0.1", mixed, "damaged"),
            ("localhost", server.to_owned(), "not for the host"),
        ] {
            let builder = at(&format!("https://{host}:0/callback")).certificate(pem);
            let hidden = &key.lines().nth(1).unwrap()[..16];
            let expected = format!("Config: {what} & !{hidden}");
            assert_fails(builder.bind().await, &expected);
        }
    }
}
