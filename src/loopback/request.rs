//! Parses the head of a request, and renders the pages that end a login or refuse a request. Does no I/O.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use httparse::{EMPTY_HEADER, Error as ParseError, Request, Status};
use sha2::{Digest, Sha256};
use url::{Position, Url};

use crate::secret::Secret;

const MAX_HEADERS: usize = 64;

/// A page that refuses a request. It quotes nothing from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrowserResponse {
    OtherLogin,
    BadRequest,
    NotFound,
    NotGet,
    TooSlow,
    TooLarge,
}

impl BrowserResponse {
    /// The complete HTTP/1.1 response.
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

/// Returns the query of a request to the callback address, or the response to another request; `None` if the head is
/// incomplete.
pub(super) fn callback_query(
    head: &[u8],
    redirect_uri: &Url,
) -> Option<Result<Secret, BrowserResponse>> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(head) {
        Ok(Status::Complete(_)) => {}
        Ok(Status::Partial) => return None,
        Err(ParseError::TooManyHeaders) => return Some(Err(BrowserResponse::TooLarge)),
        Err(_) => return Some(Err(BrowserResponse::BadRequest)),
    }
    let named = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case("host");
    let mut hosts = request.headers.iter().filter(named);
    let host = &redirect_uri[Position::BeforeHost..Position::AfterPort];
    // A page of another site can send requests here through a name of its own that resolves to this machine.
    let is_ours = hosts
        .next()
        .is_some_and(|header| header.value == host.as_bytes());
    if !is_ours || hosts.next().is_some() {
        return Some(Err(BrowserResponse::BadRequest));
    }
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Some(match request.method {
        _ if path != redirect_uri.path() => Err(BrowserResponse::NotFound),
        Some("GET") => Ok(query.into()),
        _ => Err(BrowserResponse::NotGet),
    })
}

/// Supports light and dark mode and any width. Has no fonts, images or scripts: the page loads nothing.
const STYLE: &str = ":root{color-scheme:light dark;--ground:#f4f6f4;--card:#fff;--ink:#1c2420;--soft:#56615a;--accent:#1f6f43}\
@media(prefers-color-scheme:dark){:root{--ground:#121614;--card:#1c2320;--ink:#e9efeb;--soft:#a7b3ac;--accent:#6cc493}}\
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--ground);color:var(--ink);\
font:1.0625rem/1.6 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
main{box-sizing:border-box;width:min(30rem,100vw - 2rem);margin:1rem;padding:2rem;background:var(--card);\
border-top:.3rem solid var(--accent);border-radius:.6rem;box-shadow:0 .1rem 1.2rem #0000001f;overflow-wrap:anywhere}\
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.3}\
p{margin:0;color:var(--soft);white-space:pre-line}\
p:empty{display:none}";

/// A page with a heading and a text.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    heading: Cow<'static, str>,
    text: Cow<'static, str>,
}

impl Notice {
    pub(super) const DONE: Self = Self::fixed(
        "You can close this window",
        "Go back to the program to continue.",
    );
    /// Shown with status 200: a user may refuse a login, which is not an error of the browser.
    pub(super) const REFUSED: Self = Self::fixed(
        "The login was not completed",
        "Go back to the program to try again.",
    );

    pub(super) const fn fixed(heading: &'static str, text: &'static str) -> Self {
        Self {
            heading: Cow::Borrowed(heading),
            text: Cow::Borrowed(text),
        }
    }

    pub(super) fn new(heading: String, text: String) -> Self {
        Self {
            heading: heading.into(),
            text: text.into(),
        }
    }

    /// The complete HTTP/1.1 response.
    pub(super) fn to_http(&self, status: &str) -> String {
        let heading = escaped(&self.heading);
        let text = escaped(&self.text);
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <title>{heading}</title><style>{STYLE}</style><main><h1>{heading}</h1><p>{text}</p></main></html>\n"
        );
        let length = page.len();
        let style = STANDARD.encode(Sha256::digest(STYLE));
        // The page's address contains the code, and loading anything could leak it as the referrer.
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\n\
             cache-control: no-store\r\ncontent-security-policy: default-src 'none'; style-src 'sha256-{style}'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
             referrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{page}"
        )
    }
}

/// Escapes text for element content and for quoted attribute values.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use BrowserResponse::{BadRequest, NotFound, NotGet, TooLarge};

    use super::*;

    fn query(head: &str) -> Option<Result<String, BrowserResponse>> {
        let redirect_uri = Url::parse("http://127.0.0.1:8400/callback").unwrap();
        let query = callback_query(head.as_bytes(), &redirect_uri)?;
        Some(query.map(|query| query.expose().to_owned()))
    }

    const HOST: &str = "Host: 127.0.0.1:8400";

    #[test]
    fn a_callback_gives_its_query() {
        let other = "host:127.0.0.1:8400\r\naccept: */*";
        for (line, host, expected) in [
            ("/callback?code=c&state=s HTTP/1.1", HOST, "code=c&state=s"),
            ("/callback HTTP/1.1", other, ""),
            ("/callback?a?b HTTP/1.0", "HOST: 127.0.0.1:8400", "a?b"),
        ] {
            let head = format!("GET {line}\r\n{host}\r\n\r\n");
            assert_eq!(query(&head), Some(Ok(expected.to_owned())), "{head}");
        }
    }

    #[test]
    fn other_requests_are_refused() {
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
        let many = "a: b\r\n".repeat(MAX_HEADERS + 1);
        let many = format!("GET / HTTP/1.1\r\n{many}\r\n");
        assert_eq!(query(&many), Some(Err(TooLarge)));
    }

    #[test]
    fn an_incomplete_head_is_read_further() {
        let whole = "GET /callback?code=c HTTP/1.1\r\nHost: 127.0.0.1:8400\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(query(&whole[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_text_cannot_break_out_of_the_page() {
        let hostile = "</title><script>alert(1)</script>\r\nset-cookie: a=b\r\n\r\n&amp;\"'é";
        let notice = Notice::new(hostile.to_owned(), hostile.to_owned());
        let response = notice.to_http("200 OK");
        let (head, page) = response.split_once("\r\n\r\n").unwrap();
        assert!(!head.contains("set-cookie"), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", page.len())));
        assert!(!page.contains("<script") && page.matches("</title>").count() == 1);
        assert!(page.contains("&lt;script&gt;") && page.contains("&amp;amp;&quot;&#39;é"));
    }

    /// The policy allows the inline style of the page, and nothing else.
    #[test]
    fn the_page_loads_nothing() {
        let response = Notice::DONE.to_http("200 OK");
        let (head, page) = response.split_once("\r\n\r\n").unwrap();
        let style = page.split_once("<style>").unwrap().1;
        let style = style.split_once("</style>").unwrap().0;
        let hash = STANDARD.encode(Sha256::digest(style));
        assert!(head.contains(&format!("default-src 'none'; style-src 'sha256-{hash}'; ")));
        for part in ["src=", "href=", "url(", "@import", "style=\"", "http"] {
            assert!(!page.contains(part), "{part}");
        }
    }
}
