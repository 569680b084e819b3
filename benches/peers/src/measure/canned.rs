//! A server of canned replies: HTTP/1.1 by hand on separate threads, so that its cost is not measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::cpu;

/// A request.
pub struct Request<'a> {
    pub target: &'a str,
    pub body: &'a [u8],
}

pub struct Server {
    base: String,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    cpu_nanoseconds: AtomicU64,
}

type Reply = dyn Fn(&Request<'_>, &mut Vec<u8>) + Send + Sync;

impl Server {
    /// Serves the body that a function writes for each request.
    pub fn start(reply: impl Fn(&Request<'_>, &mut Vec<u8>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (reply, counts): (Arc<Reply>, Arc<Counts>) = (Arc::new(reply), Arc::default());
        let shared = Arc::clone(&counts);
        thread::spawn(move || {
            for stream in listener.incoming() {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                let (reply, counts) = (Arc::clone(&reply), Arc::clone(&shared));
                thread::spawn(move || serve(&stream.unwrap(), &*reply, &counts));
            }
        });
        Self { base, counts }
    }

    /// The address without a path.
    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::Relaxed)
    }

    /// The CPU time of all replies so far.
    pub fn cpu(&self) -> Duration {
        Duration::from_nanos(self.counts.cpu_nanoseconds.load(Ordering::Relaxed))
    }
}

/// Serves requests until the client closes the connection.
fn serve(stream: &TcpStream, reply: &Reply, counts: &Counts) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    let (mut line, mut target, mut body) = (String::new(), String::new(), Vec::new());
    let (mut content, mut message) = (Vec::new(), Vec::new());
    let mut counted = Duration::ZERO;
    loop {
        let mut length = 0;
        target.clear();
        loop {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if target.is_empty() {
                target.push_str(line.split(' ').nth(1)?);
            }
            line.make_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body).ok()?;
        content.clear();
        let request = Request {
            target: &target,
            body: &body,
        };
        reply(&request, &mut content);
        message.clear();
        let length = content.len();
        write!(
            message,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
        .ok()?;
        message.extend_from_slice(&content);
        (&mut &*stream).write_all(&message).ok()?;
        let spent = cpu::of_thread();
        let more = u64::try_from((spent - counted).as_nanos()).unwrap();
        counts.cpu_nanoseconds.fetch_add(more, Ordering::Relaxed);
        counted = spent;
    }
}
