//! A TCP proxy that a test can pause and disconnect, and that counts requests, round trips and statements.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use envd_sdk::fake::Fake;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use url::Url;

use super::process::{Process, within};
use super::statements::Statements;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Pass,
    /// Holds back data from clients.
    HoldRequests,
    /// Holds back data from the server.
    HoldReplies,
    /// Closes connections and refuses new ones.
    Cut,
}

#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    target: (String, u16),
    mode: watch::Sender<Mode>,
    /// Counts cuts, so that a connection ends even if the next mode follows immediately.
    cuts: watch::Sender<usize>,
    stopped: Semaphore,
    round_trips: AtomicUsize,
    unwaited: AtomicUsize,
    statements: AtomicUsize,
    /// The number of statements that may still pass before requests are held back.
    left: AtomicUsize,
    /// The number of the statement whose reply is held back.
    held_reply: AtomicUsize,
    /// The number of statements without a reply at the server.
    open: watch::Sender<usize>,
    replies: Mutex<Vec<u8>>,
}

impl Proxy {
    /// Starts in front of a Postgres server, in tasks of this runtime.
    pub async fn start(host: &str, port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            target: (host.to_owned(), port),
            mode: watch::Sender::new(Mode::Pass),
            cuts: watch::Sender::new(0),
            stopped: Semaphore::new(0),
            round_trips: AtomicUsize::new(0),
            unwaited: AtomicUsize::new(0),
            statements: AtomicUsize::new(0),
            left: AtomicUsize::new(usize::MAX),
            held_reply: AtomicUsize::new(usize::MAX),
            open: watch::Sender::new(0),
            replies: Mutex::default(),
        });
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(shared.clone().connection(client));
            }
        });
        Self { address, state }
    }

    /// Starts in front of a fake. A POST counts as a statement.
    pub async fn of(fake: &Fake) -> Self {
        let port = fake.graphql_url().port().unwrap();
        Self::start("127.0.0.1", port).await
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL through the proxy.
    pub fn through(&self, mut url: Url) -> String {
        url.set_port(Some(self.address.port())).unwrap();
        url.to_string()
    }

    /// Sets the mode, and resets [`hold_after`](Self::hold_after) and [`hold_reply`](Self::hold_reply).
    pub fn set(&self, mode: Mode) {
        self.state.left.store(usize::MAX, Ordering::SeqCst);
        self.state.held_reply.store(usize::MAX, Ordering::SeqCst);
        // Cut first, so that held data does not pass when the mode changes.
        if mode == Mode::Cut {
            self.state.cuts.send_modify(|cuts| *cuts += 1);
        }
        self.state.mode.send_replace(mode);
    }

    /// Lets this number of statements pass, then holds requests back.
    pub fn hold_after(&self, statements: usize) {
        self.state.stopped.forget_permits(usize::MAX);
        self.state.left.store(statements, Ordering::SeqCst);
    }

    /// Holds back the reply to this statement, counted from 1, and all later replies.
    pub fn hold_reply(&self, statement: usize) {
        self.state.held_reply.store(statement, Ordering::SeqCst);
    }

    /// The number of statements so far; several in one message count as one.
    pub fn statements(&self) -> usize {
        self.state.statements.load(Ordering::SeqCst)
    }

    /// The data that the server has sent since the last call.
    pub fn take_replies(&self) -> String {
        let replies = std::mem::take(&mut *self.state.replies.lock().unwrap());
        String::from_utf8_lossy(&replies).into_owned()
    }

    /// Waits until data is held back.
    pub async fn stopped(&self) {
        let stopped = within("what the proxy holds back", self.state.stopped.acquire());
        stopped.await.unwrap().forget();
    }

    /// Like [`stopped`](Self::stopped), but fails if the program ends first.
    pub async fn stopped_for(&self, program: &mut Process) {
        let is_stopped = || {
            self.state
                .stopped
                .try_acquire()
                .map(SemaphorePermit::forget)
        };
        let waits = async {
            while is_stopped().is_err() {
                assert!(!program.has_ended(), "the program has ended");
                tokio::task::yield_now().await;
            }
        };
        within("a request that the proxy holds back", waits).await;
    }

    /// Waits until the server has no more statements or requests to carry out.
    pub async fn settle(&self) {
        let mut open = self.state.open.subscribe();
        let settled = open.wait_for(|open| *open == 0);
        within("the server's last reply", settled).await.unwrap();
    }

    /// The number of round trips that do not end transactions, and the number of those that do.
    pub fn round_trips(&self) -> (usize, usize) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        (count(&self.state.round_trips), count(&self.state.unwaited))
    }
}

