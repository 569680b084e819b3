//! Connections to the listener, from the browser and from other programs.

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

/// Codes and states are short, and browsers add a few hundred bytes of headers.
const MAX_HEAD_BYTES: usize = 16 * 1_024;

/// Browsers send the request immediately, or open a connection in advance and leave it idle.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the final page is served again: browsers repeat the request, for example for a preview, a restored tab or a reload.
const REPEATED: Duration = Duration::from_secs(5);

/// More connections than any browser opens to one host.
const MAX_CONNECTIONS: usize = 32;

/// A connection of a browser, encrypted or not.
pub(super) trait BrowserStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> BrowserStream for S {}

type AcceptedStream = BoxFuture<'static, io::Result<Box<dyn BrowserStream>>>;

/// The step before the request on an accepted connection: nothing, or a TLS handshake.
#[derive(Clone)]
pub(super) struct Handshake(Arc<dyn Fn(TcpStream) -> AcceptedStream + Send + Sync>);

impl Handshake {
    #[cfg(feature = "loopback-https")]
    pub(super) fn new(
        accept: impl Fn(TcpStream) -> AcceptedStream + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(accept))
    }

    /// No handshake: plain HTTP.
    pub(super) fn plain() -> Self {
        Self(Arc::new(|stream| {
            Box::pin(async { Ok(Box::new(stream) as _) })
        }))
    }
}

debug_shows!(Handshake);

/// A request to the callback address, with its connection.
pub(super) struct Callback {
    pub(super) stream: Box<dyn BrowserStream>,
    pub(super) query: Secret,
}

/// The address where the browser finds the listener.
pub(super) struct ListenAddress {
    pub(super) sockets: Sockets,
    pub(super) handshake: Handshake,
    pub(super) redirect_uri: Url,
    pub(super) clock: Clock,
}

/// A listener's address and its open connections.
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

    /// Waits for a callback with an expected query. Refuses all other requests.
    pub(super) async fn next_callback(&mut self, is_expected: impl Fn(&str) -> bool) -> Callback {
        let address = &self.address;
        let connections = &mut self.connections;
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
                    // Lets the runtime notice connections that have sent something, before later ones evict them.
                    yield_now().await;
                }
                // For example too many open files, which may have passed a moment later.
                Either::Right(Err(_)) => address.clock.sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Serves this page again to repeated requests with the same query, for [`REPEATED`].
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

/// The handling of a connection. It may return a callback.
type Service = Pin<Box<dyn Future<Output = Option<Callback>> + Send>>;

/// The open connections. All are served concurrently, so that an idle one does not delay the others. Dropping this closes them.
#[derive(Default)]
struct Connections {
    oldest_first: VecDeque<Service>,
}

impl Connections {
    /// At the limit, closes the oldest connection. Browsers send immediately, so it is the least likely to carry the callback.
    fn push(&mut self, service: impl Future<Output = Option<Callback>> + Send + 'static) {
        if self.oldest_first.len() >= MAX_CONNECTIONS {
            self.oldest_first.pop_front();
        }
        self.oldest_first.push_back(Box::pin(service));
    }

    /// Serves all connections until one of them receives a callback.
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

/// Reads one request. Returns it if it is a callback; refuses it otherwise.
async fn serve(stream: TcpStream, address: Arc<ListenAddress>) -> Option<Callback> {
    let ListenAddress {
        handshake: Handshake(accept),
        redirect_uri,
        clock,
        ..
    } = &*address;
    // The browser rejected the certificate or does not use TLS, so no page can be shown.
    let accepted = clock.within(REQUEST_TIMEOUT, accept(stream)).await?;
    let mut stream = accepted.ok()?;
    let reading = read(&mut stream, redirect_uri);
    let refusal = match clock.within(REQUEST_TIMEOUT, reading).await {
        Some(Some(Ok(query))) => return Some(Callback { stream, query }),
        Some(Some(Err(response))) => response,
        // The connection closed before sending a request.
        Some(None) => return None,
        None => BrowserResponse::TooSlow,
    };
    respond(stream, refusal.to_http(), clock).await;
    None
}

/// Returns the query of a callback, or the response to another request; `None` if the connection closes too early.
async fn read(
    stream: &mut Box<dyn BrowserStream>,
    redirect_uri: &Url,
) -> Option<Result<Secret, BrowserResponse>> {
    // Allocated at full size, because a reallocation would leave a copy of the code in memory.
    let mut head = Zeroizing::new(Vec::with_capacity(MAX_HEAD_BYTES));
    loop {
        let before = head.len();
        if before == MAX_HEAD_BYTES {
            return Some(Err(BrowserResponse::TooLarge));
        }
        if stream.read_buf(&mut *head).await.ok()? == 0 {
            return None;
        }
        // Only a line end can complete the head.
        let line_ended = head.iter().skip(before).any(|byte| *byte == b'\n');
        if line_ended && let Some(request) = callback_query(&head, redirect_uri) {
            return Some(request);
        }
    }
}

/// Responds to a callback.
async fn answer(callback: Callback, response: String, clock: Clock) -> Option<Callback> {
    respond(callback.stream, response, &clock).await;
    None
}

/// Sends a response and closes the connection. Ignores a browser that has disconnected.
pub(super) async fn respond(mut stream: Box<dyn BrowserStream>, response: String, clock: &Clock) {
    let writing = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    };
    clock.within(REQUEST_TIMEOUT, writing).await;
}
