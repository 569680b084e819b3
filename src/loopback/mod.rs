//! Login on the user's own machine: the browser comes back to a listener on the loopback address (RFC 8252 section 7.3).
//!
//! [`Loopback::bind`] takes a port of 127.0.0.1 (or [another address](LoopbackBuilder::redirect_uri)),
//! [`Loopback::open_browser`] shows the user the identity provider, and [`Loopback::log_in`] waits for the callback. It answers
//! one address and one `Host` only, so that another web page in the browser cannot reach it under another name;
//! a request without the state of the login cannot end it. The last page
//! in the browser holds nothing of the login, and is shown again for five seconds to a browser that asks twice. The port is free again
//! after that, or at once for another listener of the same program and when the listener is dropped before.
//!
//! # HTTPS
//!
//! Some identity providers register no `http` address; that of the service reportedly refuses `http://localhost` (public: `OAuthSample`,
//! `guide::sources`). With the feature `loopback-https` the listener serves any registered address of this machine
//! ([`redirect_uri`](LoopbackBuilder::redirect_uri)), with a certificate of yours
//! ([`certificate`](LoopbackBuilder::certificate)) or with one that it makes for itself and forgets.
//!
//! No browser trusts such a certificate. After the login, the user sees a full page with a warning
//! ("Your connection is not private" in Chrome and Edge, with the code `NET::ERR_CERT_AUTHORITY_INVALID`; "Warning: Potential
//! Security Risk Ahead" in Firefox; "This Connection Is Not Private" in Safari), and has to click "Advanced" and "Proceed to
//! localhost", each time. Tell the user before, or set a certificate of an authority that the machine trusts, from an administrator
//! or the tool `mkcert`. A key that is shipped with a program is public, and protects nothing.
//!
//! # On a machine with other users
//!
//! The address of a login holds its `state`. Another user who reads it in time can log in to another account and send that
//! callback to the listener first: then the program continues with the wrong account. [`Loopback::open_browser`] therefore
//! gives the browser a file that only its owner can read; this crate does not control what the browser does with the
//! address, such as in the arguments of its child processes. Where the user is known, set
//! [`expected_subject`](crate::auth::LoginRequest::expected_subject) to refuse other users. Otherwise show the user who
//! has logged in.
//!
//! ```
//! use envd_sdk::auth::TokenManager;
//! use envd_sdk::loopback::Loopback;
//! # use envd_sdk::fake::Fake;
//!
//! # equipment::example(async {
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

/// Settings of a [`Loopback`] listener; all of them have a default.
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
    setters! {
        /// The redirect address as it is registered with the identity provider, `http://127.0.0.1:0/callback` unless set: `http` or
        /// `https`, with a loopback number (127.0.0.1, `[::1]`) or `localhost`, with `https` also another name that resolves to loopback
        /// addresses alone. The port 0 is a free one, for providers that accept any (RFC 8252 section 7.3).
        ///
        /// With `localhost` it listens on 127.0.0.1 and on `[::1]`, as far as the machine has both: a browser tries either first. RFC 8252
        /// section 8.3 recommends numbers: the name depends on the name resolution and the firewall of the machine.
        ///
        /// `https` needs the feature `loopback-https`, and takes the [`certificate`](Self::certificate). Without one it makes a
        /// certificate for this listener, which no browser knows: the user sees a warning before the last page
        /// ([what the browser shows](crate::loopback#https)).
        ///
        /// ```
        /// use envd_sdk::loopback::Loopback;
        ///
        /// # equipment::example(async {
        /// let listener = Loopback::builder().redirect_uri("https://localhost:0/callback/envd/").bind().await?;
        /// assert!(listener.redirect_uri().as_str().starts_with("https://localhost:"));
        /// assert_eq!(listener.redirect_uri().path(), "/callback/envd/");
        /// # Ok(())
        /// # });
        /// ```
        pub fn redirect_uri(address: impl Into<String>) |it| it.redirect_uri = address.into();

        /// The certificate for an `https` [`redirect_uri`](Self::redirect_uri): the chain, the listener's own certificate first, and its
        /// private key, in one PEM text. The key must not be encrypted.
        ///
        /// A certificate of an authority that the user's machine trusts shows no warning.
        pub fn certificate(pem: impl Into<Secret>) |it| it.certificate = Some(pem.into());

        /// How long to wait for the browser; ten minutes unless set, after which the login has expired anyway.
        pub fn timeout(limit: Duration) |it| it.timeout = limit;

        /// The page in the browser after the callback of the login, as plain text; "You can close this window" unless
        /// set. HTML in it is shown as text, and a line end stays one. The page is marked as English.
        ///
        /// The program has not redeemed the callback yet when this is shown, so it should not promise a login.
        ///
        /// ```
        /// use envd_sdk::loopback::Loopback;
        ///
        /// # equipment::example(async {
        /// let listener = Loopback::builder()
        ///     .done_page("Back to Herd Book", "Close this window: Herd Book continues with your login.")
        ///     .refused_page("You did not log in", "Herd Book works without a login, on this machine only.")
        ///     .bind()
        ///     .await?;
        /// # drop(listener);
        /// # Ok(())
        /// # });
        /// ```
        pub fn done_page(heading: impl Into<String>, text: impl Into<String>)
            |it| it.done = Notice::new(heading.into(), text.into());

        /// As [`done_page`](Self::done_page), when the user refused the login, or the callback of the login is not valid;
        /// "The login was not completed" unless set.
        pub fn refused_page(heading: impl Into<String>, text: impl Into<String>)
            |it| it.refused = Notice::new(heading.into(), text.into());
    }

    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the port is taken, of any address of a name; when the redirect address is not one of this machine; and when the certificate cannot be used, or is not for its host.
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
        // OK because both schemes have a port.
        let port = redirect_uri.port_or_known_default().unwrap_or_default();
        let failed = |source| {
            Error::config(format!("port {port} cannot be listened on")).with_source(source)
        };
        repeated::end(port).await;
        let sockets = Sockets::bind(&host, port).await.map_err(failed)?;
        let port = sockets.port().map_err(failed)?;
        // OK to ignore: it fails for addresses without a host only.
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

