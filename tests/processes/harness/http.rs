//! Plain HTTP requests to a server that runs as a process.

use std::io::{Read, Write};
use std::net::TcpStream;

use url::{Position, Url};

/// Sends a request and returns the complete reply. The host comes from the URL, unless the first header sets another.
pub fn send(method: &str, url: &Url, headers: &[&str], body: &str) -> String {
    let mut stream = TcpStream::connect(url.authority()).unwrap();
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let length = format!("content-length: {}", body.len());
    let host = format!("host: {}", url.authority());
    let (host, headers) = match headers {
        [own, rest @ ..] if own.starts_with("host: ") => (*own, rest),
        _ => (&*host, headers),
    };
    let headers = [&[host, "connection: close", &length], headers].concat();
    let head = format!("{method} {target} HTTP/1.1\r\n{}", headers.join("\r\n"));
    // OK to ignore: the server may refuse a long body while it is being sent.
    let _ = write!(stream, "{head}\r\n\r\n{body}");
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    // A compressed body is not text.
    String::from_utf8_lossy(&reply).into_owned()
}

pub fn get(url: &Url) -> String {
    send("GET", url, &[], "")
}

/// The first header of this name.
pub fn header<'r>(reply: &'r str, name: &str) -> Option<&'r str> {
    let (head, _) = reply.split_once("\r\n\r\n").unwrap();
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(found.1)
}

/// The address of a redirect.
pub fn location(reply: &str) -> Url {
    let found = header(reply, "location");
    Url::parse(found.unwrap_or_else(|| panic!("no redirect: {reply}"))).unwrap()
}

#[track_caller]
pub fn assert_has(reply: &str, part: &str) {
    assert!(reply.contains(part), "no {part} in {reply}");
}
