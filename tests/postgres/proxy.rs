//! A TCP proxy that a test can pause and disconnect, and that counts round trips.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use envd_sdk::fake::Fake;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Pass,
    /// Data from clients is held back.
    HoldRequests,
    /// Data from the server is held back.
    HoldReplies,
    /// Connections end, and new ones are refused.
    Cut,
}

pub(super) struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    mode: watch::Sender<Mode>,
    stopped: Semaphore,
    round_trips: AtomicUsize,
    unwaited: AtomicUsize,
}

impl Proxy {
    pub(super) async fn start(host: &str, port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            mode: watch::Sender::new(Mode::Pass),
            stopped: Semaphore::new(0),
            round_trips: AtomicUsize::new(0),
            unwaited: AtomicUsize::new(0),
        });
        let (target, shared) = ((host.to_owned(), port), state.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(shared.clone().connection(client, target.clone()));
            }
        });
        Self { address, state }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn set(&self, mode: Mode) {
        self.state.mode.send_replace(mode);
    }

    /// Waits until data is held back.
    pub(super) async fn stopped(&self) {
        self.state.stopped.acquire().await.unwrap().forget();
    }

    /// The number of round trips without those that end transactions, and the number of those.
    pub(super) fn round_trips(&self) -> (usize, usize) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        (count(&self.state.round_trips), count(&self.state.unwaited))
    }
}

impl State {
    async fn connection(self: Arc<Self>, client: TcpStream, target: (String, u16)) {
        if *self.mode.borrow() == Mode::Cut {
            return;
        }
        let Ok(server) = TcpStream::connect(target).await else {
            return;
        };
        // Disables Nagle's algorithm: small messages are sent at once.
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let asking = AtomicBool::new(false);
        let mut modes = self.mode.subscribe();
        tokio::select! {
            _ = modes.wait_for(|mode| *mode == Mode::Cut) => {}
            _ = self.pump(&mut from_client, &mut to_server, &asking, true) => {}
            _ = self.pump(&mut from_server, &mut to_client, &asking, false) => {}
        }
    }

    async fn pump(
        &self,
        from: &mut (impl AsyncReadExt + Unpin),
        to: &mut (impl AsyncWriteExt + Unpin),
        asking: &AtomicBool,
        requests: bool,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        let hold = if requests {
            Mode::HoldRequests
        } else {
            Mode::HoldReplies
        };
        let mut modes = self.mode.subscribe();
        loop {
            let size = from.read(&mut buffer).await?;
            if size == 0 {
                return Ok(());
            }
            let began = asking.swap(requests, Ordering::SeqCst) != requests && requests;
            if began {
                let ends = buffer[..size]
                    .windows(8)
                    .any(|window| window == b"ROLLBACK");
                let counter = if ends {
                    &self.unwaited
                } else {
                    &self.round_trips
                };
                counter.fetch_add(1, Ordering::SeqCst);
            }
            if *modes.borrow_and_update() == hold {
                self.stopped.add_permits(1);
                let _ = modes.wait_for(|mode| *mode != hold).await;
            }
            // No data passes after the cut, whichever branch of `connection` ends first.
            if *self.mode.borrow() == Mode::Cut {
                return Ok(());
            }
            to.write_all(&buffer[..size]).await?;
        }
    }
}

/// A proxy in front of the fake, and the token URL through it.
pub(super) async fn network(fake: &Fake) -> (Proxy, String) {
    let mut url = fake.token_url();
    let proxy = Proxy::start("127.0.0.1", url.port().unwrap()).await;
    url.set_port(Some(proxy.address().port())).unwrap();
    (proxy, url.to_string())
}
