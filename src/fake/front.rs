//! A small TCP front before the HTTP server: it does to replies what an HTTP library cannot, such as cutting a body.
//!
//! Requests pass through unread. Of replies only the heads are read; the server says in a header what is to be done.

use std::future::{Future, poll_fn};
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{oneshot, watch};

use super::wire::{HEADER, Wire};
use crate::transport::Clock;

/// The front, in a thread of its own, so that it needs no runtime of the caller's. It is gone when it is dropped.
pub(super) struct Front {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    held: Arc<watch::Sender<usize>>,
}

impl Front {
    pub(super) fn start(
        listener: TcpListener,
        server: SocketAddr,
        clock: Clock,
    ) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let held = Arc::new(watch::Sender::new(0));
        let shared = Arc::clone(&held);
        let run = move || {
            runtime.block_on(async {
                tokio::spawn(accept(listener, server, clock, shared));
                let _ = stopped.await;
            });
        };
        let thread = std::thread::Builder::new()
            .name("envd-fake-front".to_owned())
            .spawn(run)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
            held,
        })
    }

    /// How many replies wait for the clock.
    pub(super) fn held(&self) -> watch::Receiver<usize> {
        self.held.subscribe()
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A front that panicked is gone as well.
            let _ = thread.join();
        }
    }
}

async fn accept(
    listener: TcpListener,
    server: SocketAddr,
    clock: Clock,
    held: Arc<watch::Sender<usize>>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    loop {
        // Too many open files, or a caller that left: the next may fare better.
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let (clock, held) = (clock.clone(), Arc::clone(&held));
        tokio::spawn(async move {
            // What ends a connection ends it for both sides; nobody else needs to know.
            let _ = carry(client, server, Pauses { clock, held }).await;
        });
    }
}

async fn carry(client: TcpStream, server: SocketAddr, pauses: Pauses) -> std::io::Result<()> {
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    let requests = tokio::spawn(async move {
        let _ = copy(&mut from_client, &mut to_server).await;
        let _ = to_server.shutdown().await;
    });
    let result = replies(from_server, to_client, &pauses).await;
    requests.abort();
    result
}

async fn replies(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    pauses: &Pauses,
) -> std::io::Result<()> {
    let mut buffer = Vec::with_capacity(16 * 1_024);
    loop {
        let Some(end) = head_end(&buffer) else {
            if from.read_buf(&mut buffer).await? == 0 {
                return to.write_all(&buffer).await;
            }
            continue;
        };
        let Some(head) = Head::parse(&buffer[..end]) else {
            // Not HTTP/1 with a length: whatever it is, it passes through.
            to.write_all(&buffer).await?;
            return copy(&mut from, &mut to).await.map(drop);
        };
        let total = end + head.length;
        while buffer.len() < total {
            if from.read_buf(&mut buffer).await? == 0 {
                return to.write_all(&buffer).await;
            }
        }
        match head.wire {
            None => to.write_all(&buffer[..total]).await?,
            Some(wire) => {
                let whole = send(&mut to, &head.text, &buffer[end..total], &wire, pauses).await?;
                if !whole {
                    return to.shutdown().await;
                }
            }
        }
        buffer.drain(..total);
    }
}

/// Sends a reply as it is told to; false when the connection must end.
async fn send(
    to: &mut OwnedWriteHalf,
    head: &str,
    body: &[u8],
    wire: &Wire,
    pauses: &Pauses,
) -> std::io::Result<bool> {
    if !wire.hold.is_zero() {
        pauses.wait(wire.hold).await;
    }
    if wire.dropped {
        return Ok(false);
    }
    to.write_all(head.as_bytes()).await?;
    let shown = &body[..wire.cut.map_or(body.len(), |cut| cut.min(body.len()))];
    match wire.slow {
        None => to.write_all(shown).await?,
        Some((bytes, pause)) => {
            for piece in shown.chunks(bytes) {
                pauses.wait(pause).await;
                to.write_all(piece).await?;
            }
        }
    }
    Ok(wire.cut.is_none())
}

/// Waits on the clock, and lets a test know that it does.
struct Pauses {
    clock: Clock,
    held: Arc<watch::Sender<usize>>,
}

impl Pauses {
    async fn wait(&self, time: Duration) {
        let mut sleep = pin!(self.clock.sleep(time));
        let mut counted = false;
        poll_fn(|context| {
            let state = sleep.as_mut().poll(context);
            // Only now does the sleep know its end: a test that moves the clock must not come before it.
            if !counted {
                counted = true;
                self.held.send_modify(|held| *held += 1);
            }
            state
        })
        .await;
        self.held.send_modify(|held| *held -= 1);
    }
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some(end + 4)
}

/// The head of a reply.
struct Head {
    /// As the client gets it.
    text: String,
    length: usize,
    wire: Option<Wire>,
}

impl Head {
    /// None for what is not HTTP/1 with a known length.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.split_inclusive("\r\n");
        let first = lines.next()?;
        let status = first
            .strip_prefix("HTTP/1.1 ")
            .or(first.strip_prefix("HTTP/1.0 "))?;
        let bodiless =
            status.starts_with('1') || status.starts_with("204") || status.starts_with("304");
        let mut head = Self {
            text: first.to_owned(),
            length: 0,
            wire: None,
        };
        let mut length = bodiless.then_some(0);
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            if name.eq_ignore_ascii_case(HEADER) {
                head.wire = Wire::parse(value);
                continue;
            }
            if name.eq_ignore_ascii_case("content-length") && !bodiless {
                length = Some(value.trim().parse().ok()?);
            }
            head.text.push_str(line);
        }
        head.length = length?;
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_private_header_is_taken_away() {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nX-Fake-Wire: 0 0 2 0 0\r\nx: y\r\n\r\n";
        let head = Head::parse(head.as_bytes()).unwrap();
        assert_eq!(
            head.text,
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nx: y\r\n\r\n"
        );
        assert_eq!((head.length, head.wire.unwrap().cut), (3, Some(2)));
    }

    #[test]
    fn replies_without_a_body_have_no_length() {
        let head = Head::parse(b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n").unwrap();
        assert_eq!(head.length, 0);
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\n\r\n").is_none());
        assert!(Head::parse(b"PRI * HTTP/2.0\r\n\r\n").is_none());
    }
}
