//! A token endpoint below HTTP: connections that are dropped, replies that are cut off.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How a request ends.
pub(super) enum Wire {
    /// The connection ends without a response.
    Drop,
    /// These bytes are sent, and the connection ends.
    Send(String),
}

/// A server with one connection for each request.
pub(super) struct WireServer {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl WireServer {
    pub(super) async fn start(script: Vec<Wire>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/oauth/token", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        tokio::spawn(async move {
            for wire in script {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read(&mut stream).await;
                seen.lock().unwrap().push(request);
                if let Wire::Send(bytes) = wire {
                    // OK to ignore: the client may stop reading.
                    let _ = stream.write_all(bytes.as_bytes()).await;
                }
            }
        });
        Self { url, requests }
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// A reply of the token endpoint with this body.
pub(super) fn reply(body: &str) -> Wire {
    announced(body, body.len())
}

/// A reply whose body ends before its announced length.
pub(super) fn announced(body: &str, length: usize) -> Wire {
    Wire::Send(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    ))
}

async fn read(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    loop {
        let mut bytes = [0; 4_096];
        let n = stream.read(&mut bytes).await.unwrap();
        text.push_str(std::str::from_utf8(&bytes[..n]).unwrap());
        let length = text.split("content-length: ").nth(1).and_then(|rest| {
            let number = rest.split("\r\n").next()?;
            number.parse::<usize>().ok()
        });
        let body = text.split("\r\n\r\n").nth(1).map(str::len);
        if n == 0 || (body.is_some() && body >= length) {
            return text;
        }
    }
}
