//! Sends one request and receives one reply. The body is collected from chunks, and never exceeds the limit.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;
use zeroize::{Zeroize, Zeroizing};

use super::failure::{SystemResolver, failed, failed_first, too_large};
use super::gzip::{Decoder, decoder};
use super::server_clock::LAST_SERVER;
use super::{Clock, HttpOptions, InProcessHandler, Reply, Request, Watch, is_loopback, tls};
use crate::error::{Error, ErrorKind};

/// Sends requests. It is cheap to clone; clones share their connections.
#[derive(Clone)]
pub(crate) struct Http {
    carrier: Carrier,
    max_body_bytes: usize,
    keep_alive: bool,
    /// Whether requests go through a proxy, except those to loopback.
    has_proxy: bool,
    user_agent: String,
    /// One permit for each request that may be in transfer.
    slots: Option<Arc<Semaphore>>,
}

/// Carries a request to its server.
#[derive(Clone)]
enum Carrier {
    Network(Arc<Network>),
    InProcess(InProcessHandler),
}

/// The network connections of an [`Http`].
struct Network {
    options: HttpOptions,
    is_secure: bool,
    https_only: bool,
    pool: ArcSwap<ConnectionPool>,
}

/// A reqwest client with its pool of connections.
struct ConnectionPool {
    /// Unique among the pools of a network.
    number: u64,
    client: reqwest::Client,
}

/// After this much silence an HTTP/2 connection is pinged, even between requests. Without a response it is closed and its
/// requests fail. The interval is well below the time limit of a request, and far above what servers treat as a flood of pings.
const PING_AFTER: Duration = Duration::from_secs(20);

/// The time limit for a ping response; enough for a satellite link.
const PING_LIMIT: Duration = Duration::from_secs(10);

impl Http {
    /// Builds the client for these endpoints. Certificates are loaded only if one of the endpoints needs them.
    pub(crate) fn new(options: &HttpOptions, endpoints: &[&Url]) -> Result<Self, Error> {
        if options.max_concurrent_requests == Some(0) {
            return Err(Error::config("max_concurrent_requests is zero"));
        }
        Ok(Self {
            carrier: match &options.in_process {
                Some(handler) => Carrier::InProcess(Arc::clone(handler)),
                None => Carrier::Network(Arc::new(Network::new(options, endpoints)?)),
            },
            max_body_bytes: options.max_body_bytes,
            keep_alive: options.keep_alive,
            has_proxy: options.proxy.is_some(),
            user_agent: options.user_agent.clone(),
            slots: options
                .max_concurrent_requests
                .map(|limit| Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)))),
        })
    }

    /// Waits until another request may be sent. Keep the permit until the reply has been read.
    pub(crate) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // OK because nothing closes the semaphore.
        self.slots.as_ref()?.acquire().await.ok()
    }

    /// The `User-Agent` of every request.
    pub(crate) fn user_agent(&self) -> &str {
        &self.user_agent
    }

    /// The number of the current pool.
    pub(crate) fn pool_number(&self) -> Option<u64> {
        match &self.carrier {
            Carrier::Network(network) => Some(network.pool.load().number),
            Carrier::InProcess(_) => None,
        }
    }

    /// Sends further requests over new connections, if this pool is still in use, because a request over one of its connections
    /// timed out. Requests in progress keep their connections.
    pub(crate) fn leave_pool(&self, number: u64) {
        if let Carrier::Network(network) = &self.carrier {
            network.leave_pool(number);
        }
    }

    /// Sends a request and reads the complete reply.
    pub(crate) fn send(
        &self,
        request: Request,
    ) -> impl Future<Output = Result<Reply, Error>> + Send + use<> {
        // An async block would reserve space for this future twice.
        self.send_and_keep(request).map(|result| match result? {
            (reply, None) => Ok(reply),
            (reply, Some(cut)) => Err(cut.with_received(reply.received())),
        })
    }

    /// As [`send`](Self::send), but a truncated body is returned together with the error.
    ///
    /// Not an `async fn`: the request is large, and the future needs to keep only the parts for the reply.
    pub(crate) fn send_and_keep(
        &self,
        request: Request,
    ) -> impl Future<Output = Result<(Reply, Option<Error>), Error>> + Send + use<> {
        let limit = self.max_body_bytes;
        let network = match &self.carrier {
            Carrier::Network(network) => Arc::clone(network),
            Carrier::InProcess(handler) => {
                let within = move |reply: Reply| match reply.body.len() {
                    length if length > limit => Err(too_large()),
                    _ => Ok((reply, None)),
                };
                let reply = handler(request).map(move |reply| reply.and_then(within));
                return reply.left_future();
            }
        };
        let is_secret = request.is_secret;
        let watch = request.watch;
        let is_first = !self.keep_alive;
        let through_proxy = self.has_proxy && !is_loopback(&request.url);
        let accepts_gzip = request.headers.contains_key(ACCEPT_ENCODING);
        // reqwest's builder would copy the headers.
        let mut outgoing = reqwest::Request::new(request.method, request.url);
        *outgoing.headers_mut() = request.headers;
        if !request.body.is_empty() {
            *outgoing.body_mut() = Some(request.body.into());
        }
        if let Some(limit) = request.timeout {
            *outgoing.timeout_mut() = Some(limit);
        }
        let pool = network.pool.load();
        let reply = pool.client.execute(outgoing);
        let pool_number = pool.number;
        let reply = async move {
            let mut reply = reply.await.map_err(|error| {
                if error.is_timeout() && !error.is_connect() {
                    network.leave_pool(pool_number);
                }
                if is_first || error.is_connect() {
                    failed_first(error, through_proxy)
                } else {
                    failed(error)
                }
            })?;
            LAST_SERVER.set(reply.headers(), Clock::system().monotonic());
            let status = reply.status().as_u16();
            let mut headers = std::mem::take(reply.headers_mut());
            let (body, cut) = if is_secret {
                // Headers share memory with the body, which cannot be overwritten while they exist.
                detach(&mut headers);
                // Boxed, so that the futures of all other requests stay small.
                Box::pin(gather_and_wipe(reply, limit)).await
            } else if accepts_gzip && let Some(decoder) = decoder(&mut headers, limit) {
                gather_and_decode(&mut reply, decoder, watch.as_ref()).await
            } else {
                gather(&mut reply, limit, watch.as_ref()).await
            };
            if matches!(&cut, Some(error) if error.kind() == ErrorKind::Timeout) {
                network.leave_pool(pool_number);
            }
            let reply = Reply {
                status,
                headers,
                body,
            };
            Ok((reply, cut))
        };
        reply.right_future()
    }
}

