//! A TCP proxy in front of the HTTP server, which delivers replies in ways that the server cannot: dropped, truncated or slow.
//!
//! Requests pass through unread. For replies, only the head is parsed: the server puts the [`Delivery`] in a header. The server
//! has no time limit for requests, so the proxy closes a connection if its request is not complete in time.

use std::future::{Future, pending, poll_fn};
use std::io::Result;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};

use super::reply::{DELIVERY_HEADER, Delivery};
use crate::transport::Clock;

/// How long a connection without a complete request stays open. The server replies immediately, so this is the time to send a
/// request. In real time, because the fake's clock may not advance.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a stopping proxy waits for the client to close its side. A client that reads its connections closes them
/// immediately.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A proxy in its own thread, because the caller may have no runtime. Dropping it ends the thread.
pub(super) struct TcpProxy {
    switch: Option<mpsc::UnboundedSender<Switch>>,
    thread: Option<JoinHandle<()>>,
    timer: Timer,
}

/// Whether to listen, and a channel to confirm the change.
type Switch = (bool, oneshot::Sender<()>);

impl TcpProxy {
    pub(super) fn start(listener: TcpListener, server: SocketAddr, clock: Clock) -> Result<Self> {
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (switch, switched) = mpsc::unbounded_channel();
        let delayed = Arc::default();
        let timer = Timer { clock, delayed };
        let of_replies = timer.clone();
        let run = move || {
            // OK to ignore: the caller of `switch` notices that it was not carried out.
            let _ = runtime.block_on(serve(listener, server, of_replies, switched));
        };
        let thread = std::thread::Builder::new()
            .name("envd-fake-proxy".to_owned())
            .spawn(run)?;
        Ok(Self {
            switch: Some(switch),
            thread: Some(thread),
            timer,
        })
    }

    /// Starts listening, or refuses connections and closes open ones. Returns false if the port was lost.
    pub(super) async fn switch(&self, listens: bool) -> bool {
        let (done, is_done) = oneshot::channel();
        let sent = self.switch.as_ref().map(|to| to.send((listens, done)));
        matches!(sent, Some(Ok(()))) && is_done.await.is_ok()
    }

    /// The number of replies currently delayed.
    pub(super) fn delayed(&self) -> watch::Receiver<usize> {
        self.timer.delayed.subscribe()
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        drop(self.switch.take());
        if let Some(thread) = self.thread.take() {
            // OK to ignore: a thread that panicked has also ended.
            let _ = thread.join();
        }
    }
}

/// Listens until switched off, and again when switched on, until the switch is dropped.
async fn serve(
    listener: TcpListener,
    server: SocketAddr,
    timer: Timer,
    mut switched: mpsc::UnboundedReceiver<Switch>,
) -> Result<()> {
    let address = listener.local_addr()?;
    let mut listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let stop = watch::Sender::new(false);
        let stopped = tokio::select! {
            stopped = next(&mut switched, false) => stopped,
            () = accept(&listener, server, &timer, &stop) => None,
        };
        let Some(stopped) = stopped else {
            return Ok(());
        };
        drop(listener);
        // A bound port that does not listen refuses connections, and other programs cannot take it.
        let port = TcpSocket::new_v4()?;
        // Earlier connections still occupy the port. On Windows, this option would share it with any program.
        #[cfg(not(windows))]
        port.set_reuseaddr(true)?;
        port.bind(address)?;
        stop.send_replace(true);
        // Each connection holds a receiver.
        stop.closed().await;
        let _ = stopped.send(());
        let Some(started) = next(&mut switched, true).await else {
            return Ok(());
        };
        listener = port.listen(1_024)?;
        let _ = started.send(());
    }
}

/// Waits until the listening state has to change.
async fn next(
    switched: &mut mpsc::UnboundedReceiver<Switch>,
    wanted: bool,
) -> Option<oneshot::Sender<()>> {
    loop {
        let (listens, done) = switched.recv().await?;
        if listens == wanted {
            return Some(done);
        }
        let _ = done.send(());
    }
}

async fn accept(
    listener: &tokio::net::TcpListener,
    server: SocketAddr,
    timer: &Timer,
    stop: &watch::Sender<bool>,
) {
    loop {
        // After too many open files, or a client that disconnected, the next call may succeed.
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let timer = timer.clone();
        let stopped = stop.subscribe();
        tokio::spawn(async move {
            // OK to ignore: both connections are closed, so the client sees the error.
            let _ = forward(client, server, timer, stopped).await;
        });
    }
}

async fn forward(
    mut client: TcpStream,
    server: SocketAddr,
    timer: Timer,
    mut stopped: watch::Receiver<bool>,
) -> Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    tokio::select! {
        ended = exchange(client.split(), server.split(), &timer) => return ended,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    // Received requests are processed before the switch completes, or never. A client that does not notice the end would send
    // its next request here.
    let end = async {
        let _ = client.shutdown().await;
        let _ = server.shutdown().await;
        let _ = copy(&mut server, &mut sink()).await;
        let _ = copy(&mut client, &mut sink()).await;
    };
    // OK to ignore: the connection is about to end.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, end).await;
    Ok(())
}

async fn exchange(
    (mut from_client, to_client): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    (from_server, mut to_server): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    timer: &Timer,
) -> Result<()> {
    let expects_reply = watch::Sender::new(true);
    let requests = async {
        let mut buffer = Vec::with_capacity(16 * 1_024);
        while let Ok(1..) = from_client.read_buf(&mut buffer).await {
            expects_reply.send_replace(true);
            if to_server.write_all(&buffer).await.is_err() {
                break;
            }
            buffer.clear();
        }
        let _ = to_server.shutdown().await;
        // The last replies are still to come.
        pending().await
    };
    tokio::select! {
        ended = forward_replies(from_server, to_client, &expects_reply, timer) => ended,
        ended = requests => ended,
    }
}

/// Waits until a reply has been outstanding for the request time-out.
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
) -> Result<()> {
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

/// Sends a reply. Returns false if the connection must end.
async fn deliver(
    to: &mut (impl AsyncWrite + Unpin),
    head: &[u8],
    body: &[u8],
    delivery: &Delivery,
    timer: &Timer,
) -> Result<bool> {
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
        let mut counted = None;
        poll_fn(|context| {
            let state = sleep.as_mut().poll(context);
            // The first poll sets the deadline, so a test must not advance the clock before it.
            counted.get_or_insert_with(|| Counted::one_of(&self.delayed));
            state
        })
        .await;
    }
}

/// A delayed reply, until it is sent or its connection ends.
struct Counted<'a>(&'a watch::Sender<usize>);

impl<'a> Counted<'a> {
    fn one_of(delayed: &'a watch::Sender<usize>) -> Self {
        delayed.send_modify(|delayed| *delayed += 1);
        Self(delayed)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|delayed| *delayed -= 1);
    }
}

/// The head of a reply.
struct ReplyHead {
    /// The length in bytes, as received.
    end: usize,
    /// The head for the client, if there is a delivery.
    text: Vec<u8>,
    /// The length of the body.
    length: usize,
    delivery: Option<Delivery>,
}

/// Not HTTP/1 with a known body length: it passes through unchanged.
#[derive(Debug)]
struct NotSupported;

impl ReplyHead {
    /// `None` for an incomplete head.
    fn parse(bytes: &[u8]) -> std::result::Result<Option<Self>, NotSupported> {
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
        let mut length = None;
        let mut delivery = None;
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
        // A connection without a request, an unfinished head, and an unfinished head after a completed request.
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
