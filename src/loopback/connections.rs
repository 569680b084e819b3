//! The connections of the browser, and of other programs.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use url::Url;
use zeroize::Zeroizing;

use super::request::{BrowserResponse, callback_query};
use super::sockets::Sockets;
use crate::auth::BoxFuture;
use crate::secret::Secret;
use crate::transport::Clock;

/// Codes and states are short; browsers send a few hundred bytes of headers beside them.
const MAX_HEAD_BYTES: usize = 16 * 1_024;

/// A browser sends its request at once, or opens a connection ahead of time and leaves it silent.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the page of a login is shown again: browsers ask twice, such as for a preview, a restored tab or a reload.
const REPEATED: Duration = Duration::from_secs(5);

/// More connections than any browser opens to one host.
const MAX_CONNECTIONS: usize = 32;

/// A connection of a browser, encrypted or not.
pub(super) trait BrowserStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> BrowserStream for S {}

type AcceptedStream = BoxFuture<'static, io::Result<Box<dyn BrowserStream>>>;

/// What comes before the request on an accepted connection: nothing, or the handshake of TLS.
#[derive(Clone)]
pub(super) struct Handshake(Arc<dyn Fn(TcpStream) -> AcceptedStream + Send + Sync>);

impl Handshake {
    #[cfg(feature = "loopback-https")]
    pub(super) fn new(
        accept: impl Fn(TcpStream) -> AcceptedStream + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(accept))
    }

    /// None: plain HTTP.
    pub(super) fn plain() -> Self {
        Self(Arc::new(|stream| {
            Box::pin(async { Ok(Box::new(stream) as _) })
        }))
    }
}

debug_shows!(Handshake);

/// A request for the callback address, with its connection.
pub(super) struct Callback {
    pub(super) stream: Box<dyn BrowserStream>,
    pub(super) query: Secret,
}

/// Where the browser finds the listener.
pub(super) struct ListenAddress {
    pub(super) sockets: Sockets,
    pub(super) handshake: Handshake,
    pub(super) redirect_uri: Url,
    pub(super) clock: Clock,
}

/// The address of a listener, and the connections to it.
pub(super) struct Receiver {
    address: Arc<ListenAddress>,
    connections: Connections,
}

impl Receiver {
    pub(super) fn new(address: ListenAddress) -> Self {
        Self {
            address: Arc::new(address),
            connections: Connections::default(),
        }
    }

    /// Waits for a callback whose query is expected, and refuses all others.
    pub(super) async fn next_callback(&mut self, is_expected: impl Fn(&str) -> bool) -> Callback {
        let (address, connections) = (&self.address, &mut self.connections);
        loop {
            let accepting = pin!(address.sockets.accept());
            let next = match select(pin!(connections.next_callback()), accepting).await {
                Either::Left((callback, _)) => Either::Left(callback),
                Either::Right((accepted, _)) => Either::Right(accepted),
            };
            match next {
                Either::Left(callback) => {
                    if is_expected(callback.query.expose()) {
                        return callback;
                    }
                    let refusal = BrowserResponse::OtherLogin.to_http();
                    connections.push(answer(callback, refusal, address.clock.clone()));
                }
                Either::Right(Ok(stream)) => {
                    connections.push(serve(stream, Arc::clone(address)));
                    // Lets the runtime find out which connections have sent something, before later ones displace them.
                    yield_now().await;
                }
                // Such as too many open files: a moment later it may work again.
                Either::Right(Err(_)) => address.clock.sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Shows this page again to a browser that asks for the same address again, for [`REPEATED`].
    pub(super) async fn repeat(mut self, query: Secret, page: String) {
        let clock = self.address.clock.clone();
        let repeating = async {
            loop {
                let callback = self.next_callback(|again| query.matches(again)).await;
                let answer = answer(callback, page.clone(), clock.clone());
                self.connections.push(answer);
            }
        };
        let _: Option<()> = clock.within(REPEATED, repeating).await;
    }
}

/// How to handle a connection; some end with a callback.
type Service = Pin<Box<dyn Future<Output = Option<Callback>> + Send>>;

/// The open connections. All are served at once, so that a silent one delays no other, and close with this value.
#[derive(Default)]
struct Connections {
    oldest_first: VecDeque<Service>,
}

impl Connections {
    /// When there are too many, the oldest ends: a browser sends at once, so that one is the least likely to be the
    /// callback.
    fn push(&mut self, service: impl Future<Output = Option<Callback>> + Send + 'static) {
        if self.oldest_first.len() >= MAX_CONNECTIONS {
            self.oldest_first.pop_front();
        }
        self.oldest_first.push_back(Box::pin(service));
    }

    /// Serves all connections until one has sent a callback.
    async fn next_callback(&mut self) -> Callback {
        poll_fn(|context| {
            let mut index = 0;
            while let Some(service) = self.oldest_first.get_mut(index) {
                match service.as_mut().poll(context) {
                    Poll::Pending => index += 1,
                    Poll::Ready(outcome) => {
                        self.oldest_first.remove(index);
                        if let Some(callback) = outcome {
                            return Poll::Ready(callback);
                        }
                    }
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Reads one request. Returns a callback; refuses every other request.
async fn serve(stream: TcpStream, address: Arc<ListenAddress>) -> Option<Callback> {
    let ListenAddress {
        handshake: Handshake(accept),
        redirect_uri,
        clock,
        ..
    } = &*address;
    // No page can reach a browser that does not trust the certificate or speaks no TLS.
    let accepted = clock.within(REQUEST_TIMEOUT, accept(stream)).await?;
    let mut stream = accepted.ok()?;
    let reading = read(&mut stream, redirect_uri);
    let refusal = match clock.within(REQUEST_TIMEOUT, reading).await {
        Some(Some(Ok(query))) => return Some(Callback { stream, query }),
        Some(Some(Err(response))) => response,
        // The connection ended before the request.
        Some(None) => return None,
        None => BrowserResponse::TooSlow,
    };
    respond(stream, refusal.to_http(), clock).await;
    None
}

/// The query of a callback, or the response to another request; `None` when the connection ends before the request does.
async fn read(
    stream: &mut Box<dyn BrowserStream>,
    redirect_uri: &Url,
) -> Option<Result<Secret, BrowserResponse>> {
    // Of the full size from the start, so that no copy of the code is left behind when it grows.
    let mut head = Zeroizing::new(Vec::with_capacity(MAX_HEAD_BYTES));
    loop {
        let before = head.len();
        if before == MAX_HEAD_BYTES {
            return Some(Err(BrowserResponse::TooLarge));
        }
        if stream.read_buf(&mut *head).await.ok()? == 0 {
            return None;
        }
        // A head ends with a line.
        let line_ended = head.iter().skip(before).any(|byte| *byte == b'\n');
        if line_ended && let Some(request) = callback_query(&head, redirect_uri) {
            return Some(request);
        }
    }
}

/// Sends a response to a callback.
async fn answer(callback: Callback, response: String, clock: Clock) -> Option<Callback> {
    respond(callback.stream, response, &clock).await;
    None
}

/// Sends a response and closes the connection. A browser that is gone needs none.
pub(super) async fn respond(mut stream: Box<dyn BrowserStream>, response: String, clock: &Clock) {
    let writing = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    };
    clock.within(REQUEST_TIMEOUT, writing).await;
}
