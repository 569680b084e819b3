//! Reads the head of a request. Pure.

use httparse::{EMPTY_HEADER, Error as Unreadable, Request, Status};

use super::page::Page;
use crate::secret::Secret;

/// Codes and states are short; browsers send a few hundred bytes of headers beside them.
pub(super) const LONGEST_HEAD: usize = 16 * 1_024;

const MOST_HEADERS: usize = 64;

/// What a request of the callback's address looks like.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    host: String,
    path: String,
}

/// What a request is.
#[derive(Debug)]
pub(super) enum Call {
    /// For the address of the callback, with this query.
    Callback(Secret),
    /// Not to be looked at further.
    Other(Page),
}

impl Expected {
    pub(super) fn new(host: &str, path: &str) -> Self {
        Self {
            host: host.to_owned(),
            path: path.to_owned(),
        }
    }

    /// `None` when the head is not complete yet.
    pub(super) fn judge(&self, head: &[u8]) -> Option<Call> {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut request = Request::new(&mut headers);
        let other = |page| Some(Call::Other(page));
        match request.parse(head) {
            Ok(Status::Complete(_)) => {}
            Ok(Status::Partial) => return None,
            Err(Unreadable::TooManyHeaders) => return other(Page::TooLarge),
            Err(_) => return other(Page::BadRequest),
        }
        let named = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case("host");
        let mut hosts = request.headers.iter().filter(named);
        // A page of another site can make the browser ask here, under a name of its own that points to this machine.
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return other(Page::BadRequest);
        };
        if host.value != self.host.as_bytes() {
            return other(Page::BadRequest);
        }
        let target = request.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match request.method {
            _ if path != self.path => other(Page::NotFound),
            Some("GET") => Some(Call::Callback(query.into())),
            _ => other(Page::NotGet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(head: &str) -> Option<Result<String, Page>> {
        let expected = Expected::new("127.0.0.1:8400", "/callback");
        expected.judge(head.as_bytes()).map(|call| match call {
            Call::Callback(query) => Ok(query.expose().to_owned()),
            Call::Other(page) => Err(page),
        })
    }

    #[test]
    fn a_callback_gives_its_query() {
        for (head, query) in [
            (
                "GET /callback?code=c&state=s HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n",
                "code=c&state=s",
            ),
            (
                "GET /callback HTTP/1.1\r\nhost:127.0.0.1:8400\r\naccept: */*\r\n\r\n",
                "",
            ),
            (
                "GET /callback?a?b HTTP/1.0\r\nHOST: 127.0.0.1:8400\r\n\r\n",
                "a?b",
            ),
        ] {
            assert_eq!(judge(head), Some(Ok(query.to_owned())), "{head}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for (head, page) in [
            (
                "GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n",
                Page::NotFound,
            ),
            (
                "GET /callback/ HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n",
                Page::NotFound,
            ),
            (
                "GET //callback HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n",
                Page::NotFound,
            ),
            (
                "GET http://127.0.0.1:8400/callback HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n",
                Page::NotFound,
            ),
            (
                "POST /callback HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n",
                Page::NotGet,
            ),
            (
                "GET /callback HTTP/1.1\r\nHost: evil.example:8400\r\n\r\n",
                Page::BadRequest,
            ),
            (
                "GET /callback HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                Page::BadRequest,
            ),
            (
                "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:84000\r\n\r\n",
                Page::BadRequest,
            ),
            ("GET /callback HTTP/1.1\r\n\r\n", Page::BadRequest),
            (
                "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:8400\r\nHost: 127.0.0.1:8400\r\n\r\n",
                Page::BadRequest,
            ),
            ("\u{16}\u{3}\u{1}\r\n\r\n", Page::BadRequest),
            ("GET /call back HTTP/1.1\r\n\r\n", Page::BadRequest),
        ] {
            assert_eq!(judge(head), Some(Err(page)), "{head}");
        }
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "a: b\r\n".repeat(MOST_HEADERS + 1)
        );
        assert_eq!(judge(&many), Some(Err(Page::TooLarge)));
    }

    #[test]
    fn an_unfinished_head_is_waited_for() {
        let whole = "GET /callback?code=c HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(judge(&whole[..end]), None, "{end}");
        }
    }
}
