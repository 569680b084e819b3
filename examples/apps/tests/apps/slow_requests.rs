//! The server of `web_form` and `web_login` with clients that send slowly.

use axum::Router;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, timeout};

use super::connections::{HEAD_TIMEOUT, serve, serve_connection};

fn app() -> Router {
    Router::new().route("/", get(|| async { "page" }))
}

/// A byte now and then keeps a connection busy, and does not keep it open.
#[tokio::test(start_paused = true)]
async fn a_head_that_is_not_complete_in_time_ends_the_connection() {
    let (client, stream) = duplex(1_024);
    let (_running, stopping) = watch::channel(());
    tokio::spawn(serve_connection(stream, app(), stopping));
    let begun = Instant::now();
    let (mut reader, mut writer) = split(client);
    let slowly = async {
        writer
            .write_all(b"GET / HTTP/1.1\r\nhost: a\r\nx: ")
            .await
            .unwrap();
        loop {
            sleep(HEAD_TIMEOUT / 10).await;
            // The server may have gone.
            let _ = writer.write_all(b"a").await;
        }
    };
    let mut received = Vec::new();
    let reading = timeout(3 * HEAD_TIMEOUT, reader.read_to_end(&mut received));
    tokio::select! {
        _ = reading => {}
        () = slowly => {}
    }
    let taken = begun.elapsed();
    assert!(
        taken >= HEAD_TIMEOUT && taken < 2 * HEAD_TIMEOUT,
        "{taken:?}"
    );
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
