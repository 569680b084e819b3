//! Where to listen, and for how long.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use tokio::net::TcpListener;
use url::Url;

use super::Loopback;
use crate::error::{Error, Result};
use crate::transport::Clock;

/// Settings of a [`Loopback`] listener; every one of them has a default.
#[derive(Clone, Debug)]
#[must_use]
pub struct LoopbackBuilder {
    port: u16,
    path: String,
    host: IpAddr,
    timeout: Duration,
    clock: Clock,
}

impl Default for LoopbackBuilder {
    fn default() -> Self {
        Self {
            port: 0,
            path: "/callback".to_owned(),
            host: Ipv4Addr::LOCALHOST.into(),
            // As long as a pending login is good.
            timeout: Duration::from_secs(600),
            clock: Clock::system(),
        }
    }
}

impl LoopbackBuilder {
    /// The port, for identity providers that know the callback to the letter; a free one unless set.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The path of the callback; `/callback` unless set.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Listens on `[::1]` instead of 127.0.0.1.
    pub fn ipv6(mut self) -> Self {
        self.host = Ipv6Addr::LOCALHOST.into();
        self
    }

    /// How long to wait for the browser; ten minutes unless set, after which a login is not good any more anyway.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// The clock by which the waiting ends.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Takes the port.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the port is taken or the path is not one of an address.
    pub async fn bind(self) -> Result<Loopback> {
        let failed = |source| Error::config("the port cannot be listened on").with_source(source);
        let listener = TcpListener::bind((self.host, self.port))
            .await
            .map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let redirect_uri = Url::parse(&format!("http://{address}{}", self.path))
            .ok()
            .filter(|url| self.path.starts_with('/') && url.path() == self.path)
            .filter(|url| url.query().is_none() && url.fragment().is_none())
            .ok_or_else(|| Error::config("the path of the callback is not one of an address"))?;
        Ok(Loopback::new(
            listener,
            redirect_uri,
            self.timeout,
            self.clock,
        ))
    }
}
