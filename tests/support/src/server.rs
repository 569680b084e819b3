//! A TCP server with scripted replies, and connections without HTTP.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Handle};

/// A request with its original head and a body of `Content-Length` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The head, without the final empty line.
    pub head: String,
    pub body: String,
}

impl Request {
    /// The path, including the query.
    #[must_use]
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// The bytes to send for a request, and whether to close the connection afterwards.
#[derive(Clone, Debug)]
pub struct Reply {
    head: Option<String>,
    body: Vec<u8>,
    end: Option<usize>,
}

impl Reply {
    /// A reply without a body. `Content-Length` is added when it is sent.
    #[must_use]
    pub fn new(status: u16) -> Self {
        let head = Some(format!("HTTP/1.1 {status} Status\r\n"));
        let body = Vec::new();
        let end = None;
        Self { head, body, end }
    }

    #[must_use]
    pub fn json(status: u16, body: impl Display) -> Self {
        let reply = Self::new(status).header("content-type", "application/json");
        reply.body(body.to_string())
    }

    /// Ends the connection without a reply.
    #[must_use]
    pub fn close() -> Self {
        Self::raw([])
    }

    /// Sends these bytes, then closes the connection.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        let head = None;
        let body = bytes.into();
        let end = Some(usize::MAX);
        Self { head, body, end }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: impl Display) -> Self {
        let head = self.head.as_mut().expect("raw bytes have no headers");
        head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Truncates the body to this number of bytes, then closes the connection.
    #[must_use]
    pub fn cut(mut self, bytes: usize) -> Self {
        self.end = Some(bytes);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let length = self.body.len();
        let body = &self.body[..self.end.unwrap_or(length).min(length)];
        match &self.head {
            Some(head) => {
                let head = format!("{head}content-length: {length}\r\n\r\n");
                [head.as_bytes(), body].concat()
            }
            None => body.to_vec(),
        }
    }
}

/// An accepted connection that sends small packets without delay.
#[derive(Debug)]
pub struct Connection {
    pub stream: TcpStream,
    /// Bytes received after the last request.
    buffer: Vec<u8>,
}

impl Connection {
    /// The next request; `None` at the end of the connection.
    pub async fn request(&mut self) -> Option<Request> {
        loop {
            let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
                let mut request = Request {
                    head,
                    body: String::new(),
                };
                let length = request.header("content-length");
                let after = end + 4 + length.map_or(0, |length| length.parse().unwrap());
                if self.buffer.len() >= after {
                    request.body = String::from_utf8_lossy(&self.buffer[end + 4..after]).into();
                    self.buffer.drain(..after);
                    return Some(request);
                }
            }
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }

    /// Sends a reply. Returns true if the connection stays open; a connection closed by the client is not an error.
    pub async fn reply(&mut self, reply: &Reply) -> bool {
        let sent = self.send(&reply.bytes()).await;
        if reply.end.is_some() {
            // OK to ignore: the client may have closed it first.
            let _ = self.stream.shutdown().await;
        }
        sent && reply.end.is_none()
    }

    /// Sends bytes. Returns true if the connection is still open.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }
}

/// Connections that a test accepts and serves itself.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// Listens on a free port of 127.0.0.1.
    #[must_use]
    pub fn bind() -> Self {
        Self::new(bind())
    }

    fn new(listener: StdListener) -> Self {
        Self(TcpListener::from_std(listener).expect("within a runtime"))
    }

    /// The address as an `http` URL, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    pub async fn accept(&self) -> Connection {
        let (stream, _) = self.0.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let buffer = Vec::new();
        Connection { stream, buffer }
    }
}

fn bind() -> StdListener {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

/// A current count and its maximum.
#[derive(Debug, Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    fn enter(self: &Arc<Self>) -> Entered {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Entered(Arc::clone(self))
    }
}

struct Entered(Arc<Gauge>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A server that answers automatically.
#[derive(Clone, Debug)]
pub struct Server {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Request>>>,
    accepted: Arc<AtomicUsize>,
    connections: Arc<Gauge>,
    requests: Arc<Gauge>,
}

impl Server {
    /// Sends these replies in order, one for each request, and repeats the last.
    ///
    /// # Panics
    ///
    /// At the first request, if there are no replies.
    #[must_use]
    pub fn script(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        let next = AtomicUsize::new(0);
        Self::start(move |_| {
            let next = next.fetch_add(1, Ordering::SeqCst);
            let reply = replies[next.min(replies.len() - 1)].clone();
            async { reply }
        })
    }

    /// Answers each request with this function.
    #[must_use]
    pub fn start<H, F>(handler: H) -> Self
    where
        H: Fn(Request) -> F + Send + Sync + 'static,
        F: Future<Output = Reply> + Send + 'static,
    {
        let (received, requests) = <(Arc<Mutex<Vec<_>>>, Arc<Gauge>)>::default();
        let handler = Arc::new(handler);
        let kept = received.clone();
        let gauge = requests.clone();
        let server = Self::connections(move |mut connection| {
            let handler = handler.clone();
            let kept = kept.clone();
            let gauge = gauge.clone();
            async move {
                while let Some(request) = connection.request().await {
                    kept.lock().unwrap().push(request.clone());
                    let entered = gauge.enter();
                    let reply = handler(request).await;
                    drop(entered);
                    if !connection.reply(&reply).await {
                        return;
                    }
                }
            }
        });
        Self {
            received,
            requests,
            ..server
        }
    }

    /// Serves each connection with this function, and closes it afterwards.
    #[must_use]
    pub fn connections<H, F>(handler: H) -> Self
    where
        H: Fn(Connection) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = bind();
        let server = Self {
            address: listener.local_addr().unwrap(),
            received: Arc::default(),
            accepted: Arc::default(),
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let accepted = server.accepted.clone();
        let gauge = server.connections.clone();
        let serve = async move {
            let listener = Listener::new(listener);
            loop {
                let connection = listener.accept().await;
                accepted.fetch_add(1, Ordering::SeqCst);
                let entered = gauge.enter();
                let served = handler(connection);
                tokio::spawn(async move {
                    served.await;
                    drop(entered);
                });
            }
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(serve);
        } else {
            let runtime = Builder::new_current_thread().enable_io().build().unwrap();
            std::thread::spawn(move || runtime.block_on(serve));
        }
        server
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as an `http` URL, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The received requests, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.received.lock().unwrap().clone()
    }

    /// The number of requests.
    #[must_use]
    pub fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }

    /// The number of accepted connections.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    #[must_use]
    pub fn most_connections(&self) -> usize {
        self.connections.most.load(Ordering::SeqCst)
    }

    #[must_use]
    pub fn most_requests(&self) -> usize {
        self.requests.most.load(Ordering::SeqCst)
    }
}

/// Forwards a request to another server on a new connection, and returns the reply.
///
/// # Panics
///
/// If the other server cannot be reached.
pub async fn forward(to: SocketAddr, request: &Request) -> Reply {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let Request { head, body } = request;
    let text = format!("{head}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    // OK to ignore: the bytes received so far are passed on.
    let _ = stream.read_to_end(&mut reply).await;
    Reply::raw(reply)
}

/// An address that refuses connections. The port stays reserved, so that no other test listens there.
///
/// # Panics
///
/// If there is no free port.
#[must_use]
pub fn refusing_address() -> SocketAddr {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    std::mem::forget(socket);
    address
}
