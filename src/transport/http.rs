//! One request out, one reply in; its body is gathered from chunks, and never becomes more than the limit.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;
use zeroize::{Zeroize, Zeroizing};

use super::failure::{SystemResolver, failed, failed_first, too_large};
use super::gzip::{Decoder, decoder};
use super::server_clock::LAST_SERVER;
use super::{Clock, HttpOptions, Reply, Request, Watch, is_loopback, tls};
use crate::error::{Error, ErrorKind};

/// Answers requests in place of the network.
pub(crate) type InProcessHandler =
    Arc<dyn Fn(Request) -> BoxFuture<'static, Result<Reply, Error>> + Send + Sync>;

/// Sends requests. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub(crate) struct Http {
    carrier: Carrier,
    max_body_bytes: usize,
    keep_alive: bool,
    /// Requests go through a proxy, except to loopback.
    has_proxy: bool,
    user_agent: String,
    /// One permit for each request that may be in transfer.
    slots: Option<Arc<Semaphore>>,
}

/// What takes a request to its server.
#[derive(Clone)]
enum Carrier {
    Network(Arc<Network>),
    InProcess(InProcessHandler),
}

/// The connections of an [`Http`] to the network.
struct Network {
    options: HttpOptions,
    is_secure: bool,
    https_only: bool,
    pool: ArcSwap<ConnectionPool>,
}

/// A client of reqwest, which owns a pool of connections.
struct ConnectionPool {
    /// Each pool of a network has another number.
    number: u64,
    client: reqwest::Client,
}

/// An HTTP/2 connection that has been silent for this long is asked for a sign of life, also between requests; without one it
/// is closed and its requests fail. Well below the time limit of a request, and far above what servers take for a flood of pings.
const PING_AFTER: Duration = Duration::from_secs(20);

/// How long the sign of life may take, also over a satellite link.
const PING_LIMIT: Duration = Duration::from_secs(10);

impl Http {
    /// Makes the client for some endpoints. Certificates are loaded only if one of them needs them.
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

    /// Waits until a further request may be sent; the permit is kept until its reply is read.
    pub(crate) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // OK because nothing closes the semaphore.
        self.slots.as_ref()?.acquire().await.ok()
    }

    /// The `User-Agent` that is sent with every request.
    pub(crate) fn user_agent(&self) -> &str {
        &self.user_agent
    }

    /// The number of the pool whose connections are used now.
    pub(crate) fn pool_number(&self) -> Option<u64> {
        match &self.carrier {
            Carrier::Network(network) => Some(network.pool.load().number),
            Carrier::InProcess(_) => None,
        }
    }

    /// Sends further requests over new connections, if this pool is still in use: a request over one of its connections got no reply
    /// in time. Requests under way keep theirs.
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
        // An async block would have room for this future twice.
        self.send_and_keep(request).map(|result| match result? {
            (reply, None) => Ok(reply),
            (reply, Some(cut)) => Err(cut.with_received(reply.received())),
        })
    }

    /// As [`send`](Self::send); when the body ends too early, the received part is returned with the error.
    ///
    /// Not an `async fn`: the request is large, and only what is needed for the reply stays in the future.
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
        let (is_secret, watch) = (request.is_secret, request.watch);
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
        let (reply, pool_number) = (pool.client.execute(outgoing), pool.number);
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
                // Headers share the memory of the body, which cannot be overwritten as long as they live.
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

    /// reqwest has no way to close one connection. It keeps one of HTTP/2 as long as the socket is open, and gives all requests to it.
    fn leave_pool(&self, number: u64) {
        let old = self.pool.load();
        if old.number != number || !self.options.keep_alive {
            return;
        }
        // It can be made since it was made before, unless the certificates of the operating system are gone.
        if let Ok(client) = client(&self.options, self.is_secure, self.https_only) {
            let number = number + 1;
            let new = Arc::new(ConnectionPool { number, client });
            self.pool.compare_and_swap(&old, new);
        }
    }
}

/// Makes a client with a pool of its own.
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
        // A redirect would carry the token to an address outside the settings.
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

/// Hosts on loopback are not proxied: they may be `http`, and the proxy would read the token.
fn proxy_rule(proxy: &Url) -> Result<reqwest::Proxy, Error> {
    match proxy.scheme() {
        "http" | "https" => {}
        "socks4" | "socks4a" | "socks5" | "socks5h" => {
            let what = "SOCKS proxies are not supported: set an http or https proxy";
            return Err(Error::config(what));
        }
        // reqwest ignores such a proxy.
        _ => return Err(Error::config("the proxy must be an http or https address")),
    }
    let proxy = proxy.clone();
    Ok(reqwest::Proxy::custom(move |url| {
        (!is_loopback(url)).then(|| proxy.clone())
    }))
}

/// Gives each header memory of its own.
fn detach(headers: &mut HeaderMap) {
    for value in headers.values_mut() {
        if let Ok(copy) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = copy;
        }
    }
}

/// What came of a body, and why it ended too early, if it did.
pub(super) type Gathered = (Bytes, Option<Error>);

/// How often this task yields, until the task of the connection has dropped the last chunk.
const TURNS: u32 = 64;

/// Gathers a body; without a copy when it comes in one piece.
pub(super) async fn gather(
    reply: &mut reqwest::Response,
    limit: usize,
    watch: Option<&Watch>,
) -> Gathered {
    // The sender chose the length, so it may reserve no more than the limit.
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
            // Copies the first chunk, and then uses the same memory.
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

/// Gathers a body, decompressed. The limit of the decoder is that of what comes out.
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

/// Gathers a body with tokens in it: it is overwritten when it is dropped, and so are the chunks that it came in.
///
/// What TLS, HTTP/2 and the operating system keep of it is out of reach.
pub(super) async fn gather_and_wipe(mut reply: reqwest::Response, limit: usize) -> Gathered {
    if announced(&reply) > limit {
        return (Bytes::new(), Some(too_large()));
    }
    let (mut chunks, mut length) = (Vec::new(), 0);
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
    // All at once: a buffer that grows leaves copies behind.
    let mut body = Zeroizing::new(Vec::with_capacity(length));
    for chunk in &chunks {
        body.extend_from_slice(chunk);
    }
    // The connection holds the memory of the last chunk. It ends with the reply.
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

/// Overwrites the memory that a chunk is part of, unless another chunk still uses it: the last one to go wipes all.
fn wipe(chunk: Bytes) {
    if let Ok(mut memory) = chunk.try_into_mut() {
        memory.clear();
        // Reclaims the place in front of the chunk, where the head of the reply or an earlier chunk was.
        let _ = memory.try_reclaim(memory.capacity() + 1);
        memory.resize(memory.capacity(), 0);
        memory.as_mut().zeroize();
    }
}

fn announced(reply: &reqwest::Response) -> usize {
    let length = reply.content_length();
    // A length beyond what memory can hold is beyond every limit.
    length.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX))
}

/// The next chunk, if it has no more than so many bytes.
async fn next(reply: &mut reqwest::Response, left: usize) -> Result<Option<Bytes>, Error> {
    match reply.chunk().await.map_err(failed)? {
        Some(chunk) if chunk.len() > left => Err(too_large()),
        chunk => Ok(chunk),
    }
}

#[cfg(test)]
mod tests {
    use equipment::{Reply, Server};

    use super::*;

    // On one thread: on several, the connection may go back to the pool a moment after the reply is read.
    #[tokio::test]
    async fn requests_one_after_the_other_share_a_connection_if_it_is_kept_alive() {
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
