//! The sockets of a listener: one, or one per address of a name.

use std::future::poll_fn;
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use tokio::net::{TcpListener, TcpStream, lookup_host};

/// A port that is free on one address family is nearly always free on the other.
const MAX_PORTS_TRIED: usize = 20;

/// The host name or address where a browser finds the listener.
#[derive(Clone, Debug)]
pub(super) enum Host {
    Ip(IpAddr),
    /// `localhost`, or a name below it (RFC 6761 section 6.3): 127.0.0.1, `[::1]` or both, in an order that the browser chooses.
    Localhost,
    /// Another name, which must resolve to loopback addresses.
    Name(String),
}

/// Listens on one port of one or two loopback addresses.
#[derive(Debug)]
pub(super) struct Sockets {
    pub(super) all: Vec<TcpListener>,
    accepted: AtomicUsize,
}

impl Sockets {
    /// Binds the sockets. Port 0 selects a free port.
    pub(super) async fn bind(host: &Host, port: u16) -> Result<Self> {
        let all = match host {
            Host::Ip(ip) => vec![TcpListener::bind((*ip, port)).await?],
            Host::Localhost => bind_localhost(port).await?,
            Host::Name(name) => bind_resolved(name, port).await?,
        };
        Ok(Self {
            all,
            accepted: AtomicUsize::new(0),
        })
    }

    pub(super) fn port(&self) -> Result<u16> {
        match self.all.first() {
            Some(socket) => Ok(socket.local_addr()?.port()),
            // Unreachable: binding fails if there is no socket.
            None => Err(Error::from(ErrorKind::AddrNotAvailable)),
        }
    }

