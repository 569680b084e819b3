//! Login on the user's own machine: the browser comes back to a listener on the loopback address (RFC 8252 section 7.3).
//!
//! [`Loopback::bind`] takes a port of 127.0.0.1 (or [another address](LoopbackBuilder::redirect_uri)),
//! [`Loopback::open_browser`] opens the identity provider in the browser, and [`Loopback::log_in`] waits for the callback. The
//! listener accepts a single address and `Host`, so a web page cannot reach it under another name. A request without the state
//! of the login cannot end it. The final page in the browser contains no data of the login, and is served again for five
//! seconds if the browser repeats the request. The port is then free again. It becomes free immediately if another listener of
//! the same program needs it, or if the listener is dropped first.
//!
//! # HTTPS
//!
//! Some identity providers do not register `http` addresses; that of the service reportedly refuses `http://localhost` (public:
//! `OAuthSample`, `guide::sources`). With the feature `loopback-https`, the listener serves any registered address of this
//! machine ([`redirect_uri`](LoopbackBuilder::redirect_uri)), with a certificate that you provide
//! ([`certificate`](LoopbackBuilder::certificate)), or with one that it generates and never stores.
//!
//! Browsers do not trust a generated certificate. After the login, the user sees a full-page warning ("Your connection is not
//! private" in Chrome and Edge, with the code `NET::ERR_CERT_AUTHORITY_INVALID`; "Warning: Potential Security Risk Ahead" in
//! Firefox; "This Connection Is Not Private" in Safari), and has to click "Advanced" and "Proceed to localhost", every time.
//! Prepare the user for this, or set a certificate from an authority that the machine trusts, issued by an administrator or the
//! tool `mkcert`. A private key shipped with a program is public, and protects nothing.
//!
//! # On a machine with other users
//!
//! The address of a login contains its `state`. Another user who reads it in time can log in to their own account and send that
//! callback to the listener first: the program then continues with the wrong account. [`Loopback::open_browser`] therefore
//! gives the browser a file that only its owner can read. This crate cannot control how the browser handles the address
//! afterwards, for example in the arguments of its child processes. If you know the user, set
//! [`expected_subject`](crate::auth::LoginRequest::expected_subject) to refuse others. Otherwise, show which user has logged
//! in.
//!
//! ```
//! use envd_sdk::auth::TokenManager;
//! use envd_sdk::loopback::Loopback;
//! # use envd_sdk::fake::Fake;
//!
//! # test_support::example(async {
//! # let fake = Fake::start().await;
//! # let settings = fake.provider();
//! let mut listener = Loopback::bind().await?;
//! // `settings` is a `Provider::builder(..)` with the addresses of the service.
//! let provider = settings.redirect_uri(listener.redirect_uri().as_str()).build()?;
//! let manager = TokenManager::builder(provider).build()?;
//!
//! let login = manager.provider().authorization().start()?;
//! # let back = fake.consent(login.url())?;
//! # tokio::spawn(async move {
//! #     use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! #     let host = back.authority();
//! #     let target = &back[url::Position::BeforePath..];
//! #     let mut browser = tokio::net::TcpStream::connect(host).await.unwrap();
//! #     browser.write_all(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
//! #     browser.read_to_end(&mut Vec::new()).await.unwrap();
//! # });
//! println!("Log in at {}", login.url());
//! # if false {
//! if let Err(error) = listener.open_browser(&login).await {
//!     println!("{error}; open the address by hand");
//! }
//! # }
//! listener.log_in(&manager, login).await?;
//! assert!(manager.access_token().await.is_ok());
//! # Ok(())
//! # });
//! ```

mod connections;
#[cfg(feature = "loopback-https")]
mod https;
mod redirect_file;
mod repeated;
mod request;
mod sockets;

#[cfg(test)]
mod tests;

use std::time::Duration;

use url::Url;