debug_shows!(Http, |it| user_agent: it.user_agent);

impl Network {
    fn new(options: &HttpOptions, endpoints: &[&Url]) -> Result<Self, Error> {
        let proxy = options.proxy.as_ref();
        let secure = |url: &Url| url.scheme() == "https";
        let is_secure = endpoints.iter().any(|url| secure(url)) || proxy.is_some_and(secure);
        let https_only = !endpoints.iter().any(|url| is_loopback(url));
        let client = client(options, is_secure, https_only)?;
        Ok(Self {
            options: options.clone(),
            is_secure,
            https_only,
            pool: ArcSwap::from_pointee(ConnectionPool { number: 0, client }),
        })
    }

    /// reqwest cannot close a single connection, and sends all requests over an HTTP/2 connection as long as its socket is open.
    fn leave_pool(&self, number: u64) {
        let old = self.pool.load();
        if old.number != number || !self.options.keep_alive {
            return;
        }
        // This cannot fail, since it succeeded before, unless the operating system's certificates have been removed.
        if let Ok(client) = client(&self.options, self.is_secure, self.https_only) {
            let number = number + 1;
            let new = Arc::new(ConnectionPool { number, client });
            self.pool.compare_and_swap(&old, new);
        }
    }
}

/// Builds a client with a new pool.
fn client(
    options: &HttpOptions,
    is_secure: bool,
    https_only: bool,
) -> Result<reqwest::Client, Error> {
    let mut builder = reqwest::Client::builder()
        .user_agent(&options.user_agent)
        .connect_timeout(options.connect_timeout)
        .timeout(options.timeout)
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_LIMIT)
        .http2_keep_alive_while_idle(true)
        // Following a redirect could send the token to an address outside the settings.
        .redirect(redirect::Policy::none())
        .https_only(https_only)
        .dns_resolver(SystemResolver)
        .no_proxy();
    if let Some(limit) = options.max_concurrent_requests {
        builder = builder.pool_max_idle_per_host(limit);
    }
    if !options.keep_alive {
        builder = builder.pool_max_idle_per_host(0);
    }
    if let Some(proxy) = &options.proxy {
        builder = builder.proxy(proxy_rule(proxy)?);
    }
    tls::configure(builder, is_secure, options)?
        .build()
        .map_err(|source| {
            Error::config("the HTTP client cannot be set up").with_source(source.without_url())
        })
}

/// Loopback hosts are not proxied: they may use `http`, and the proxy could read the token.
fn proxy_rule(proxy: &Url) -> Result<reqwest::Proxy, Error> {
    match proxy.scheme() {
        "http" | "https" => {}
        "socks4" | "socks4a" | "socks5" | "socks5h" => {
            let what = "SOCKS proxies are not supported: set an http or https proxy";
            return Err(Error::config(what));
        }
        // reqwest would ignore such a proxy.
        _ => return Err(Error::config("the proxy must be an http or https address")),
    }
    let proxy = proxy.clone();
    Ok(reqwest::Proxy::custom(move |url| {
        (!is_loopback(url)).then(|| proxy.clone())
    }))
}

/// Copies each header into its own memory.
fn detach(headers: &mut HeaderMap) {
    for value in headers.values_mut() {
        if let Ok(copy) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = copy;
        }
    }
}

