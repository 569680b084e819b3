//! Access control for browsers: only pages on this machine may call the fake, under any host name.

use envd_sdk::fake::{Fault, Received};
use url::{Host, Url};

/// The origin of a request, if it is a page on this machine.
pub(crate) fn local_origin(request: &Received) -> Option<&str> {
    request.header("origin").filter(|origin| is_local(origin))
}

/// Refuses a request for a host name that is not this machine's. With DNS rebinding, a site points its own name at the loopback
/// address; its pages would then look like pages of the fake and could read its tokens.
pub(crate) fn foreign_host(request: &Received) -> Option<Fault> {
    let host = request.header("host")?;
    let refused = !Url::parse(&format!("http://{host}")).is_ok_and(|url| is_loopback(&url));
    let text = "serve_fake answers requests to localhost and loopback addresses only\n";
    refused.then(|| Fault::status(421).body("text/plain", text))
}

fn is_local(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else {
        return false;
    };
    let is_web = matches!(url.scheme(), "http" | "https");
    // Only an origin: no user, no path.
    is_loopback(&url) && is_web && url.origin().ascii_serialization() == origin
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // RFC 6761 section 6.3: browsers resolve these to the loopback address.
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// The headers that let a page of this origin read the reply.
pub(crate) fn readable(reply: Fault, origin: &str) -> Fault {
    reply
        .header("access-control-allow-origin", origin)
        .header("access-control-expose-headers", "*")
        .header("vary", "origin")
}

/// The reply to a preflight request (Fetch, section 3.2.2), if it is one. Tokens are in headers, so cookies are not
/// allowed.
pub(crate) fn preflight(request: &Received) -> Option<Fault> {
    request.header("access-control-request-method")?;
    if request.method() != "OPTIONS" {
        return None;
    }
    let reply = Fault::status(204)
        .header("access-control-allow-methods", "GET, POST")
        .header("access-control-max-age", "600");
    Some(match request.header("access-control-request-headers") {
        // `*` would not include `authorization`.
        Some(headers) => reply.header("access-control-allow-headers", headers),
        None => reply,
    })
}