use self::connections::{Callback, Handshake, ListenAddress, Receiver, respond};
#[cfg(feature = "loopback-https")]
use self::https::encrypted;
use self::redirect_file::RedirectFile;
use self::request::Notice;
use self::sockets::{Host, Sockets};
use crate::auth::{CheckedCallback, PendingLogin, TokenManager, TokenSet};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Day;
use crate::secret::Secret;
use crate::transport::Clock;

/// Settings of a [`Loopback`] listener. All have defaults.
#[derive(Clone, Debug)]
#[must_use]
pub struct LoopbackBuilder {
    redirect_uri: String,
    certificate: Option<Secret>,
    timeout: Duration,
    clock: Clock,
    done: Notice,
    refused: Notice,
}

impl LoopbackBuilder {
    /// The redirect address as registered with the identity provider; defaults to `http://127.0.0.1:0/callback`. It is
    /// `http` or `https` with a loopback address (127.0.0.1, `[::1]`) or `localhost`. With `https`, it may also be another
    /// name that resolves to loopback addresses only. Port 0 selects a free port, for providers that accept any port (RFC
    /// 8252 section 7.3).
    ///
    /// With `localhost`, the listener uses 127.0.0.1 and `[::1]` if the machine has both, because browsers may try either
    /// first. RFC 8252 section 8.3 recommends IP addresses: the name depends on the name resolution and the firewall of the
    /// machine.
    ///
    /// `https` requires the feature `loopback-https` and uses the [`certificate`](Self::certificate). Without one, the
    /// listener generates a certificate that no browser trusts: the user sees a warning before the final page ([what the
    /// browser shows](crate::loopback#https)).
    ///
    /// ```
    /// use envd_sdk::loopback::Loopback;
    ///
    /// # test_support::example(async {
    /// let listener = Loopback::builder().redirect_uri("https://localhost:0/callback/envd/").bind().await?;
    /// assert!(listener.redirect_uri().as_str().starts_with("https://localhost:"));
    /// assert_eq!(listener.redirect_uri().path(), "/callback/envd/");
    /// # Ok(())
    /// # });
    /// ```
    pub fn redirect_uri(mut self, address: impl Into<String>) -> Self {
        self.redirect_uri = address.into();
        self
    }

    /// The certificate for an `https` [`redirect_uri`](Self::redirect_uri), as one PEM text: the chain, starting with the
    /// listener's own certificate, and its private key, which must not be encrypted.
    ///
    /// A certificate from an authority that the user's machine trusts causes no warning.
    pub fn certificate(mut self, pem: impl Into<Secret>) -> Self {
        self.certificate = Some(pem.into());
        self
    }

    /// How long to wait for the browser; defaults to ten minutes, after which the login has expired anyway.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// The page that the browser shows after a valid callback, as plain text; defaults to "You can close this window". HTML
    /// is escaped, and line breaks are preserved. The page is marked as English.
    ///
    /// At this point the callback has not been redeemed, so the page should not claim that the user is logged in.
    ///
    /// ```
    /// use envd_sdk::loopback::Loopback;
    ///
    /// # test_support::example(async {
    /// let listener = Loopback::builder()
    ///     .done_page("Back to Herd Book", "Close this window: Herd Book continues with your login.")
    ///     .refused_page("You did not log in", "Herd Book works without a login, on this machine only.")
    ///     .bind()
    ///     .await?;
    /// # drop(listener);
    /// # Ok(())
    /// # });
    /// ```
    pub fn done_page(mut self, heading: impl Into<String>, text: impl Into<String>) -> Self {
        self.done = Notice::new(heading.into(), text.into());
        self
    }

    /// Like [`done_page`](Self::done_page), for a login that the user refused, or an invalid callback; defaults to "The
    /// login was not completed".
    pub fn refused_page(mut self, heading: impl Into<String>, text: impl Into<String>) -> Self {
        self.refused = Notice::new(heading.into(), text.into());
        self
    }

