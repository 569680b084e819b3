//! Waits for the browser.

use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use url::{Position, Url};
use zeroize::Zeroizing;

use super::LoopbackBuilder;
use super::browser::open_login_page;
use super::login_page::LoginPage;
use super::page::Page;
use super::request::{Call, Expected, LONGEST_HEAD};
use crate::auth::{CheckedCallback, PendingLogin};
use crate::error::{AuthProblem, Error, Kind, Result};
use crate::secret::Secret;
use crate::transport::{Clock, First, first};

/// A browser sends its request at once, or opens a connection ahead of time and leaves it silent.
const SLOWEST_REQUEST: Duration = Duration::from_secs(10);

/// More connections than any browser opens to one host.
const MOST_CONNECTIONS: usize = 32;

/// Listens on the loopback address for the callback of one login.
pub struct Loopback {
    pub(super) listener: TcpListener,
    redirect_uri: Url,
    timeout: Duration,
    clock: Clock,
    /// Deleted with the listener.
    login_page: Option<LoginPage>,
}

/// A request for the callback's address, with the connection on which it is answered.
struct Visit {
    stream: TcpStream,
    query: Secret,
}

impl Loopback {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when no port can be had.
    pub async fn bind() -> Result<Self> {
        Self::builder().bind().await
    }

    /// Settings before the start.
    pub fn builder() -> LoopbackBuilder {
        LoopbackBuilder::default()
    }

    pub(super) fn new(
        listener: TcpListener,
        redirect_uri: Url,
        timeout: Duration,
        clock: Clock,
    ) -> Self {
        Self {
            listener,
            redirect_uri,
            timeout,
            clock,
            login_page: None,
        }
    }

    /// The address to hand to [`ProviderBuilder::redirect_uri`](crate::auth::ProviderBuilder::redirect_uri), such as
    /// `http://127.0.0.1:49152/callback`.
    #[must_use]
    pub fn redirect_uri(&self) -> &Url {
        &self.redirect_uri
    }

    /// Opens the address of a login in the user's browser, without showing it to other users of the machine.
    ///
    /// The arguments of a process are visible to all of them, so the browser is given a file that redirects: only its
    /// owner can read it, and it is deleted when the listener ends, or by the next login if the program is killed. It stands in the home directory, because browsers that
    /// come as a snap can read no hidden files and no temporary ones; where that cannot be written to, in the runtime
    /// directory (`XDG_RUNTIME_DIR`) or the temporary directory. The program that opens it is the one that the variable
    /// `BROWSER` names, or the system's choice for HTML files.
    ///
    /// Show the user the address as well: a browser that does not open, or cannot read the file, is not noticed here.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the file cannot be written, or this machine has no way to open a browser.
    pub async fn open_browser(&mut self, login: &PendingLogin) -> Result<()> {
        self.login_page = Some(open_login_page(login.url()).await?);
        Ok(())
    }

    /// Waits for the callback of a login, checks it, and tells the user in the browser that the program goes on.
    ///
    /// Only a request with the `state` of the login ends the waiting; all others are refused and change nothing. The
    /// port is free when this returns or is dropped.
    ///
    /// # Errors
    ///
    /// As [`PendingLogin::check`]; also [`is_login_refused`](Error::is_login_refused) when the browser does not come
    /// back in time, and [`is_config`](Error::is_config) when the login would send it to another address.
    pub async fn receive(self, login: PendingLogin) -> Result<CheckedCallback> {
        let mut pairs = login.url().query_pairs();
        let ours =
            |(name, value): (_, _)| name == "redirect_uri" && value == self.redirect_uri.as_str();
        if !pairs.any(ours) {
            return Err(Error::config(
                "the login has another redirect_uri than the listener",
            ));
        }
        let visit = match first(pin!(self.visit(&login)), self.clock.sleep(self.timeout)).await {
            First::Left(visit) => visit,
            First::Right(()) => {
                let code = "no_callback_in_time".to_owned();
                return Err(Error::new(Kind::Auth(AuthProblem::LoginRefused { code })));
            }
        };
        let checked = login.check(visit.query.expose());
        let page = match &checked {
            Ok(_) => Page::Done,
            Err(_) => Page::Refused,
        };
        answer(visit.stream, page, &self.clock).await;
        checked
    }

