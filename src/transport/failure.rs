//! Explains why a reply is missing or incomplete, and whether the server may have received the request.

use std::error::Error as _;
use std::io;
use std::iter::successors;
use std::time::SystemTime;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Clock;
use super::server_clock::{LAST_SERVER, difference};
use super::tls::{self, CertificateFault};
use crate::error::{ConnectCause, Error, ErrorKind};
use crate::model::Timestamp;

/// The reply has more bytes than the caller allows.
pub(super) fn too_large() -> Error {
    refused("the reply is larger than the limit")
}

/// This crate ended the exchange after the request may have been sent.
fn refused(what: &'static str) -> Error {
    Error::said(ErrorKind::Transport, what).with_sent(true)
}

const CERTIFICATE_REFUSED: &str =
    "the server does not accept the client_certificate, or requires one";

/// As [`failed`], for a request that was the first on its connection, if it was sent at all. A server that refuses the client's
/// certificate has then not read it. `through_proxy`: a proxy was to make the connection.
pub(super) fn failed_first(source: reqwest::Error, through_proxy: bool) -> Error {
    if refuses_certificate(&source) {
        return Error::config(CERTIFICATE_REFUSED).with_source(source.without_url());
    }
    match not_connected(&source, through_proxy) {
        Some(error) => at_server(error, source),
        None => failed(source),
    }
}

/// Classifies a failure by what the server may have received.
pub(super) fn failed(source: reqwest::Error) -> Error {
    if refuses_certificate(&source) {
        // A reused connection may have delivered the request before the refusal.
        return refused(CERTIFICATE_REFUSED).with_source(source.without_url());
    }
    // `is_connect` covers name look-up and the TCP and TLS handshakes, all before the request is sent.
    let was_sent = !source.is_connect() && !source.is_builder();
    let is_timeout = source.is_timeout();
    if was_sent && !is_timeout && is_foreign(&source) {
        return Error::protocol("the server's reply breaks the rules of HTTP")
            .with_source(source.without_url());
    }
    let error = Error::no_reply(is_timeout, was_sent).with_passes(!source.is_builder());
    at_server(error, source)
}

/// Names the server, but not the full address, which may contain a token or search values.
fn at_server(error: Error, source: reqwest::Error) -> Error {
    let server = source.url().map(|url| url.origin().ascii_serialization());
    let source = source.without_url();
    match server {
        Some(server) => error.with_source(AtServer { server, source }),
        None => error.with_source(source),
    }
}

/// The error for a failed connection, if the cause is known.
fn not_connected(source: &reqwest::Error, through_proxy: bool) -> Option<Error> {
    if !source.is_connect() || source.is_timeout() {
        return None;
    }
    let of_connection = || causes(source).filter_map(|error| error.downcast_ref::<io::Error>());
    let fault = of_connection().find_map(tls::certificate_fault);
    let is_unknown_name = causes(source).any(<dyn std::error::Error>::is::<NameNotResolved>);
    let is_refused = of_connection().any(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    let (cause, words) = if let Some(fault) = fault {
        let ours = SystemTime::now();
        let monotonic = Clock::system().monotonic();
        of_certificate(&fault, ours, LAST_SERVER.now(monotonic))
    } else if through_proxy {
        let words = if is_unknown_name {
            "the name of the proxy cannot be resolved"
        } else if is_refused {
            "the proxy cannot be reached"
        } else {
            "the proxy rejected the user name or password, or could not connect to the server"
        };
        (ConnectCause::Proxy, words.to_owned())
    } else if is_unknown_name {
        let words = "the name of the server cannot be resolved";
        (ConnectCause::NameNotResolved, words.to_owned())
    } else if is_refused {
        let words = "the server's machine refuses the connection";
        (ConnectCause::Refused, words.to_owned())
    } else {
        return None;
    };
    Some(Error::not_connected(cause, &words))
}

/// Describes the fault of a server's certificate. `ours` is this computer's clock, `server` that of the server that replied last.
fn of_certificate(
    fault: &CertificateFault,
    ours: SystemTime,
    server: Option<SystemTime>,
) -> (ConnectCause, String) {
    let what = match fault {
        CertificateFault::Expired(at) => format!("has expired ({})", minute(*at)),
        CertificateFault::NotValidYet(at) => format!("is not valid yet ({})", minute(*at)),
        CertificateFault::Dates => "has expired or is not valid yet".to_owned(),
        CertificateFault::Name => {
            let words = "the server's certificate is for another name";
            return (ConnectCause::CertificateName, words.to_owned());
        }
        CertificateFault::Authority => {
            let words = "the authority of the server's certificate is not trusted here";
            return (ConnectCause::CertificateAuthority, words.to_owned());
        }
        CertificateFault::Other => {
            let words = "the server's certificate cannot be used";
            return (ConnectCause::Certificate, words.to_owned());
        }
    };
    let compared = server.map_or_else(String::new, |server| {
        format!(", {} the last reply of a server", difference(ours, server))
    });
    let words = format!(
        "the server's certificate {what}, or this computer's clock is wrong: it says {}{compared}",
        minute(ours)
    );
    (ConnectCause::CertificateDates, words)
}

/// An instant in UTC, to the minute.
fn minute(time: SystemTime) -> String {
    let text = Timestamp::from(time).to_string();
    let minute = text.get(..16).unwrap_or(&text);
    format!("{} UTC", minute.replace('T', " "))
}

/// Resolves names by the operating system, as reqwest does, but with a distinct error type.
#[derive(Debug)]
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            match tokio::net::lookup_host((name.as_str(), 0)).await {
                Ok(addresses) => Ok(Box::new(addresses.collect::<Vec<_>>().into_iter()) as Addrs),
                Err(error) => Err(NameNotResolved(error).into()),
            }
        })
    }
}

