//! A server that runs as a process, and plain HTTP requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;
use url::Url;

use super::program::Program;

/// A process and the first line of its output. It is killed if the test panics.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) line: Value,
}

impl Running {
    pub(crate) fn start(mut program: Program) -> Self {
        program.0.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = program.0.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let line = serde_json::from_str(&line).unwrap();
        Self {
            child,
            stdout,
            line,
        }
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.line[name].as_str().unwrap()
    }

    pub(crate) fn url(&self, name: &str) -> Url {
        Url::parse(self.text(name)).unwrap()
    }

    /// The exit code, and the output after the first line.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request and returns the whole reply.
pub(crate) fn send(method: &str, url: &Url, headers: &[&str], body: &str) -> String {
    let address = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect(address).unwrap();
    let target = &url[url::Position::BeforePath..];
    let length = format!("content-length: {}", body.len());
    let host = format!("host: {}", url.authority());
    let headers = [&[&host, "connection: close", &length], headers].concat();
    let headers = headers.join("\r\n");
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\n{headers}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    // A compressed body is no text.
    String::from_utf8_lossy(&reply).into_owned()
}

pub(crate) fn get(url: &Url) -> String {
    send("GET", url, &[], "")
}

/// The first header of this name.
pub(crate) fn header<'r>(reply: &'r str, name: &str) -> Option<&'r str> {
    let (head, _) = reply.split_once("\r\n\r\n").unwrap();
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(found.1)
}

/// The address of a redirect.
pub(crate) fn location(reply: &str) -> Url {
    let found = header(reply, "location");
    Url::parse(found.unwrap_or_else(|| panic!("no redirect: {reply}"))).unwrap()
}

pub(crate) fn assert_has(reply: &str, part: &str) {
    assert!(reply.contains(part), "no {part} in {reply}");
}
