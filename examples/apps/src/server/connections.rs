//! The connections of a web application, with a time limit for the head of each request.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A browser sends the head of a request at once. Without a limit, clients that send a byte now and then fill the server.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// Serves until `stop` is there; then the requests that have begun end. `axum::serve` has no time limits.
pub(crate) async fn serve(listener: TcpListener, app: Router, stop: impl Future<Output = ()>) {
    let (running, stopping) = watch::channel(());
    let (mut connections, mut stop) = (JoinSet::new(), pin!(stop));
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, app.clone(), stopping.clone()));
                }
                // Such as too many open files: a moment later it may work again.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            Some(_) = connections.join_next() => {}
            () = stop.as_mut() => break,
        }
    }
    drop(running);
    while connections.join_next().await.is_some() {}
}

pub(crate) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    app: Router,
    mut stopping: watch::Receiver<()>,
) {
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    let mut http1 = builder.http1();
    http1
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT);
    let service = TowerToHyperService::new(app);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // A connection that ends in an error has ended as well.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
