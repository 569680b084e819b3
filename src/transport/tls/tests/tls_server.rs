//! A TLS server on loopback that requires a client certificate.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion,
};
use url::Url;

/// Sends one reply to each client with a certificate of its authority.
pub(crate) struct TlsServer {
    pub(crate) url: Url,
    requests: Arc<Mutex<Vec<String>>>,
}

impl TlsServer {
    /// The authority of the server and its clients.
    pub(crate) const AUTHORITY: &str = include_str!("../../../../tests/fixtures/tls/authority.pem");
    /// Certificate and key of a client.
    pub(crate) const CLIENT: &str = include_str!("../../../../tests/fixtures/tls/client.pem");
    /// Certificate and key of the server.
    pub(crate) const SERVER: &str = include_str!("../../../../tests/fixtures/tls/server.pem");

    pub(crate) fn start(body: &'static str) -> Self {
        Self::start_with(body, rustls::ALL_VERSIONS)
    }

    pub(crate) fn start_with(
        body: &'static str,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("https://{}/token", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let config = config(versions);
        let received = Arc::clone(&requests);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                serve(stream, &config, body, &received);
            }
        });
        let url = Url::parse(&url).unwrap();
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn config(versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(TlsServer::AUTHORITY.as_bytes()).unwrap();
    roots.add(authority).unwrap();
    let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
    let chain = CertificateDer::from_pem_slice(TlsServer::SERVER.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(TlsServer::SERVER.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_client_cert_verifier(clients.build().unwrap())
        .with_single_cert(vec![chain], key);
    Arc::new(config.unwrap())
}

fn serve(stream: TcpStream, config: &Arc<ServerConfig>, body: &str, received: &Mutex<Vec<String>>) {
    let connection = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    if let Some(request) = read(&mut stream) {
        received.lock().unwrap().push(request);
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        stream.conn.send_close_notify();
        stream.flush().unwrap();
    }
    // Closing a socket with unread bytes discards the last bytes sent, such as the reason for a refusal.
    let mut socket = stream.sock;
    socket.shutdown(Shutdown::Write).unwrap();
    let _ = socket.read_to_end(&mut Vec::new());
}

/// A request; `None` if the handshake fails.
fn read(stream: &mut impl Read) -> Option<String> {
    let mut text = String::new();
    let mut bytes = [0; 4_096];
    loop {
        let n = stream.read(&mut bytes).ok().filter(|n| *n > 0)?;
        text.push_str(std::str::from_utf8(&bytes[..n]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Some(text);
        }
    }
}
