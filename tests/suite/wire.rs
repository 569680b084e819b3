//! Sends HTTP requests over a plain socket, to check details that a client library hides.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

pub(crate) struct Raw {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Raw {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Sends one request and reads until the server closes the connection. `None` if it closes before the end of the head.
pub(crate) async fn send(
    url: &Url,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<Raw> {
    let address = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let target = url.query().map_or(url.path().to_owned(), |query| {
        format!("{}?{query}", url.path())
    });
    let mut request = format!("{method} {target} HTTP/1.1\r\nhost: fake\r\nconnection: close\r\n");
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    let length = body.len().to_string();
    request.extend(["content-length: ", &length, "\r\n\r\n", body]);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // OK to ignore: a reset also ends the connection.
    let _ = stream.read_to_end(&mut bytes).await;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    Some(Raw {
        status: head.split(' ').nth(1)?.parse().ok()?,
        head,
        body: bytes[end + 4..].to_vec(),
    })
}
