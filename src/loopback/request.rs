//! Reads the head of a request, and has the pages that refuse one. Does no I/O.

use httparse::{EMPTY_HEADER, Error as ParseError, Request, Status};
use url::{Position, Url};

use super::notice::Notice;
use crate::secret::Secret;

const MAX_HEADERS: usize = 64;

/// A page that refuses a request. It repeats nothing of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    OtherLogin,
    BadRequest,
    NotFound,
    NotGet,
    TooSlow,
    TooLarge,
}

impl Response {
    /// The whole response as HTTP/1.1.
    pub(super) fn to_http(self) -> String {
        let (status, heading, text) = match self {
            Self::OtherLogin => (
                "400 Bad Request",
                "This is the callback of another login",
                "Go back to the program, and open the address that it shows now.",
            ),
            Self::BadRequest => ("400 Bad Request", "The request cannot be understood", ""),
            Self::NotFound => ("404 Not Found", "There is no such page", ""),
            Self::NotGet => (
                "405 Method Not Allowed\r\nallow: GET",
                "Only GET is allowed",
                "",
            ),
            Self::TooSlow => ("408 Request Timeout", "The request took too long", ""),
            Self::TooLarge => (
                "431 Request Header Fields Too Large",
                "The request is too large",
                "",
            ),
        };
        Notice::fixed(heading, text).to_http(status)
    }
}

/// The query of a request for the callback address, or the response to another request. `None` when the head is not
/// complete yet.
pub(super) fn callback_query(head: &[u8], redirect_uri: &Url) -> Option<Result<Secret, Response>> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(head) {
        Ok(Status::Complete(_)) => {}
        Ok(Status::Partial) => return None,
        Err(ParseError::TooManyHeaders) => return Some(Err(Response::TooLarge)),
        Err(_) => return Some(Err(Response::BadRequest)),
    }
    let named = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case("host");
    let mut hosts = request.headers.iter().filter(named);
    let host = &redirect_uri[Position::BeforeHost..Position::AfterPort];
    // A page of another site can make the browser send requests here, under a name of its own that resolves to this machine.
    let is_ours = hosts
        .next()
        .is_some_and(|header| header.value == host.as_bytes());
    if !is_ours || hosts.next().is_some() {
        return Some(Err(Response::BadRequest));
    }
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Some(match request.method {
        _ if path != redirect_uri.path() => Err(Response::NotFound),
        Some("GET") => Ok(query.into()),
        _ => Err(Response::NotGet),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(head: &str) -> Option<Result<String, Response>> {
        let redirect_uri = Url::parse("http://127.0.0.1:8400/callback").unwrap();
        let query = callback_query(head.as_bytes(), &redirect_uri)?;
        Some(query.map(|query| query.expose().to_owned()))
    }

    const HOST: &str = "Host: 127.0.0.1:8400";

    #[test]
    fn a_callback_gives_its_query() {
        for (line, host, expected) in [
            ("/callback?code=c&state=s HTTP/1.1", HOST, "code=c&state=s"),
            (
                "/callback HTTP/1.1",
                "host:127.0.0.1:8400\r\naccept: */*",
                "",
            ),
            ("/callback?a?b HTTP/1.0", "HOST: 127.0.0.1:8400", "a?b"),
        ] {
            let head = format!("GET {line}\r\n{host}\r\n\r\n");
            assert_eq!(query(&head), Some(Ok(expected.to_owned())), "{head}");
        }
    }

    #[test]
    fn other_requests_are_refused() {
        use Response::{BadRequest, NotFound, NotGet, TooLarge};

        let twice = format!("{HOST}\r\n{HOST}");
        for (line, host, response) in [
            ("GET /favicon.ico", HOST, NotFound),
            ("GET /callback/", HOST, NotFound),
            ("GET //callback", HOST, NotFound),
            ("GET http://127.0.0.1:8400/callback", HOST, NotFound),
            ("POST /callback", HOST, NotGet),
            ("GET /callback", "Host: evil.example:8400", BadRequest),
            ("GET /callback", "Host: 127.0.0.1", BadRequest),
            ("GET /callback", "Host: 127.0.0.1:84000", BadRequest),
            ("GET /callback", "accept: */*", BadRequest),
            ("GET /callback", &twice, BadRequest),
            ("GET /call back", HOST, BadRequest),
            ("\u{16}\u{3}\u{1}", HOST, BadRequest),
        ] {
            let head = format!("{line} HTTP/1.1\r\n{host}\r\n\r\n");
            assert_eq!(query(&head), Some(Err(response)), "{head}");
        }
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "a: b\r\n".repeat(MAX_HEADERS + 1)
        );
        assert_eq!(query(&many), Some(Err(TooLarge)));
    }

    #[test]
    fn an_incomplete_head_is_read_further() {
        let whole = "GET /callback?code=c HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(query(&whole[..end]), None, "{end}");
        }
    }
}
