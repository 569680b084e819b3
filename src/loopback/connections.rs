//! The connections of the browser, and of other programs.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use url::Url;
use zeroize::Zeroizing;

use super::request::{Response, callback_query};
use crate::auth::PendingLogin;
use crate::secret::Secret;
use crate::transport::Clock;

/// Codes and states are short; browsers send a few hundred bytes of headers beside them.
const MAX_HEAD_BYTES: usize = 16 * 1_024;

/// A browser sends its request at once, or opens a connection ahead of time and leaves it silent.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// More connections than any browser opens to one host.
const MAX_CONNECTIONS: usize = 32;

/// A request for the callback address, with its connection.
pub(super) struct Callback {
    pub(super) stream: TcpStream,
    pub(super) query: Secret,
}

/// Waits for the first callback with the state of the login.
pub(super) async fn receive_callback(
    listener: &TcpListener,
    redirect_uri: &Url,
    login: &PendingLogin,
    clock: &Clock,
) -> Callback {
    let (sender, mut callbacks) = mpsc::channel(1);
    let mut connections = Connections::default();
    loop {
        match select(pin!(callbacks.recv()), pin!(listener.accept())).await {
            Either::Left((Some(callback), _)) => {
                let callback: Callback = callback;
                if login.expects(callback.query.expose()) {
                    return callback;
                }
                let clock = clock.clone();
                connections.spawn(async move {
                    let refusal = Response::OtherLogin.to_http();
                    respond(callback.stream, refusal, &clock).await;
                });
            }
            // Never: `sender` is alive.
            Either::Left((None, _)) => {}
            Either::Right((Ok((stream, _)), _)) => {
                let (uri, sender, clock) = (redirect_uri.clone(), sender.clone(), clock.clone());
                connections.spawn(serve(stream, uri, sender, clock));
            }
            // Such as too many open files: a moment later it may work again.
            Either::Right((Err(_), _)) => clock.sleep(Duration::from_millis(100)).await,
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
        if self.oldest_first.len() >= MAX_CONNECTIONS
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            oldest.abort();
        }
        self.oldest_first.push_back(self.tasks.spawn(task));
    }
}

/// Reads one request, and hands on a callback or refuses the request.
async fn serve(
    mut stream: TcpStream,
    redirect_uri: Url,
    callbacks: mpsc::Sender<Callback>,
    clock: Clock,
) {
    let reading = read(&mut stream, &redirect_uri);
    match clock.within(REQUEST_TIMEOUT, reading).await {
        Some(Some(Ok(query))) => {
            // OK to ignore: then the login is over.
            let _ = callbacks.send(Callback { stream, query }).await;
        }
        Some(Some(Err(response))) => respond(stream, response.to_http(), &clock).await,
        // The connection ended before the request.
        Some(None) => {}
        None => respond(stream, Response::TooSlow.to_http(), &clock).await,
    }
}

/// The query of a callback, or the response to another request; `None` when the connection ends before the request does.
async fn read(stream: &mut TcpStream, redirect_uri: &Url) -> Option<Result<Secret, Response>> {
    // Of the full size from the start, so that no copy of the code is left behind when it grows.
    let mut head = Zeroizing::new(Vec::with_capacity(MAX_HEAD_BYTES));
    loop {
        let before = head.len();
        if before == MAX_HEAD_BYTES {
            return Some(Err(Response::TooLarge));
        }
        if stream.read_buf(&mut *head).await.ok()? == 0 {
            return None;
        }
        // A head ends with a line.
        if head[before..].contains(&b'\n')
            && let Some(request) = callback_query(&head, redirect_uri)
        {
            return Some(request);
        }
    }
}

/// Sends a response and closes the connection. A browser that is gone needs none.
pub(super) async fn respond(mut stream: TcpStream, response: String, clock: &Clock) {
    let writing = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    };
    clock.within(REQUEST_TIMEOUT, writing).await;
}
