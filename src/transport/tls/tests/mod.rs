//! Equipment of tests over TLS.

mod tls_server;

pub(crate) use self::tls_server::TlsServer;
