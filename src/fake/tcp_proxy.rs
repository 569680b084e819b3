//! A TCP proxy in front of the HTTP server, which delivers replies as the server cannot: dropped, cut or slow.
//!
//! Requests pass through unread. Of replies only the heads are read: the server sets a header with the [`Delivery`]. The server
//! has no time limit for a request, so the connection of one that is not complete in time is closed here.

use std::future::{Future, poll_fn};
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};

use super::reply::{DELIVERY_HEADER, Delivery};
use crate::transport::Clock;

/// How long a connection stays open in which a request has begun, or none yet, and the server has not replied. The server
/// replies at once, so it is the time to send a request. By real time: the clock of the fake may stand still.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A proxy in its own thread, since the caller may have no runtime. Dropping it ends the thread.
pub(super) struct TcpProxy {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    timer: Timer,
}

impl TcpProxy {
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
        let delayed = Arc::default();
        let timer = Timer { clock, delayed };
        let of_replies = timer.clone();
        let run = move || {
            runtime.block_on(async {
                tokio::spawn(accept(listener, server, of_replies));
                let _ = stopped.await;
            });
        };
        let thread = std::thread::Builder::new()
            .name("envd-fake-proxy".to_owned())
            .spawn(run)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
            timer,
        })
    }

    /// The number of replies that wait on the clock.
    pub(super) fn delayed(&self) -> watch::Receiver<usize> {
        self.timer.delayed.subscribe()
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // OK to ignore: a thread that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, timer: Timer) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    loop {
        // After too many open files, or a client that disconnected, the next call may succeed.
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let timer = timer.clone();
        tokio::spawn(async move {
            // OK to ignore: both connections are closed, so the client sees the error.
            let _ = forward(client, server, timer).await;
        });
    }
}

async fn forward(client: TcpStream, server: SocketAddr, timer: Timer) -> std::io::Result<()> {
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    exchange(client.into_split(), server.into_split(), &timer).await
}

async fn exchange(
    (mut from_client, to_client): (
        impl AsyncRead + Send + Unpin + 'static,
        impl AsyncWrite + Unpin,
    ),
    (from_server, mut to_server): (
        impl AsyncRead + Unpin,
        impl AsyncWrite + Send + Unpin + 'static,
    ),
    timer: &Timer,
) -> std::io::Result<()> {
    let expects_reply = Arc::new(watch::Sender::new(true));
    let begun = Arc::clone(&expects_reply);
    let requests = tokio::spawn(async move {
        let mut buffer = Vec::with_capacity(16 * 1_024);
        while let Ok(1..) = from_client.read_buf(&mut buffer).await {
            begun.send_replace(true);
            if to_server.write_all(&buffer).await.is_err() {
                break;
            }
            buffer.clear();
        }
        let _ = to_server.shutdown().await;
    });
    let result = forward_replies(from_server, to_client, &expects_reply, timer).await;
    requests.abort();
    result
}

/// Waits until a reply has been expected for the time of a request.
async fn request_timeout(expects_reply: &watch::Sender<bool>) {
    let mut expected = expects_reply.subscribe();
    // OK because the sender is borrowed.
    let _ = expected.wait_for(|expected| *expected).await;
    tokio::time::sleep(REQUEST_TIMEOUT).await;
}

async fn forward_replies(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    expects_reply: &watch::Sender<bool>,
    timer: &Timer,
) -> std::io::Result<()> {
    let mut buffer = Vec::with_capacity(16 * 1_024);
    loop {
        let head = match ReplyHead::parse(&buffer) {
            Ok(Some(head)) => head,
            Ok(None) => {
                let received = tokio::select! {
                    received = from.read_buf(&mut buffer) => received?,
                    () = request_timeout(expects_reply) => return Ok(()),
                };
                if received == 0 {
                    return to.write_all(&buffer).await;
                }
                expects_reply.send_replace(false);
                continue;
            }
            Err(NotSupported) => {
                to.write_all(&buffer).await?;
                return copy(&mut from, &mut to).await.map(drop);
            }
        };
        let total = head.end + head.length;
        while buffer.len() < total {
            if from.read_buf(&mut buffer).await? == 0 {
                return to.write_all(&buffer).await;
            }
        }
        match &head.delivery {
            None => to.write_all(&buffer[..total]).await?,
            Some(delivery) => {
                let body = &buffer[head.end..total];
                if !deliver(&mut to, &head.text, body, delivery, timer).await? {
                    return to.shutdown().await;
                }
            }
        }
        buffer.drain(..total);
    }
}