/// A server's or a proxy's name has no address.
#[derive(Debug, thiserror::Error)]
#[error("the name cannot be resolved")]
struct NameNotResolved(#[source] io::Error);

/// A failure with the scheme, host and port of its server.
#[derive(Debug, thiserror::Error)]
#[error("at {server}")]
struct AtServer {
    server: String,
    source: reqwest::Error,
}

/// Whether the reply is not HTTP or violates it: the same request would fail again.
fn is_foreign(source: &reqwest::Error) -> bool {
    let is_parse = |error: &hyper::Error| error.is_parse();
    // hyper's kinds for chunks with an invalid size or end.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use url::Url;

    use super::*;
    use crate::transport::{Http, HttpOptions, Request};

    #[tokio::test]
    async fn unknown_names_and_refusals_are_distinguished_with_and_without_a_proxy() {
        // Longer than a label may be (RFC 1035 section 2.3.4), so the name is not looked up in the network.
        let unknown = format!("http://{}.example", "a".repeat(64));
        let refusing = format!("http://{}", test_support::refusing_address());
        let server = "https://api.example".to_owned();
        for (server, proxy, cause, words) in [
            (
                &unknown,
                None,
                ConnectCause::NameNotResolved,
                "name of the server",
            ),
            (&refusing, None, ConnectCause::Refused, "refuses"),
            (
                &server,
                Some(&refusing),
                ConnectCause::Proxy,
                "proxy cannot be reached",
            ),
            (
                &server,
                Some(&unknown),
                ConnectCause::Proxy,
                "name of the proxy",
            ),
        ] {
            let mut options = HttpOptions::default();
            if let Some(proxy) = proxy {
                options = options.proxy(Url::parse(proxy).unwrap());
            }
            // `http` is allowed only if an endpoint is on loopback.
            let loopback = Url::parse(&refusing).unwrap();
            let http = Http::new(&options, &[&loopback, &Url::parse(server).unwrap()]).unwrap();
            let url = Url::parse(server).unwrap();
            let error = http.send(Request::get(url)).await.err().unwrap();
            assert_eq!(error.connect_cause(), Some(cause), "{}", error.report());
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn a_certificate_outside_its_dates_shows_both_clocks() {
        let at = |days: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400);
        let limit = at(20_000);
        for (fault, server, expected) in [
            (
                CertificateFault::Expired(limit),
                None,
                "the server's certificate has expired (2024-10-04 00:00 UTC), or this computer's clock is wrong: it says \
                 2023-06-11 00:00 UTC",
            ),
            (
                CertificateFault::NotValidYet(limit),
                Some(at(20_010)),
                "the server's certificate is not valid yet (2024-10-04 00:00 UTC), or this computer's clock is wrong: it \
                 says 2023-06-11 00:00 UTC, 491 days behind the last reply of a server",
            ),
            (
                CertificateFault::Dates,
                Some(at(19_519)),
                "the server's certificate has expired or is not valid yet, or this computer's clock is wrong: it says 2023-06-11 00:00 UTC, in \
                 step with the last reply of a server",
            ),
        ] {
            let (cause, words) = of_certificate(&fault, at(19_519), server);
            assert_eq!((cause, &*words), (ConnectCause::CertificateDates, expected));
            let error = Error::not_connected(cause, &words)
                .with_operation("createOrSaveConsignment")
                .with_attempts(4);
            let shown = error.to_string();
            assert!(shown.contains(expected), "not cut: {shown}");
        }
    }
}
