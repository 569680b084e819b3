//! What the browser shows at the end of a login.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// In light and dark, on any width. Without fonts, images and scripts: the page loads nothing.
const STYLE: &str = ":root{color-scheme:light dark;--ground:#f4f6f4;--card:#fff;--ink:#1c2420;--soft:#56615a;--accent:#1f6f43}\
@media(prefers-color-scheme:dark){:root{--ground:#121614;--card:#1c2320;--ink:#e9efeb;--soft:#a7b3ac;--accent:#6cc493}}\
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--ground);color:var(--ink);\
font:1.0625rem/1.6 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
main{box-sizing:border-box;width:min(30rem,100vw - 2rem);margin:1rem;padding:2rem;background:var(--card);\
border-top:.3rem solid var(--accent);border-radius:.6rem;box-shadow:0 .1rem 1.2rem #0000001f;overflow-wrap:anywhere}\
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.3}\
p{margin:0;color:var(--soft);white-space:pre-line}\
p:empty{display:none}";

/// A heading and a text, as a page of their own.
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
    /// The user may refuse a login: no error of the browser.
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

    /// The whole response as HTTP/1.1.
    pub(super) fn to_http(&self, status: &str) -> String {
        let (heading, text) = (escaped(&self.heading), escaped(&self.text));
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <title>{heading}</title><style>{STYLE}</style><main><h1>{heading}</h1><p>{text}</p></main></html>\n"
        );
        let length = page.len();
        let style = STANDARD.encode(Sha256::digest(STYLE));
        // The address of the page holds the code: nothing may be loaded that would send it on as the referrer.
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\n\
             cache-control: no-store\r\ncontent-security-policy: default-src 'none'; style-src 'sha256-{style}'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
             referrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{page}"
        )
    }
}

/// For the content of an element, and for the value of an attribute in quotes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// The policy allows the style that the page holds, and nothing else.
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
