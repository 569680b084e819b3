//! HTTP settings for users, and the allowed addresses.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use url::Url;

use super::addresses::is_loopback;
use super::{Reply, Request, gzip};
use crate::error::Error;
use crate::secret::Secret;

/// Answers requests instead of the network.
pub(crate) type InProcessHandler =
    Arc<dyn Fn(Request) -> BoxFuture<'static, Result<Reply, Error>> + Send + Sync>;

/// Settings of the HTTP client: proxy, trusted certificates, time limits, the largest reply.
///
/// ```
/// use std::time::Duration;
/// use envd_sdk::HttpOptions;
///
/// let http = HttpOptions::default()
///     .user_agent("saleyard-desk/2.1")
///     .timeout(Duration::from_secs(20));
/// ```
#[derive(Clone)]
#[must_use]
pub struct HttpOptions {
    pub(super) user_agent: String,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) max_body_bytes: usize,
    pub(super) proxy: Option<Url>,
    pub(super) extra_roots_pem: Vec<Vec<u8>>,
    pub(super) client_certificate_pem: Option<Secret>,
    pub(super) keep_alive: bool,
    pub(super) max_concurrent_requests: Option<usize>,
    /// Whether requests accept compressed replies.
    pub(crate) gzip: bool,
    /// Replaces the network.
    pub(crate) in_process: Option<InProcessHandler>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("envd-sdk/", env!("CARGO_PKG_VERSION")).to_owned(),
            // A host that takes longer is down or unreachable, even over a satellite link.
            connect_timeout: Duration::from_secs(10),
            // Allows for a question tree, or a page of hundreds of records, over a slow rural line.
            timeout: Duration::from_secs(60),
            // The largest reply seen in public was under 1 MB; a runaway reply must not fill the memory.
            max_body_bytes: 64 << 20,
            proxy: None,
            extra_roots_pem: Vec::new(),
            client_certificate_pem: None,
            keep_alive: true,
            max_concurrent_requests: None,
            gzip: gzip::IS_DEFAULT,
            in_process: None,
        }
    }
}

impl HttpOptions {
    /// The `User-Agent` header; name your application so that the service's operators can reach you.
    #[doc(alias = "user agent")]
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = name.into();
        self
    }

    /// The time limit for making a connection; 10 seconds unless set.
    #[doc(alias = "timeout")]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// The time limit for one request with its complete reply; 60 seconds unless set. Retries have their own limit.
    ///
    /// After a time-out, later requests use new connections, because the old one may be dead. HTTP/2 connections are checked by
    /// pings, so a request over a dead connection fails after 30 seconds.
    #[doc(alias = "time limit")]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// The largest accepted reply, in bytes after decompression; 64 MiB unless set.
    ///
    /// Decoded data is limited as well: lists of this crate's types take at most 16 MiB or four times the text, and a larger
    /// reply is an error of the kind [`Protocol`](crate::ErrorKind::Protocol). Your own types are not limited.
    pub fn max_body_bytes(mut self, limit: usize) -> Self {
        self.max_body_bytes = limit;
        self
    }

    /// Sends all requests through this proxy, an `http` or `https` address, except those to loopback hosts. Proxy settings in
    /// the environment are ignored. For other kinds of proxy, such as SOCKS, building the client fails.
    pub fn proxy(mut self, proxy: Url) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Trusts further certificate authorities in addition to those of the operating system: one or more certificates as PEM.
    /// If the text has no certificate, building the client fails.
    ///
    /// With the feature `rustls`, the first client reads the operating system's certificates for the entire process. A client
    /// with further certificates reads them again.
    #[doc(alias("CA", "TLS", "self-signed"))]
    pub fn extra_root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.extra_roots_pem.push(pem.into());
        self
    }

    /// The certificate that identifies this client to servers that request one (mutual TLS), with its private key. The PEM
    /// text has the client's certificate, any intermediate certificates up to an authority that the server knows, and one
    /// unencrypted private key. With any other text, building the client fails.
    ///
    /// An identity provider may accept the certificate instead of a client secret (`tls_client_auth` and
    /// `self_signed_tls_client_auth`, RFC 8705 section 2): pass these options to
    /// [`ProviderBuilder::http`](crate::auth::ProviderBuilder::http) and set no secret. Some providers use separate addresses
    /// for this, and issue tokens that the service accepts only over connections with the same certificate; then set it for
    /// the client as well.
    ///
    /// The certificate is sent to every server that requests one, including a proxy with an `https` address. The text is
    /// wiped from memory with the options, but not the copy that the TLS library reads. With the feature `native-tls` the key
    /// must be PKCS#8 (`BEGIN PRIVATE KEY`); the other features also read PKCS#1 and SEC 1.
    ///
    /// ```
    /// # let pem = concat!("-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n");
    /// use envd_sdk::HttpOptions;
    /// use envd_sdk::auth::Provider;
    ///
    /// // From a file that only this user can read, or from the platform's secret store.
    /// let http = HttpOptions::default().client_certificate(pem);
    /// let provider = Provider::builder("my-client-id")
    ///     .http(http)
    ///     .authorize_url("https://sso.example.com/authorize")
    ///     .token_url("https://mtls.sso.example.com/oauth/token")
    ///     .audience("https://api.example.com/graphql")
    ///     .redirect_uri("https://app.example.com/callback")
    ///     .build();
    /// // This text has no private key.
    /// assert!(provider.unwrap_err().kind() == envd_sdk::ErrorKind::Config);
    /// ```
    #[doc(alias = "mTLS")]
    pub fn client_certificate(mut self, pem: impl Into<Secret>) -> Self {
        self.client_certificate_pem = Some(pem.into());
        self
    }

    pub(crate) fn has_client_certificate(&self) -> bool {
        self.client_certificate_pem.is_some()
    }

    /// The most requests in transfer at a time, over a client and all clients made from it. Further requests wait, but not
    /// beyond the deadline of their call. No limit unless set; with 0, building the client fails.
    ///
    /// This limits connections: on HTTP/1.1 each request uses its own connection, and at most this many idle ones are kept.
    /// On HTTP/2 a single connection carries all requests. Calls that wait for a retry or for a token do not count, and
    /// requests for tokens are not limited.
    ///
    /// ```
    /// use envd_sdk::HttpOptions;
    ///
    /// let http = HttpOptions::default().max_concurrent_requests(32);
    /// ```
    #[doc(alias("rate limit", "throttle", "concurrency"))]
    pub fn max_concurrent_requests(mut self, limit: usize) -> Self {
        self.max_concurrent_requests = Some(limit);
        self
    }

    /// Whether requests accept replies compressed with gzip; on unless set. A page of a list shrinks to about an eighth.
    ///
    /// Replies are decompressed and checked while they arrive. A reply is refused if it exceeds both 4 MiB and 100 times its
    /// compressed size, or has more than 1,000 members; set `false` for a server that sends such pages. Requests to the token
    /// endpoint never accept compression. Available only with the feature `gzip`, which is on by default.
    ///
    /// ```
    /// use envd_sdk::HttpOptions;
    ///
    /// let http = HttpOptions::default().gzip(false);
    /// ```
    #[cfg(feature = "gzip")]
    pub fn gzip(mut self, is_requested: bool) -> Self {
        self.gzip = is_requested;
        self
    }

    /// Uses each connection for one request only. On a connection that the server is closing, it is unclear whether a request
    /// was processed, and a refresh of tokens must not be left in doubt.
    pub(crate) fn no_keep_alive(mut self) -> Self {
        self.keep_alive = false;
        self
    }
}