/// Reads a registered redirect address, and the host in it. The provider compares it letter by letter.
fn registered(address: &str) -> Result<(Url, Host)> {
    let wrong = |what: &str| Error::config(format!("redirect_uri: {what}"));
    let url = Url::parse(address).map_err(|source| wrong("no address").with_source(source))?;
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
    /// Deleted with the listener.
    redirect_file: Option<RedirectFile>,
}

impl Loopback {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when no port is available.
    pub async fn bind() -> Result<Self> {
        Self::builder().bind().await
    }

    /// Starts the settings of a listener.
    pub fn builder() -> LoopbackBuilder {
        LoopbackBuilder {
            redirect_uri: "http://127.0.0.1:0/callback".to_owned(),
            certificate: None,
            // The lifetime of a pending login.
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

    /// Opens the address of a login in the user's browser, without showing it to other users of the machine.
    ///
    /// The arguments of a process are visible to all users, so the browser is given a file that redirects: only its owner
    /// can read it, and it is deleted with the listener, or by the next login if the program is killed. It stands in the
    /// home directory, because browsers that are installed as a snap can read no hidden files and no temporary ones; where
    /// that cannot be written to, or others may write to it, in the runtime directory (`XDG_RUNTIME_DIR`) or the temporary directory. The browser is
    /// the program in the variable `BROWSER`, or the system's default for HTML files.
    ///
    /// Show the user the address as well: a browser that does not open, or cannot read the file, is not detected.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the file cannot be written, or this machine has no way to open a browser.
    pub async fn open_browser(&mut self, login: &PendingLogin) -> Result<()> {
        self.redirect_file = Some(RedirectFile::open(login.url()).await?);
        Ok(())
    }

    /// Waits for the callback of a login, and completes the login: [`TokenManager::complete_login`] with a listener in the place
    /// of a pasted address. The browser gets its page when the callback is checked, before the tokens are requested.
    ///
    /// # Errors
    ///
    /// As [`TokenManager::complete_login`]; also [`LoginRefused`](crate::ErrorKind::LoginRefused) when no callback comes in time,
    /// and [`Config`](crate::ErrorKind::Config) when the login has another redirect address.
    pub async fn log_in(self, manager: &TokenManager, login: PendingLogin) -> Result<TokenSet> {
        manager.redeem(self.receive(login).await?).await
    }

    /// Waits for the callback of a login, checks it, and shows the user a page that says how it ended
    /// ([`done_page`](LoopbackBuilder::done_page), [`refused_page`](LoopbackBuilder::refused_page)).
    ///
    /// Only a request with the `state` of the login ends the wait; all others are refused and change nothing. The port is
    /// free when this is dropped, and when the page is no longer shown again.
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