/// The received body, with an error if it is truncated.
pub(super) type Gathered = (Bytes, Option<Error>);

/// The most times this task yields, waiting for the connection's task to drop the last chunk.
const TURNS: u32 = 64;

/// Collects a body, without copying if it arrives in one chunk.
pub(super) async fn gather(
    reply: &mut reqwest::Response,
    limit: usize,
    watch: Option<&Watch>,
) -> Gathered {
    // The sender states the length, so do not reserve more than the limit.
    let announced = announced(reply);
    if announced > limit {
        return (Bytes::new(), Some(too_large()));
    }
    let mut body = Bytes::new();
    let cut = loop {
        let chunk = match next(reply, limit - body.len()).await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        body = if body.is_empty() {
            chunk
        } else {
            // Copies the first chunk, then reuses the same memory.
            let mut longer = BytesMut::from(body);
            longer.reserve(chunk.len().max(announced.saturating_sub(longer.len())));
            longer.extend_from_slice(&chunk);
            longer.freeze()
        };
        if let Some(watch) = watch {
            watch(&body);
        }
    };
    (body, cut)
}

/// Collects and decompresses a body. The decoder limits the output.
pub(super) async fn gather_and_decode(
    reply: &mut reqwest::Response,
    mut decoder: Decoder,
    watch: Option<&Watch>,
) -> Gathered {
    let cut = loop {
        match reply.chunk().await {
            Ok(Some(chunk)) => {
                if let Err(error) = decoder.push(&chunk) {
                    break Some(error);
                }
            }
            Ok(None) => break None,
            Err(error) => break Some(failed(error)),
        }
        if let Some(watch) = watch {
            watch(decoder.decoded());
        }
    };
    let (body, early) = decoder.finish();
    (body, cut.or(early))
}

/// Collects a body with tokens. The body is overwritten when it is dropped, and its chunks once they are copied.
///
/// Copies in TLS, HTTP/2 and the operating system are out of reach.
pub(super) async fn gather_and_wipe(mut reply: reqwest::Response, limit: usize) -> Gathered {
    if announced(&reply) > limit {
        return (Bytes::new(), Some(too_large()));
    }
    let mut chunks = Vec::new();
    let mut length = 0;
    let cut = loop {
        match next(&mut reply, limit - length).await {
            Ok(Some(chunk)) => {
                length += chunk.len();
                chunks.push(chunk);
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    // Allocate once: a growing buffer leaves copies behind.
    let mut body = Zeroizing::new(Vec::with_capacity(length));
    for chunk in &chunks {
        body.extend_from_slice(chunk);
    }
    // The connection holds the memory of the last chunk until the reply is dropped.
    drop(reply);
    let last = chunks.pop();
    chunks.into_iter().for_each(wipe);
    if let Some(last) = last {
        for _ in 0..TURNS {
            if last.is_unique() {
                break;
            }
            tokio::task::yield_now().await;
        }
        wipe(last);
    }
    (Bytes::from_owner(body), cut)
}

/// Overwrites the memory behind a chunk. If other chunks share it, the last of them overwrites everything.
fn wipe(chunk: Bytes) {
    if let Ok(mut memory) = chunk.try_into_mut() {
        memory.clear();
        // Reclaims the memory in front of the chunk, which held the head of the reply or an earlier chunk.
        let _ = memory.try_reclaim(memory.capacity() + 1);
        memory.resize(memory.capacity(), 0);
        memory.as_mut().zeroize();
    }
}

fn announced(reply: &reqwest::Response) -> usize {
    let length = reply.content_length();
    // A length that does not fit into memory exceeds every limit.
    length.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX))
}

/// The next chunk, unless it is larger than `left` bytes.
async fn next(reply: &mut reqwest::Response, left: usize) -> Result<Option<Bytes>, Error> {
    match reply.chunk().await.map_err(failed)? {
        Some(chunk) if chunk.len() > left => Err(too_large()),
        chunk => Ok(chunk),
    }
}

#[cfg(test)]
mod tests {
    use test_support::{Reply, Server};

    use super::*;

    // Single-threaded: with several threads, the connection may return to the pool shortly after the reply is read.
    #[tokio::test]
    async fn sequential_requests_share_a_connection_if_it_is_kept_alive() {
        for (keep_alive, length) in [
            (true, 0),
            (true, 100),
            (true, 20_000),
            (true, 400_000),
            (false, 100),
        ] {
            let server = Server::script([Reply::new(200).body(vec![b' '; length])]);
            let url = Url::parse(&server.url()).unwrap();
            let options = HttpOptions {
                keep_alive,
                ..HttpOptions::default()
            };
            let http = Http::new(&options, &[&url]).unwrap();
            for _ in 0..20 {
                let reply = http.send(Request::get(url.clone())).await.unwrap();
                assert_eq!(reply.body.len(), length);
            }
            let opened = if keep_alive { 1 } else { 20 };
            assert_eq!(server.accepted(), opened, "{length}");
        }
    }
}