    /// Starts listening.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the sockets that it has bound are closed.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the port is in use on any address of the host, if the redirect address is not on
    /// this machine, or if the certificate is invalid or for another host.
    pub async fn bind(self) -> Result<Loopback> {
        let (mut redirect_uri, host) = registered(&self.redirect_uri)?;
        let is_https = redirect_uri.scheme() == "https";
        let handshake = if is_https {
            let name = redirect_uri.host_str().unwrap_or_default();
            let name = name.trim_start_matches('[').trim_end_matches(']');
            encrypted(name, self.certificate.as_ref(), Day::of(self.clock.now()))?
        } else if self.certificate.is_some() {
            return Err(Error::config(
                "certificate: the redirect address is not https",
            ));
        } else {
            Handshake::plain()
        };
        // OK because both schemes have a default port.
        let port = redirect_uri.port_or_known_default().unwrap_or_default();
        let failed = |source| {
            Error::config(format!("port {port} cannot be listened on")).with_source(source)
        };
        repeated::end(port).await;
        let sockets = Sockets::bind(&host, port).await.map_err(failed)?;
        let port = sockets.port().map_err(failed)?;
        // OK to ignore: this fails only for addresses without a host.
        let _ = redirect_uri.set_port(Some(port));
        Ok(Loopback {
            sockets,
            port,
            handshake,
            redirect_uri,
            timeout: self.timeout,
            clock: self.clock,
            done: self.done,
            refused: self.refused,
            redirect_file: None,
        })
    }
}

/// Parses a registered redirect address and its host. Identity providers compare the address character by character.
fn registered(address: &str) -> Result<(Url, Host)> {
    let wrong = |what: &str| Error::config(format!("redirect_uri: {what}"));
    let url = Url::parse(address).map_err(|source| wrong("not a valid URL").with_source(source))?;
    let has_more = url.query().is_some()
        || url.fragment().is_some()
        || !url.username().is_empty()
        || url.password().is_some();
    if has_more || !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(
            "it must be scheme http or https, host, port and path alone",
        ));
    }
    if url.as_str() != address {
        return Err(wrong(&format!("browsers write it as {url}: register that")));
    }
    let host = match url.host() {
        Some(url::Host::Domain(name)) => match name.trim_end_matches('.') {
            "localhost" => Host::Localhost,
            name if name.ends_with(".localhost") => Host::Localhost,
            name => Host::Name(name.to_owned()),
        },
        Some(url::Host::Ipv4(ip)) => Host::Ip(ip.into()),
        Some(url::Host::Ipv6(ip)) => Host::Ip(ip.into()),
        None => return Err(wrong("no host")),
    };
    if matches!(host, Host::Ip(ip) if !ip.is_loopback()) {
        return Err(wrong(
            "its number is not one of this machine: use 127.0.0.1 or [::1]",
        ));
    }
    Ok((url, host))
}

#[cfg(not(feature = "loopback-https"))]
fn encrypted(_: &str, _: Option<&Secret>, _: Day) -> Result<Handshake> {
    let what = "redirect_uri: https needs the feature loopback-https";
    Err(Error::config(what))
}

/// Listens on the loopback address for the callback of one login.
///
/// The [module](self) has an example.
#[doc(alias("redirect", "callback", "native app", "desktop"))]
#[derive(Debug)]
pub struct Loopback {
    sockets: Sockets,
    port: u16,
    handshake: Handshake,
    redirect_uri: Url,
    timeout: Duration,
    clock: Clock,
    done: Notice,
    refused: Notice,
    /// Deleted when the listener is dropped.
    redirect_file: Option<RedirectFile>,
}

impl Loopback {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Cancel safety
    ///
    /// As [`LoopbackBuilder::bind`].
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when no port is available.
    pub async fn bind() -> Result<Self> {
        Self::builder().bind().await
    }

