//! What the browser is answered. Nothing of the request comes back in it.

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Done,
    Refused,
    NotOurs,
    BadRequest,
    NotFound,
    NotGet,
    TooSlow,
    TooLarge,
}

impl Page {
    fn status(self) -> &'static str {
        match self {
            // The user's no is not the browser's fault.
            Self::Done | Self::Refused => "200 OK",
            Self::NotOurs | Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::NotGet => "405 Method Not Allowed",
            Self::TooSlow => "408 Request Timeout",
            Self::TooLarge => "431 Request Header Fields Too Large",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Done => "You can close this window and go back to the program.",
            Self::Refused => "The login was not completed. Go back to the program to try again.",
            Self::NotOurs => "This is not the login that the program waits for.",
            Self::BadRequest => "The request cannot be understood.",
            Self::NotFound => "There is nothing here.",
            Self::NotGet => "Only GET is answered here.",
            Self::TooSlow => "The request took too long.",
            Self::TooLarge => "The request is too large.",
        }
    }

    /// The whole response.
    pub(super) fn response(self) -> String {
        let allow = match self {
            Self::NotGet => "allow: GET\r\n",
            _ => "",
        };
        let words = self.words();
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Login</title><p>{words}</p></html>\n"
        );
        // The address of the page holds the code: nothing may be loaded that would carry it on as the referrer.
        format!(
            "HTTP/1.1 {}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n{allow}\
             cache-control: no-store\r\ncontent-security-policy: default-src 'none'\r\n\
             referrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{page}",
            self.status(),
            page.len(),
        )
    }
}
