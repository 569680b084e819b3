//! Why no complete reply came, and whether the server may have had the request.

use std::error::Error as _;
use std::io;
use std::iter::successors;

use super::tls;
use crate::error::{Error, ErrorKind};

/// A reply with more bytes than the caller allows.
pub(super) fn too_large() -> Error {
    refused("the reply is larger than the limit")
}

/// Ended by this crate after the request may have been sent.
fn refused(what: &'static str) -> Error {
    Error::said(ErrorKind::Transport, what).with_sent(true)
}

const CERTIFICATE_REFUSED: &str =
    "the server does not accept the client_certificate, or requires one";

/// As [`failed`], for a request that was the first on its connection if it was sent at all: a server that refuses the
/// client's certificate has not read it.
pub(super) fn failed_first(source: reqwest::Error) -> Error {
    if refuses_certificate(&source) {
        return Error::config(CERTIFICATE_REFUSED).with_source(source.without_url());
    }
    failed(source)
}

/// Sorts a failure by what may have happened at the server.
pub(super) fn failed(source: reqwest::Error) -> Error {
    if refuses_certificate(&source) {
        // TLS 1.2 ends within the handshake, before a request.
        if source.is_connect() {
            return Error::config(CERTIFICATE_REFUSED).with_source(source.without_url());
        }
        // A connection that was in use may have carried the request before.
        return refused(CERTIFICATE_REFUSED).with_source(source.without_url());
    }
    // `is_connect` covers name look-up, the TCP and the TLS handshake: nothing of the request was sent.
    let was_sent = !source.is_connect() && !source.is_builder();
    let is_timeout = source.is_timeout();
    if was_sent && !is_timeout && is_foreign(&source) {
        return Error::protocol("the server's reply breaks the rules of HTTP")
            .with_source(source.without_url());
    }
    let error = Error::no_reply(is_timeout, was_sent).with_passes(!source.is_builder());
    let server = source.url().map(|url| url.origin().ascii_serialization());
    // The rest of the address is taken out: it may carry a token or what the user searches for.
    let source = source.without_url();
    match server {
        Some(server) => error.with_source(AtServer { server, source }),
        None => error.with_source(source),
    }
}

/// A failure at a server: its scheme, host and port.
#[derive(Debug, thiserror::Error)]
#[error("at {server}")]
struct AtServer {
    server: String,
    source: reqwest::Error,
}

/// Whether the reply is not HTTP, or breaks its rules: the same request would fail again.
fn is_foreign(source: &reqwest::Error) -> bool {
    let is_parse = |error: &hyper::Error| error.is_parse();
    // hyper's kinds for chunks with an unreadable size or end.
    let is_framing = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
        )
    };
    causes(source).any(|error| {
        error.downcast_ref().is_some_and(is_parse) || error.downcast_ref().is_some_and(is_framing)
    })
}

fn refuses_certificate(error: &reqwest::Error) -> bool {
    causes(error).any(|error| error.downcast_ref().is_some_and(tls::refuses_certificate))
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    successors(error.source(), |&error| error.source())
}
