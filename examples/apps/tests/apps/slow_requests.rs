//! The server of `web_form` and `web_login` with clients that send slowly.

use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, timeout};

use super::bodies::{BODY_TIMEOUT, read_body};
use super::connections::{HEAD_TIMEOUT, serve, serve_connection};

fn app() -> Router {
    let page = get(|| async { "page" }).post(|body: String| async { body });
    Router::new().route("/", page).layer(from_fn(read_body))
}

/// An occasional byte must not keep a connection open.
#[tokio::test(start_paused = true)]
async fn what_is_not_complete_in_time_ends_the_connection() {
    for (head, limit, status) in [
        ("GET / HTTP/1.1\r\nhost: a\r\nx: ", HEAD_TIMEOUT, ""),
        (
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 999\r\n\r\n",
            BODY_TIMEOUT,
            "HTTP/1.1 408",
        ),
    ] {
        ends_after(head, limit, status).await;
    }
}

async fn ends_after(head: &str, limit: Duration, status: &str) {
    let (client, stream) = duplex(1_024);
    let (_running, stopping) = watch::channel(());
    tokio::spawn(serve_connection(stream, app(), stopping));
    let begun = Instant::now();
    let (mut reader, mut writer) = split(client);
    let slowly = async {
        writer.write_all(head.as_bytes()).await.unwrap();
        loop {
            sleep(limit / 10).await;
            // The server may have closed the connection.
            let _ = writer.write_all(b"a").await;
        }
    };
    let mut received = Vec::new();
    let reading = timeout(3 * limit, reader.read_to_end(&mut received));
    tokio::select! {
        _ = reading => {}
        () = slowly => {}
    }
    let taken = begun.elapsed();
    assert!(taken >= limit && taken < 2 * limit, "{taken:?}");
    assert!(received.starts_with(status.as_bytes()), "{received:?}");
    assert!(!received.starts_with(b"HTTP/1.1 200"), "{received:?}");
}

#[tokio::test]
async fn a_stop_ends_idle_connections_and_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(serve(listener, app(), async { drop(stopped.await) }));
    client
        .write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .await
        .unwrap();
    let mut start = [0; 12];
    client.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    drop(stop);
    server.await.unwrap();
}
