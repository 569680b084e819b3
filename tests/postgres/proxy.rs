//! A TCP proxy that a test can pause and disconnect, and that counts round trips and statements.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use envd_sdk::fake::Fake;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::wire::Statements;

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
    /// Counts cuts, so that a connection ends however soon the next mode follows.
    cuts: watch::Sender<usize>,
    stopped: Semaphore,
    round_trips: AtomicUsize,
    unwaited: AtomicUsize,
    statements: AtomicUsize,
    /// After so many statements, requests are held back.
    left: AtomicUsize,
    replies: Mutex<Vec<u8>>,
}

impl Proxy {
    pub(super) async fn start(host: &str, port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            mode: watch::Sender::new(Mode::Pass),
            cuts: watch::Sender::new(0),
            stopped: Semaphore::new(0),
            round_trips: AtomicUsize::new(0),
            unwaited: AtomicUsize::new(0),
            statements: AtomicUsize::new(0),
            left: AtomicUsize::new(usize::MAX),
            replies: Mutex::default(),
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

    /// Also ends what [`hold_after`](Self::hold_after) has set.
    pub(super) fn set(&self, mode: Mode) {
        self.state.left.store(usize::MAX, Ordering::SeqCst);
        // First, so that what was held back does not pass when the mode changes.
        if mode == Mode::Cut {
            self.state.cuts.send_modify(|cuts| *cuts += 1);
        }
        self.state.mode.send_replace(mode);
    }

    /// Passes so many more statements to the server, and holds requests back then.
    pub(super) fn hold_after(&self, statements: usize) {
        self.state.stopped.forget_permits(usize::MAX);
        self.state.left.store(statements, Ordering::SeqCst);
    }

    /// The number of statements so far; several in one message count as one.
    pub(super) fn statements(&self) -> usize {
        self.state.statements.load(Ordering::SeqCst)
    }

    /// What the server has sent since this was called last.
    pub(super) fn take_replies(&self) -> String {
        let replies = std::mem::take(&mut *self.state.replies.lock().unwrap());
        String::from_utf8_lossy(&replies).into_owned()
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
    /// Takes one of the statements that may pass.
    fn is_used_up(&self) -> bool {
        let take = |left: usize| match left {
            usize::MAX => Some(left),
            left => left.checked_sub(1),
        };
        let taken = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        taken.is_err()
    }

    async fn connection(self: Arc<Self>, client: TcpStream, target: (String, u16)) {
        let mut cut = self.cuts.subscribe();
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
        let is_cut = cut.clone();
        tokio::select! {
            _ = cut.changed() => {}
            _ = self.pump(&mut from_client, &mut to_server, &asking, &is_cut, true) => {}
            _ = self.pump(&mut from_server, &mut to_client, &asking, &is_cut, false) => {}
        }
    }

    async fn pump(
        &self,
        from: &mut (impl AsyncReadExt + Unpin),
        to: &mut (impl AsyncWriteExt + Unpin),
        asking: &AtomicBool,
        cut: &watch::Receiver<usize>,
        requests: bool,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        let hold = if requests {
            Mode::HoldRequests
        } else {
            Mode::HoldReplies
        };
        let mut modes = self.mode.subscribe();
        let mut statements = Statements::default();
        loop {
            let size = from.read(&mut buffer).await?;
            if size == 0 {
                return Ok(());
            }
            let mut passed = 0;
            if requests {
                for end in statements.ends(&buffer[..size]) {
                    if self.is_used_up() {
                        to.write_all(&buffer[passed..end.start]).await?;
                        passed = end.start;
                        self.mode.send_replace(Mode::HoldRequests);
                        break;
                    }
                    self.statements.fetch_add(1, Ordering::SeqCst);
                }
            } else {
                self.replies.lock().unwrap().extend(&buffer[..size]);
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
            if cut.has_changed().unwrap_or(true) {
                return Ok(());
            }
            to.write_all(&buffer[passed..size]).await?;
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