/// The state that both directions of a connection share.
#[derive(Default)]
struct Direction {
    asking: AtomicBool,
    /// The numbers of the statements without a reply.
    open: Mutex<Vec<usize>>,
}

impl State {
    /// Counts a statement. Returns true if no more statements may pass.
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

    async fn connection(self: Arc<Self>, client: TcpStream) {
        let mut cut = self.cuts.subscribe();
        if *self.mode.borrow() == Mode::Cut {
            return;
        }
        let Ok(server) = TcpStream::connect(&self.target).await else {
            return;
        };
        // Disables Nagle's algorithm, so that small messages are sent immediately.
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let both = Direction::default();
        let is_cut = cut.clone();
        let asking = async {
            let _ = self
                .requests(&mut from_client, &mut to_server, &both, &is_cut)
                .await;
            // The server may still process what it has received; the connection ends with its reply.
            let _ = to_server.shutdown().await;
            if both.open.lock().unwrap().is_empty() {
                return;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = cut.changed() => {}
            () = asking => {}
            _ = self.replies(&mut from_server, &mut to_client, &both, &is_cut) => {}
        }
        let open = std::mem::take(&mut *both.open.lock().unwrap());
        self.open.send_modify(|all| *all -= open.len());
    }

    async fn requests(
        &self,
        from: &mut (impl AsyncReadExt + Unpin),
        to: &mut (impl AsyncWriteExt + Unpin),
        both: &Direction,
        cut: &watch::Receiver<usize>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        let mut statements = Statements::default();
        loop {
            let size = from.read(&mut buffer).await?;
            if size == 0 {
                return Ok(());
            }
            let mut passed = 0;
            let mut numbers = Vec::new();
            for end in statements.ends(&buffer[..size]) {
                if self.is_used_up() {
                    to.write_all(&buffer[passed..end.start]).await?;
                    passed = end.start;
                    self.mode.send_replace(Mode::HoldRequests);
                    break;
                }
                numbers.push(self.statements.fetch_add(1, Ordering::SeqCst) + 1);
            }
            if !both.asking.swap(true, Ordering::SeqCst) {
                let mut windows = buffer[..size].windows(8);
                let ends = windows.any(|window| window == b"ROLLBACK");
                let counter = if ends {
                    &self.unwaited
                } else {
                    &self.round_trips
                };
                counter.fetch_add(1, Ordering::SeqCst);
            }
            self.hold(Mode::HoldRequests).await;
            // No data passes after the cut, whichever branch of `connection` ends first.
            if cut.has_changed().unwrap_or(true) {
                return Ok(());
            }
            self.open.send_modify(|all| *all += numbers.len());
            both.open.lock().unwrap().extend(numbers);
            to.write_all(&buffer[passed..size]).await?;
        }
    }

    async fn replies(
        &self,
        from: &mut (impl AsyncReadExt + Unpin),
        to: &mut (impl AsyncWriteExt + Unpin),
        both: &Direction,
        cut: &watch::Receiver<usize>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let size = from.read(&mut buffer).await?;
            if size == 0 {
                return Ok(());
            }
            self.replies.lock().unwrap().extend(&buffer[..size]);
            both.asking.store(false, Ordering::SeqCst);
            let answered = std::mem::take(&mut *both.open.lock().unwrap());
            self.open.send_modify(|all| *all -= answered.len());
            if answered.contains(&self.held_reply.load(Ordering::SeqCst)) {
                self.mode.send_replace(Mode::HoldReplies);
            }
            self.hold(Mode::HoldReplies).await;
            if cut.has_changed().unwrap_or(true) {
                return Ok(());
            }
            to.write_all(&buffer[..size]).await?;
        }
    }

    /// Waits while this mode is set.
    async fn hold(&self, hold: Mode) {
        let mut modes = self.mode.subscribe();
        if *modes.borrow_and_update() == hold {
            self.stopped.add_permits(1);
            let _ = modes.wait_for(|mode| *mode != hold).await;
        }
    }
}