// Omits the address of the proxy, which may contain a password, and the client's certificate and key.
debug_shows!(HttpOptions, |it|
    user_agent: it.user_agent,
    connect_timeout: it.connect_timeout,
    timeout: it.timeout,
    max_body_bytes: it.max_body_bytes,
    proxy: it.proxy.is_some(),
    extra_roots: it.extra_roots_pem.len(),
    client_certificate: it.client_certificate_pem.is_some(),
    max_concurrent_requests: it.max_concurrent_requests,
    gzip: it.gzip,
    in_process: it.in_process.is_some(),
);

/// Parses an endpoint's address, and rejects addresses that would send tokens unencrypted.
pub(crate) fn parse_endpoint(name: &str, address: &str) -> Result<Url, Error> {
    // The message must not repeat the address, which may contain credentials.
    let wrong = |what: &str| Error::config(format!("{name} {what}"));
    let url =
        Url::parse(address).map_err(|source| wrong("is not an address").with_source(source))?;
    match url.scheme() {
        _ if !url.username().is_empty() || url.password().is_some() => {
            Err(wrong("must not hold a user name or password"))
        }
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(wrong("must be https (http is for loopback addresses only)")),
        _ => Err(wrong("must be an https address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::tests::assert_fails;

    #[test]
    fn the_password_of_a_proxy_and_the_key_of_a_certificate_are_not_shown() {
        let proxy = "http://clerk:pa55w0rd@proxy.example:8080";
        let options = HttpOptions::default()
            .proxy(Url::parse(proxy).unwrap())
            .client_certificate("-----BEGIN PRIVATE KEY-----\ns3cr3t");
        let shown = format!("{options:#?}");
        assert!(
            !shown.contains("pa55w0rd") && !shown.contains("s3cr3t"),
            "{shown}"
        );
        assert!(shown.contains("proxy: true"), "{shown}");
        assert!(shown.contains("client_certificate: true"), "{shown}");
    }

    /// Row 49.
    #[test]
    fn plain_http_is_for_loopback_only() {
        for good in "https://api.example.com/v2/graphql http://127.0.0.1:8080/x http://[::1]/x http://localhost:1/x \
            http://LOCALHOST.:1/x http://127.255.1.2/ http://[::ffff:127.0.0.1]/x"
            .split(' ')
        {
            assert!(parse_endpoint("graphql", good).is_ok(), "{good}");
        }
        for bad in
            "http://api.example.com/|http://127.0.0.1.example.com/|http://[::ffff:128.0.0.1]/\
            |http://localhost.example.com/|ftp://127.0.0.1/|nonsense|"
                .split('|')
        {
            assert_fails(parse_endpoint("graphql", bad), "Config");
        }
    }

    #[test]
    fn user_info_is_refused_and_not_repeated() {
        for bad in "https://clerk:pa55w0rd@api.example.com/ https://clerk@api.example.com/ \
            https://:pa55w0rd@api.example.com/ http://clerk:pa55w0rd@127.0.0.1/ https://clerk:pa55w0rd@"
            .split(' ')
        {
            let parsed = parse_endpoint("graphql", bad);
            assert_fails(parsed, "Config: graphql  & !clerk & !pa55");
        }
    }
}
