//! A server of canned pages behind a simulated link: each reply starts after a round trip, and all share the bandwidth.

#![allow(dead_code)] // Not every program uses all of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::link::Link;
use crate::page::Pages;

pub struct Server {
    url: String,
    connections: Arc<AtomicUsize>,
}

struct Shared {
    pages: Pages,
    link: Link,
    /// The time at which the link has transferred all data sent so far.
    free: Mutex<Instant>,
}

impl Server {
    pub fn start(pages: Pages, link: Link) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/graphql", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let shared = Arc::new(Shared {
            pages,
            link,
            free: Mutex::new(Instant::now()),
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                counter.fetch_add(1, Ordering::Relaxed);
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(&stream.unwrap()));
            }
        });
        Self { url, connections }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut reader = BufReader::new(stream);
        while let Some(body) = request(&mut reader) {
            thread::sleep(self.link.round_trip);
            // The cursor `after` is the number of the requested page.
            let after = body["variables"]["after"].as_str();
            let page = after.map_or(0, |after| after.parse().unwrap());
            let (head, rest) = self.pages.reply(page);
            if self.write(stream, &head).is_none() || self.write(stream, &rest).is_none() {
                return;
            }
        }
    }

    fn write(&self, mut stream: &TcpStream, bytes: &[u8]) -> Option<()> {
        let Some(bytes_per_second) = self.link.bytes_per_second else {
            return stream.write_all(bytes).ok();
        };
        for chunk in bytes.chunks(8 << 10) {
            let done = {
                let mut free = self.free.lock().unwrap();
                // Compensate a late wake-up, or the link would be slower than its bandwidth.
                let late = Duration::from_millis(2);
                let begun = (*free).max(Instant::now().checked_sub(late).unwrap());
                let time = u64::try_from(chunk.len()).unwrap() * 1_000_000_000 / bytes_per_second;
                *free = begun + Duration::from_nanos(time);
                *free
            };
            thread::sleep(done.saturating_duration_since(Instant::now()));
            stream.write_all(chunk).ok()?;
        }
        Some(())
    }
}

/// The body of the next request; `None` when the client has closed the connection.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<Value> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let head = line.to_ascii_lowercase();
        if let Some(value) = head.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}
