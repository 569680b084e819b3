//! A server for JSON on the loopback address. It costs little, so that thousands of schedules run in seconds.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The reply to a request, from its bearer token and body; `None` closes the connection.
pub(super) type Respond = dyn FnMut(&str, &Value) -> Option<(u16, Value)> + Send;

/// Serves in tasks of this runtime, and returns the address.
pub(super) async fn serve(respond: Box<Respond>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let respond = Arc::new(Mutex::new(respond));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::spawn(connection(stream, Arc::clone(&respond)));
        }
    });
    address
}

/// Ends when the client closes the connection or is to be cut off.
async fn connection(mut stream: TcpStream, respond: Arc<Mutex<Box<Respond>>>) -> Option<()> {
    let mut buffer = Vec::new();
    loop {
        let (head, length) = loop {
            if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
                let length: usize = header(&head, "content-length")?.parse().ok()?;
                if buffer.len() >= end + 4 + length {
                    buffer.drain(..end + 4);
                    break (head, length);
                }
            }
            if stream.read_buf(&mut buffer).await.ok()? == 0 {
                return None;
            }
        };
        let body: Value = serde_json::from_slice(&buffer[..length]).ok()?;
        buffer.drain(..length);
        let token = header(&head, "authorization")?.trim_start_matches("Bearer ");
        let (status, reply) = (respond.lock().unwrap())(token, &body)?;
        let reply = reply.to_string();
        let length = reply.len();
        let head = format!(
            "HTTP/1.1 {status} \r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all((head + &reply).as_bytes()).await.ok()?;
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
