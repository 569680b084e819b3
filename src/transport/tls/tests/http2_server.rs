//! An HTTP/2 server over TLS on loopback, with connections that die silently.

use std::sync::Arc;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use hyper::Response;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use url::Url;

use super::TlsServer;

/// Sends the same reply to each request. Its runtime has its own thread, so a test can stop the client's time.
pub(crate) struct Http2Server {
    pub(crate) url: Url,
    received: mpsc::UnboundedReceiver<usize>,
}

impl Http2Server {
    /// A server whose first connections die after one reply each: the next request on such a connection arrives, but the server
    /// then neither reads nor sends. To a client this looks like a lost network.
    pub(crate) fn start(reply: &'static str, dying_connections: usize) -> Self {
        Self::start_with(TlsServer::SERVER, reply, dying_connections)
    }

    /// A server with another certificate: a PEM text with its key.
    pub(crate) fn start_with(pem: &str, reply: &'static str, dying_connections: usize) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(config(pem));
        let (sender, received) = mpsc::unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap();
        std::thread::spawn(move || {
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                for number in 1.. {
                    let (stream, _) = listener.accept().await.unwrap();
                    let acceptor = acceptor.clone();
                    let sender = sender.clone();
                    tokio::spawn(async move {
                        // Clients may refuse the certificate.
                        let Ok(stream) = acceptor.accept(stream).await else {
                            return;
                        };
                        let mut connection = h2::server::handshake(stream).await.unwrap();
                        let mut requests = 0;
                        while let Some(Ok((request, respond))) = connection.accept().await {
                            requests += 1;
                            sender.send(number).unwrap();
                            if number <= dying_connections && requests == 2 {
                                // Keep the connection open, but stop serving it.
                                std::future::pending::<()>().await;
                            }
                            tokio::spawn(answer(request.into_body(), respond, reply));
                        }
                    });
                }
            });
        });
        let url = Url::parse(&format!("https://{address}/graphql")).unwrap();
        Self { url, received }
    }

    /// The number, from 1, of the connection on which the next request arrives.
    pub(crate) async fn next_request(&mut self) -> usize {
        self.received.recv().await.unwrap()
    }
}

async fn answer(mut body: RecvStream, mut respond: SendResponse<Bytes>, reply: &'static str) {
    while let Some(Ok(_)) = body.data().await {}
    let head = Response::builder().header("content-type", "application/json");
    let mut stream = respond
        .send_response(head.body(()).unwrap(), false)
        .unwrap();
    stream.send_data(reply.into(), true).unwrap();
}

fn config(pem: &str) -> Arc<ServerConfig> {
    let chain = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}