    /// Waits for a connection to any socket. Cancel-safe.
    pub(super) async fn accept(&self) -> Result<TcpStream> {
        // Rotates the starting socket, so that a flood on one does not starve the other.
        let turn = self.accepted.fetch_add(1, Ordering::Relaxed);
        poll_fn(|context| {
            let count = self.all.len();
            let in_turn = self.all.iter().cycle().skip(turn % count.max(1));
            for socket in in_turn.take(count) {
                if let Poll::Ready(accepted) = socket.poll_accept(context) {
                    return Poll::Ready(accepted.map(|(stream, _)| stream));
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Binds all addresses of a name. Fails for an address outside this machine, which would receive the login.
async fn bind_resolved(name: &str, port: u16) -> Result<Vec<TcpListener>> {
    let resolved = lookup_host((name, port)).await?;
    let mut ips: Vec<IpAddr> = resolved.map(|address| address.ip()).collect();
    ips.sort_unstable();
    ips.dedup();
    if ips.is_empty() || !ips.iter().all(IpAddr::is_loopback) {
        let what = "the name does not resolve to loopback addresses alone";
        return Err(Error::new(ErrorKind::AddrNotAvailable, what));
    }
    let mut all = Vec::new();
    let mut port = port;
    for ip in ips {
        let socket = TcpListener::bind((ip, port)).await?;
        port = socket.local_addr()?.port();
        all.push(socket);
    }
    Ok(all)
}

async fn bind_localhost(port: u16) -> Result<Vec<TcpListener>> {
    let mut tried = 0;
    loop {
        tried += 1;
        match bind_both(port).await {
            Err(error) if is_taken(&error) && port == 0 && tried < MAX_PORTS_TRIED => {}
            bound => return bound,
        }
    }
}

/// Binds both address families, or one if the machine lacks the other. Rejects a port that another program uses in one family:
/// the browser may send the callback there.
async fn bind_both(port: u16) -> Result<Vec<TcpListener>> {
    let v4 = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let port = match &v4 {
        Ok(v4) => v4.local_addr()?.port(),
        Err(_) => port,
    };
    let v6 = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await;
    match (v4, v6) {
        (Err(error), _) | (_, Err(error)) if is_taken(&error) => Err(error),
        (Ok(v4), Ok(v6)) => Ok(vec![v4, v6]),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(vec![one]),
        (Err(error), Err(_)) => Err(error),
    }
}

fn is_taken(error: &Error) -> bool {
    error.kind() == ErrorKind::AddrInUse
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::task::yield_now;

    use super::*;
    use crate::error::tests::assert_fails;
    use crate::loopback::Loopback;
    use crate::loopback::tests::{login, state};
    use crate::transport::Clock;

    const ADDRESSES: [IpAddr; 2] = [
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
    ];

    /// The response to a request for this target.
    async fn get(address: (IpAddr, u16), host: &str, target: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    /// RFC 8252 section 8.3 advises against `localhost`, but some providers allow nothing else.
    #[tokio::test]
    async fn a_callback_to_localhost_is_received_by_either_kind_of_address() {
        for address in ADDRESSES {
            // A machine may lack one address family.
            if TcpListener::bind((address, 0)).await.is_err() {
                continue;
            }
            let builder = Loopback::builder().redirect_uri("http://localhost:0/callback");
            let listener = builder.bind().await.unwrap();
            let uri = listener.redirect_uri().clone();
            let host = uri.authority();
            let port = uri.port().unwrap();
            assert_eq!(host, format!("localhost:{port}"));
            assert_eq!(uri.path(), "/callback");
            let login = login(uri.as_str(), &Clock::system());
            let target = format!("/callback?code=c0d3&state={}", state(&login));
            let receiving = tokio::spawn(listener.receive(login));
            for other in [format!("{address}:{port}"), "evil.example".to_owned()] {
                let response = get((address, port), &other, &target).await;
                assert!(response.starts_with("HTTP/1.1 400"), "{other}: {response}");
            }
            let response = get((address, port), host, &target).await;
            assert!(response.starts_with("HTTP/1.1 200"), "{response}");
            receiving.await.unwrap().unwrap();
        }
    }

    /// Otherwise the program on the other address family would get the code.
    #[tokio::test]
    async fn a_port_of_which_another_program_has_one_half_is_refused() {
        for address in ADDRESSES {
            let Ok(other) = TcpListener::bind((address, 0)).await else {
                continue;
            };
            let port = other.local_addr().unwrap().port();
            let taken = format!("http://localhost:{port}/callback");
            let bound = Loopback::builder().redirect_uri(taken).bind().await;
            assert_fails(bound, "Config");
        }
    }

    #[tokio::test]
    async fn a_name_is_listened_on_where_it_resolves_to_this_machine() {
        let name = |name: &str| Host::Name(name.to_owned());
        let sockets = Sockets::bind(&name("localhost"), 0).await.unwrap();
        let port = sockets.port().unwrap();
        for socket in &sockets.all {
            let address = socket.local_addr().unwrap();
            assert!(address.ip().is_loopback() && address.port() == port);
        }
        // An address outside this machine (RFC 5737), the wildcard address, and a name that never resolves (RFC 6761).
        for other in ["192.0.2.1", "0.0.0.0", "login.invalid"] {
            assert!(Sockets::bind(&name(other), 0).await.is_err(), "{other}");
        }
    }

    #[tokio::test]
    async fn connections_to_one_address_do_not_hold_up_those_to_the_other() {
        let sockets = Sockets::bind(&Host::Localhost, 0).await.unwrap();
        let port = sockets.port().unwrap();
        if sockets.all.len() < 2 {
            return;
        }
        let mut flood = Vec::new();
        for _ in 0..10 {
            flood.push(TcpStream::connect((ADDRESSES[0], port)).await.unwrap());
        }
        let browser = TcpStream::connect((ADDRESSES[1], port)).await.unwrap();
        let browser = browser.local_addr().unwrap();
        let mut peers = Vec::new();
        for _ in 0..6 {
            // Lets the runtime notice what has arrived.
            yield_now().await;
            peers.push(sockets.accept().await.unwrap().peer_addr().unwrap());
        }
        assert!(peers.contains(&browser), "{peers:?}");
    }
}
