//! Servers for tests over TLS.

mod http2_server;
mod tls_server;

pub(crate) use self::http2_server::Http2Server;
pub(crate) use self::tls_server::TlsServer;