    /// The first request that is of the login.
    async fn visit(&self, login: &PendingLogin) -> Visit {
        let (found, mut visits) = mpsc::channel(1);
        let mut connections = Connections::default();
        loop {
            let visit = match first(pin!(visits.recv()), self.listener.accept()).await {
                First::Left(visit) => visit,
                First::Right(Ok((stream, _))) => {
                    let expected = Expected::of(&self.redirect_uri);
                    let (found, clock) = (found.clone(), self.clock.clone());
                    connections.spawn(serve(stream, expected, found, clock));
                    continue;
                }
                // Such as too many open files: a moment later it may work again.
                First::Right(Err(_)) => {
                    self.clock.sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            // Always there: this function holds a sender.
            let Some(visit) = visit else { continue };
            if login.expects(visit.query.expose()) {
                return visit;
            }
            let clock = self.clock.clone();
            connections.spawn(async move { answer(visit.stream, Page::NotOurs, &clock).await });
        }
    }
}

/// Each connection has a task of its own, so that a silent one delays no other; all end with this set.
#[derive(Default)]
struct Connections {
    tasks: JoinSet<()>,
    oldest_first: VecDeque<AbortHandle>,
}

impl Connections {
    /// When there are too many, the oldest ends: a browser sends at once, so that one is the least likely to be the
    /// callback.
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        self.oldest_first.retain(|task| !task.is_finished());
        if self.oldest_first.len() >= MOST_CONNECTIONS
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            oldest.abort();
        }
        self.oldest_first.push_back(self.tasks.spawn(task));
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loopback")
            .field("redirect_uri", &self.redirect_uri.as_str())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Reads one request and answers it, unless it may be the callback.
async fn serve(
    mut stream: TcpStream,
    expected: Expected,
    found: mpsc::Sender<Visit>,
    clock: Clock,
) {
    let limit = clock.sleep(SLOWEST_REQUEST);
    let call = match first(pin!(read(&mut stream, &expected)), limit).await {
        First::Left(call) => call,
        First::Right(()) => Some(Call::Other(Page::TooSlow)),
    };
    match call {
        Some(Call::Callback(query)) => {
            // OK to ignore: then the login is over.
            let _ = found.send(Visit { stream, query }).await;
        }
        Some(Call::Other(page)) => answer(stream, page, &clock).await,
        None => {}
    }
}

/// `None` when the connection ends before the request does.
async fn read(stream: &mut TcpStream, expected: &Expected) -> Option<Call> {
    // Of the full size from the start, so that no copy of the code is left behind when it grows.
    let mut head = Zeroizing::new(Vec::with_capacity(LONGEST_HEAD));
    loop {
        let before = head.len();
        if before == LONGEST_HEAD {
            return Some(Call::Other(Page::TooLarge));
        }
        if stream.read_buf(&mut *head).await.ok()? == 0 {
            return None;
        }
        // A head ends with a line.
        if head[before..].contains(&b'\n')
            && let Some(call) = expected.judge(&head)
        {
            return Some(call);
        }
    }
}

/// Answers and closes. That the browser is gone is its own affair.
async fn answer(mut stream: TcpStream, page: Page, clock: &Clock) {
    let text = page.response();
    let writing = pin!(async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await
    });
    first(writing, clock.sleep(SLOWEST_REQUEST)).await;
}

impl Expected {
    fn of(redirect_uri: &Url) -> Self {
        let host = &redirect_uri[Position::BeforeHost..Position::AfterPort];
        Self::new(host, redirect_uri.path())
    }
}
