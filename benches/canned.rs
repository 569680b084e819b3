//! A server of canned replies: HTTP/1.1 by hand on separate threads, so that its cost is not measured. For several benches.

#![allow(dead_code, unreachable_pub)] // Not every program uses all of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::cpu;

pub struct Request<'a> {
    pub target: &'a str,
    pub body: &'a [u8],
    pub accepts_gzip: bool,
}

pub struct Server {
    base: String,
    shared: Arc<Shared>,
}

/// Writes the body of a reply to a request.
type Reply = dyn Fn(&Request<'_>, &mut Vec<u8>) + Send + Sync;

struct Shared {
    reply: Box<Reply>,
    line: Option<Line>,
    connections: AtomicUsize,
    cpu_nanoseconds: AtomicU64,
}

/// A simulated line to the server: each reply starts after a round trip, and all connections share its speed. It simulates
/// neither the handshakes of TCP and TLS nor the slow start of TCP.
pub struct Line {
    round_trip: Duration,
    bytes_per_second: u64,
    /// When the line has carried everything that was sent.
    free: Mutex<Instant>,
}

impl Server {
    pub fn start(reply: impl Fn(&Request<'_>, &mut Vec<u8>) + Send + Sync + 'static) -> Self {
        Self::over(None, reply)
    }

    pub fn over(
        line: Option<Line>,
        reply: impl Fn(&Request<'_>, &mut Vec<u8>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            reply: Box::new(reply),
            line,
            connections: AtomicUsize::new(0),
            cpu_nanoseconds: AtomicU64::new(0),
        });
        let server = Self {
            base,
            shared: Arc::clone(&shared),
        };
        thread::spawn(move || {
            for stream in listener.incoming() {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(&stream.unwrap()));
            }
        });
        server
    }

    /// The address without a path.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The address of its interface for documents.
    pub fn url(&self) -> String {
        format!("{}/graphql", self.base)
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The CPU time of all replies so far.
    pub fn cpu(&self) -> Duration {
        Duration::from_nanos(self.shared.cpu_nanoseconds.load(Ordering::Relaxed))
    }
}

impl Shared {
    /// Serves requests until the client closes the connection.
    fn serve(&self, stream: &TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        let mut target = String::new();
        let mut body = Vec::new();
        let mut content = Vec::new();
        let mut message = Vec::new();
        let mut counted = Duration::ZERO;
        loop {
            let mut length = 0;
            let mut accepts_gzip = false;
            target.clear();
            while line != "\r\n" {
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
                accepts_gzip |= line.starts_with("accept-encoding:") && line.contains("gzip");
            }
            line.clear();
            body.resize(length, 0);
            reader.read_exact(&mut body).ok()?;
            content.clear();
            let request = Request {
                target: &target,
                body: &body,
                accepts_gzip,
            };
            (self.reply)(&request, &mut content);
            // JSON never starts with the first bytes of gzip.
            let is_gzip = content.starts_with(b"\x1f\x8b");
            let encoding = if is_gzip {
                "content-encoding: gzip\r\n"
            } else {
                ""
            };
            let length = content.len();
            message.clear();
            write!(
                message,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{encoding}content-length: {length}\r\n\r\n"
            )
            .ok()?;
            message.extend_from_slice(&content);
            match &self.line {
                Some(line) => line.send(stream, &message)?,
                None => (&mut &*stream).write_all(&message).ok()?,
            }
            let spent = cpu::of_thread();
            let more = u64::try_from(spent.saturating_sub(counted).as_nanos()).unwrap();
            self.cpu_nanoseconds.fetch_add(more, Ordering::Relaxed);
            counted = spent;
        }
    }
}

impl Line {
    pub fn new(bits_per_second: u64, round_trip: Duration) -> Self {
        let free = Mutex::new(Instant::now());
        Self {
            round_trip,
            bytes_per_second: bits_per_second / 8,
            free,
        }
    }

    /// In packets, so that a client can act on the beginning of a reply.
    fn send(&self, mut stream: &TcpStream, bytes: &[u8]) -> Option<()> {
        thread::sleep(self.round_trip);
        for packet in bytes.chunks(1_460) {
            let done = {
                let mut free = self.free.lock().unwrap();
                // Compensates a late wake-up, or the line would be slower than its speed.
                let late = Duration::from_millis(2);
                let begun = (*free).max(Instant::now().checked_sub(late).unwrap());
                let time = packet.len() as u64 * 1_000_000_000 / self.bytes_per_second;
                *free = begun + Duration::from_nanos(time);
                *free
            };
            thread::sleep(done.saturating_duration_since(Instant::now()));
            stream.write_all(packet).ok()?;
        }
        Some(())
    }
}