/// Sends a reply; false when the connection must end.
async fn deliver(
    to: &mut (impl AsyncWrite + Unpin),
    head: &[u8],
    body: &[u8],
    delivery: &Delivery,
    timer: &Timer,
) -> std::io::Result<bool> {
    timer.sleep(delivery.delay).await;
    if delivery.is_dropped {
        return Ok(false);
    }
    to.write_all(head).await?;
    let sent = &body[..delivery.cut.unwrap_or(body.len()).min(body.len())];
    let (bytes, pause) = delivery.slow.unwrap_or((body.len().max(1), Duration::ZERO));
    for piece in sent.chunks(bytes) {
        timer.sleep(pause).await;
        to.write_all(piece).await?;
    }
    Ok(delivery.cut.is_none())
}

/// Sleeps on the fake's clock, and counts the sleeping replies.
#[derive(Clone)]
struct Timer {
    clock: Clock,
    delayed: Arc<watch::Sender<usize>>,
}

impl Timer {
    async fn sleep(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        let mut sleep = pin!(self.clock.sleep(time));
        let mut is_counted = false;
        poll_fn(|context| {
            let state = sleep.as_mut().poll(context);
            // The first poll sets the deadline. A test must not advance the clock before.
            if !is_counted {
                is_counted = true;
                self.delayed.send_modify(|delayed| *delayed += 1);
            }
            state
        })
        .await;
        self.delayed.send_modify(|delayed| *delayed -= 1);
    }
}

/// The head of a reply.
struct ReplyHead {
    /// Its length in bytes, as received.
    end: usize,
    /// As the client gets it, if there is a delivery.
    text: Vec<u8>,
    /// The length of the body.
    length: usize,
    delivery: Option<Delivery>,
}

/// Not HTTP/1 with a known length of the body: it passes through unchanged.
#[derive(Debug)]
struct NotSupported;

impl ReplyHead {
    /// None for an incomplete head.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, NotSupported> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut response = httparse::Response::new(&mut headers);
        let Ok(parsed) = response.parse(bytes) else {
            return Err(NotSupported);
        };
        let httparse::Status::Complete(end) = parsed else {
            return Ok(None);
        };
        let code = response.code.unwrap_or_default();
        let has_body = !matches!(code, 100..=199 | 204 | 304);
        let reason = response.reason.unwrap_or_default();
        let mut text = format!("HTTP/1.1 {code} {reason}\r\n").into_bytes();
        let (mut length, mut delivery) = (None, None);
        for header in response.headers.iter() {
            if header.name.eq_ignore_ascii_case(DELIVERY_HEADER) {
                delivery = serde_json::from_slice(header.value).ok();
                continue;
            }
            if header.name.eq_ignore_ascii_case("content-length") {
                let value = std::str::from_utf8(header.value).ok();
                length = value.and_then(|value| value.trim().parse().ok());
            }
            text.extend([header.name.as_bytes(), b": ", header.value, b"\r\n"].concat());
        }
        text.extend(b"\r\n");
        let length = if has_body { length } else { Some(0) };
        Ok(Some(Self {
            end,
            text,
            length: length.ok_or(NotSupported)?,
            delivery,
        }))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{duplex, split};
    use tokio::time::{Instant, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_not_complete_in_time_is_cut() {
        let system = Timer {
            clock: Clock::system(),
            delayed: Arc::default(),
        };
        let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        // A connection without a request, a head without an end, and one after a request that had its reply.
        for (sent, has_replied) in [
            (&b""[..], false),
            (b"GET / HTTP/1.1\r\nx: ", false),
            (b"GET", true),
        ] {
            let ((mut client, outside), (inside, mut server)) = (duplex(1_024), duplex(1_024));
            let timer = system.clone();
            let proxy = async move { exchange(split(outside), split(inside), &timer).await };
            tokio::spawn(proxy);
            let mut received = vec![0; reply.len()];
            if has_replied {
                server.write_all(reply).await.unwrap();
                client.read_exact(&mut received).await.unwrap();
                // An idle connection stays open.
                tokio::time::sleep(2 * REQUEST_TIMEOUT).await;
            }
            client.write_all(sent).await.unwrap();
            let begun = Instant::now();
            let end = timeout(2 * REQUEST_TIMEOUT, client.read(&mut received));
            assert!(matches!(end.await, Ok(Ok(0))), "{sent:?}");
            assert!(begun.elapsed() >= REQUEST_TIMEOUT, "{sent:?}");
        }
    }

    #[test]
    fn replies_without_a_body_have_no_length() {
        let head = b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n";
        assert_eq!(ReplyHead::parse(head).unwrap().unwrap().length, 0);
        assert!(ReplyHead::parse(b"HTTP/1.1 200 OK\r\n").unwrap().is_none());
        assert!(ReplyHead::parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(ReplyHead::parse(b"PRI * HTTP/2.0\r\n\r\n").is_err());
    }
}