    /// Returns the settings for a listener.
    pub fn builder() -> LoopbackBuilder {
        LoopbackBuilder {
            redirect_uri: "http://127.0.0.1:0/callback".to_owned(),
            certificate: None,
            // The same as the lifetime of a pending login.
            timeout: Duration::from_secs(600),
            clock: Clock::system(),
            done: Notice::DONE,
            refused: Notice::REFUSED,
        }
    }

    /// The address for [`ProviderBuilder::redirect_uri`](crate::auth::ProviderBuilder::redirect_uri), such as
    /// `http://127.0.0.1:49152/callback`.
    pub fn redirect_uri(&self) -> &Url {
        &self.redirect_uri
    }

    /// Opens the address of a login in the user's browser, hidden from other users of the machine.
    ///
    /// All users can see the arguments of a process. The browser therefore gets a file that redirects to the address. Only its
    /// owner can read the file. It is deleted with the listener, or by the next login if the program is killed. It is in the
    /// home directory, because browsers installed as a snap can read neither hidden nor temporary files. If the home directory
    /// is not writable, or other users may write to it, the file is in the runtime directory (`XDG_RUNTIME_DIR`) or the
    /// temporary directory. The browser is the program in the variable `BROWSER`, or the system's default for HTML files.
    ///
    /// Show the address to the user as well: this method cannot detect a browser that fails to open or to read the file.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the browser may still open. The file is then deleted at once, so the browser may not find it.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the file cannot be written, or if this machine has no way to open a browser.
    pub async fn open_browser(&mut self, login: &PendingLogin) -> Result<()> {
        self.redirect_file = Some(RedirectFile::open(login.url()).await?);
        Ok(())
    }

    /// Waits for the callback and completes the login, like [`TokenManager::complete_login`] with a listener instead of a
    /// pasted address. The browser gets its page once the callback is checked, before the tokens are requested.
    ///
    /// # Cancel safety
    ///
    /// Until the browser has received its page, dropping the future closes the listener and cancels the login. Afterwards the
    /// login completes in its own task, as with [`TokenManager::complete_login`].
    ///
    /// # Errors
    ///
    /// As [`TokenManager::complete_login`]; also [`LoginRefused`](crate::ErrorKind::LoginRefused) if no callback arrives in
    /// time, and [`Config`](crate::ErrorKind::Config) if the login has a different redirect address.
    pub async fn log_in(self, manager: &TokenManager, login: PendingLogin) -> Result<TokenSet> {
        manager.redeem(self.receive(login).await?).await
    }

    /// Waits for the callback of a login, checks it, and shows the user the outcome ([`done_page`](LoopbackBuilder::done_page),
    /// [`refused_page`](LoopbackBuilder::refused_page)).
    ///
    /// Only a request with the `state` of the login ends the wait; all others are refused without effect. The port is free when
    /// this is dropped, and when the page is no longer served again.
    pub(crate) async fn receive(self, login: PendingLogin) -> Result<CheckedCallback> {
        let mut pairs = login.url().query_pairs();
        let is_ours =
            |(name, value): (_, _)| name == "redirect_uri" && value == self.redirect_uri.as_str();
        if !pairs.any(is_ours) {
            return Err(Error::config(
                "the login has another redirect_uri than the listener",
            ));
        }
        let mut receiver = Receiver::new(ListenAddress {
            sockets: self.sockets,
            handshake: self.handshake,
            redirect_uri: self.redirect_uri,
            clock: self.clock.clone(),
        });
        let callback = receiver.next_callback(|query| login.expects(query));
        let Some(callback) = self.clock.within(self.timeout, callback).await else {
            let what = "the login was refused (no_callback_in_time)";
            return Err(Error::said(ErrorKind::LoginRefused, what));
        };
        let Callback { stream, query } = callback;
        let checked = login.check(query.expose());
        let notice = match &checked {
            Ok(_) => self.done,
            Err(_) => self.refused,
        };
        let page = notice.to_http("200 OK");
        respond(stream, page.clone(), &self.clock).await;
        repeated::start(self.port, receiver.repeat(query, page));
        checked
    }
}
